#include <CLI/CLI.hpp>

#include "sortie/apps/bench/query_bench.hpp"
#include "sortie/apps/cli/bench_options.hpp"
#include "sortie/apps/cli/command.hpp"

namespace sortie::cli {
namespace {

struct QueryBenchCommand : BenchOptions {
  bench::QueryOptions query;
};

void run(Job& job, const QueryBenchCommand& command) {
  job.announce_output(command.csv);
  bench::QueryOptions options = command.query;
  options.repetitions = command.common.repeat;
  options.seed = command.common.seed;
  finish_bench(job, command, bench::query(job.context(), options, table_printer(job, command)));
}

}  // namespace

Command add_bench_query_command(CLI::App& bench_parser) {
  auto options = std::make_shared<QueryBenchCommand>();
  CLI::App* parser = bench_parser.add_subcommand(
      "query", "Patterns counted and located by a suffix array, drawn from the text and random");
  parser
      ->add_option("SOURCE", options->query.sources,
                   "FASTA or FASTQ files, or gen:dna:N, gen:repeats:N, gen:fibonacci:N, "
                   "gen:letter:N")
      ->required();
  parser->add_option("--patterns", options->query.patterns, "Patterns in each case")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  parser->add_option("--length", options->query.length, "Letters of a pattern")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  parser
      ->add_option("--max-hits", options->query.most_hits,
                   "Positions of a pattern to locate at most")
      ->capture_default_str();
  parser->add_flag("--transfers", options->query.transfers,
                   "On CUDA, also from host memory to host memory");
  add_bench_options(*parser, *options);
  return make_command(parser, options, run);
}

}  // namespace sortie::cli
