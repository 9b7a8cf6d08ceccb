// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "apps/bench/query_bench.hpp"
#include "apps/cli/bench/bench_options.hpp"
#include "apps/cli/command.hpp"

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
      "query", "Counting and locating patterns, drawn from the text or random, by a suffix array");
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
                   "Maximum number of positions to locate per pattern")
      ->capture_default_str();
  parser->add_flag("--transfers", options->query.transfers,
                   "On CUDA, also from host memory to host memory");
  add_bench_options(*parser, *options);
  return make_command(parser, options, run);
}

}  // namespace sortie::cli
