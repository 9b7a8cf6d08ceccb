// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "apps/bench/spgemm_bench.hpp"
#include "apps/bench/suffix_array_bench.hpp"
#include "apps/cli/bench/bench_options.hpp"
#include "apps/cli/command.hpp"

namespace sortie::cli {
namespace {

struct SourcesCommand : BenchOptions {
  std::vector<std::string> algorithms;
  std::vector<std::string> sources;
  std::string precision = "f64";
  std::string checked_by = "eigen";
  bool transpose_b = false;
  bool transfers = false;
  bool phases = false;
  std::uint64_t rounds_from = 0;
};

template <class Algorithm>
std::vector<Algorithm> parse_algorithms(const std::vector<std::string>& names,
                                        Algorithm (*parse)(std::string_view)) {
  std::vector<Algorithm> algorithms;
  for (const std::string& text : names) algorithms.push_back(parse(text));
  return algorithms;
}

void run_spgemm(Job& job, const SourcesCommand& command) {
  job.announce_output(command.csv);
  const bench::SpgemmOptions options{
      .sources = command.sources,
      .single_precision = command.precision == "f32",
      .repetitions = command.common.repeat,
      .seed = command.common.seed,
      .algorithms = parse_algorithms(command.algorithms, spgemm::parse_algorithm),
      .checked_by = spgemm::parse_algorithm(command.checked_by),
      .transpose_b = command.transpose_b,
      .transfers = command.transfers};
  finish_bench(job, command,
               bench::spgemm(job.context(), options,
                             table_printer(job, command,
                                           command.phases ? bench::spgemm_phase_table
                                                          : bench::spgemm_table)));
}

void run_suffix_array(Job& job, const SourcesCommand& command) {
  job.announce_output(command.csv);
  const bench::SuffixArrayOptions options{
      command.sources,     command.common.repeat,
      command.common.seed, parse_algorithms(command.algorithms, suffix_array::parse_algorithm),
      command.transfers,   command.rounds_from};
  finish_bench(job, command,
               bench::suffix_array(job.context(), options, table_printer(job, command)));
}

CLI::Option* add_sources(CLI::App& parser, SourcesCommand& options, const std::string& what) {
  parser.add_option("--algorithm", options.algorithms,
                    "Only this algorithm (may be repeated; default: all of the backend)");
  return parser.add_option("SOURCE", options.sources, what)->required();
}

Command add_spgemm(CLI::App& bench_parser) {
  auto options = std::make_shared<SourcesCommand>();
  CLI::App* parser = bench_parser.add_subcommand("spgemm", "A * A by every algorithm");
  add_sources(*parser, *options,
              "Matrix Market files, or gen:er:ROWS:ROW_NNZ, gen:rmat:SCALE:EDGE_FACTOR, "
              "gen:banded:ROWS:HALF_BANDWIDTH, gen:stencil5:N, gen:stencil9:N, gen:stencil7:N, "
              "gen:stencil27:N (N or NxN, NxNxN; also :N:UNKNOWNS, :N:shuffled), "
              "gen:powerlaw:ROWS:EXPONENT:MAX_ROW_NNZ, "
              "gen:web:ROWS:NNZ:PRODUCTS:MAX_ROW_NNZ:SITE_ROWS:LOCALITY");
  parser->add_option("--precision", options->precision, "f32 or f64")
      ->check(CLI::IsMember({"f32", "f64"}))
      ->capture_default_str();
  parser->add_option("--check-by", options->checked_by, "Host algorithm to compare results with")
      ->check(CLI::IsMember({"eigen", "row-wise", "reference", "essc"}))
      ->capture_default_str();
  parser->add_flag("--transpose-b", options->transpose_b, "A * A^T in place of A * A");
  parser->add_flag("--phases", options->phases,
                   "Show the phases of Sortie's own algorithms, measured in additional runs");
  parser->add_flag("--transfers", options->transfers,
                   "On CUDA, also from host memory to host memory");
  add_bench_options(*parser, *options);
  return make_command(parser, options, run_spgemm);
}

Command add_suffix_array(CLI::App& bench_parser) {
  auto options = std::make_shared<SourcesCommand>();
  CLI::App* parser =
      bench_parser.add_subcommand("suffix-array", "Suffix arrays by every algorithm");
  add_sources(*parser, *options,
              "FASTA or FASTQ files, text:FILE for all bytes of a file, or gen:dna:N, "
              "gen:repeats:N, gen:fibonacci:N, gen:letter:N, gen:period:P:N[:DISTANCE], "
              "gen:mutated:FILE:N:RATE");
  parser->add_flag("--transfers", options->transfers,
                   "On CUDA, also from host memory to host memory");
  parser
      ->add_option(
          "--rounds", options->rounds_from,
          "Also show the rounds of prefix doubling after a first sort by this number of letters: "
          "unresolved suffixes, groups, and number of groups of each size")
      ->check(CLI::PositiveNumber);
  add_bench_options(*parser, *options);
  return make_command(parser, options, run_suffix_array);
}

}  // namespace

std::vector<Command> add_bench_commands(CLI::App& program) {
  CLI::App* parser =
      program.add_subcommand("bench", "Benchmarks against the baselines in this build");
  add_version_option(*parser);
  parser->require_subcommand(1);
  return {add_bench_segsort_command(*parser), add_bench_sort_command(*parser),
          add_bench_tune_command(*parser),    add_spgemm(*parser),
          add_suffix_array(*parser),          add_bench_query_command(*parser),
          add_bench_ranks_command(*parser),   add_bench_device_sort_command(*parser),
          add_bench_links_command(*parser)};
}

}  // namespace sortie::cli
