// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "apps/cli/backend_choice.hpp"
#include "apps/cli/command.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/error.hpp"
#include "sortie/graph_clusters.hpp"
#include "sortie/spgemm.hpp"

namespace sortie::cli {
namespace {

struct ClusterCommand {
  CommonOptions common;
  std::string path;
  std::string output;
  graphs::ClusterOptions options;
  bool no_pruning = false;
  bool verify = false;
};

/// Chooses by the first product. Those that follow have some hundred times as many products, each
/// of which takes the host an eighth of the time: rows of one cluster are computed together.
void choose_backend(Job& job, const matrices::Csr<double>& graph) {
  if (!job.may_choose_backend()) return;
  constexpr std::int64_t work = 16;
  job.choose_backend(spgemm_seconds(work * spgemm::count_products(graph, graph),
                                    static_cast<std::uint64_t>(graph.nnz()) * 12,
                                    threads_of(job.reading_context())));
}

void run_cluster(Job& job, const ClusterCommand& command) {
  job.announce_output(command.output);
  graphs::ClusterOptions options = command.options;
  if (command.no_pruning) options.pruning = graphs::Pruning::none();
  if (!(options.inflation > 1)) {
    throw Error(ErrorKind::input,
                fmt::format("--inflation: found {}, expected a number above 1", options.inflation));
  }
  const graphs::NamedGraph graph = graphs::read_graph(job.reading_context(), command.path);
  choose_backend(job, graph.graph);
  graphs::Clusters clusters;
  const double seconds = job.repeated(
      "cluster", [&] { clusters = graphs::find_clusters(job.context(), graph.graph, options); });
  if (command.verify) {
    const PhaseTimer timer(job.context(), "verify");
    graphs::check_clusters(job.host_context(), graph.graph, options, clusters);
  }
  if (!command.output.empty()) {
    const PhaseTimer timer(job.context(), "write");
    graphs::write_clusters(command.output, clusters, graph.labels);
  }
  RunReport& report = job.report();
  report.set("vertices", graph.graph.rows);
  report.set("edges", graph.graph.nnz() / 2);
  report.set("inflation", options.inflation);
  report.set("clusters", clusters.count());
  report.set("converged", clusters.converged);
  report.set("cluster_seconds", seconds);
  report.set("verified", command.verify);
  std::string text = fmt::format(
      "{} vertices, {} edges\n{} clusters, the largest of {}, in {} iterations, {:.3f} ms on {}",
      graph.graph.rows, graph.graph.nnz() / 2, clusters.count(),
      clusters.count() == 0 ? 0 : clusters.begins[1], clusters.iterations, 1e3 * seconds,
      name(job.context().backend));
  if (!clusters.converged)
    text += "\nnot converged: the clusters are those of the last iteration (--max-iterations)";
  if (command.verify) text += "\nverified: the same clusters by a plain sequential algorithm";
  job.summarize(command.output, text);
}

}  // namespace

Command add_cluster_command(CLI::App& program) {
  auto command = std::make_shared<ClusterCommand>();
  CLI::App* parser =
      program.add_subcommand("cluster", "Find clusters of a graph (Markov clustering)");
  add_common_options(*parser, command->common);
  parser
      ->add_option(
          "GRAPH", command->path,
          "Lines of two labels and a weight (default 1), or a matrix: Matrix Market or .npz "
          "of SciPy; plain, gzip or zstd; -: standard input")
      ->required();
  parser->add_option("-o,--output", command->output,
                     "Write a line for each cluster, its members separated by tabs (-: standard "
                     "output)");
  parser
      ->add_option("--inflation", command->options.inflation,
                   "Above 1; greater values give smaller clusters")
      ->capture_default_str();
  graphs::Pruning& pruning = command->options.pruning;
  auto* none = parser->add_flag("--no-pruning", command->no_pruning, "Keep all entries");
  const auto add_limit = [&](const char* option, auto& value, const char* help) {
    parser->add_option(option, value, help)->capture_default_str()->excludes(none);
  };
  add_limit("--prune-below", pruning.prune_below,
            "Remove entries of a row below this after expansion");
  add_limit("--keep-top", pruning.keep_top, "Keep as many of the largest entries of a row");
  add_limit("--recover-top", pruning.recover_top,
            "Keep as many instead if the others sum to too little");
  add_limit("--recover-below", pruning.recover_below, "What is too little, from 0 to 1");
  parser
      ->add_option("--max-iterations", command->options.max_iterations,
                   "Stop after as many, converged or not")
      ->capture_default_str();
  parser->add_flag("--verify", command->verify,
                   "Compare with a plain sequential algorithm; exit 3 if the clusters differ");
  return make_command(parser, command, run_cluster);
}

}  // namespace sortie::cli
