// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "apps/bench/sort/links_bench.hpp"
#include "apps/cli/bench/bench_options.hpp"
#include "apps/cli/command.hpp"
#include "core/host_memory.hpp"

namespace sortie::cli {
namespace {

struct LinksCommand : BenchOptions {
  std::string bytes = "256M";
  int devices = 0;
};

void run_links(Job& job, const LinksCommand& command) {
  job.announce_output(command.csv);
  bench::LinksOptions options;
  options.bytes = parse_bytes(command.bytes);
  options.devices = command.devices;
  options.repetitions = command.common.repeat;
  finish_bench(job, command, bench::links(job.context(), options, table_printer(job, command)));
}

}  // namespace

Command add_bench_links_command(CLI::App& bench_parser) {
  auto options = std::make_shared<LinksCommand>();
  CLI::App* parser = bench_parser.add_subcommand(
      "links",
      "On CUDA: speed of copies between host memory and each GPU and between each two GPUs, one "
      "way, both ways and all at once");
  parser->add_option("--bytes", options->bytes, "Bytes of each copy")->capture_default_str();
  parser
      ->add_option("--gpus", options->devices,
                   "Number of logical devices, assigned to the GPUs round-robin (default: one per "
                   "GPU)")
      ->check(CLI::Range(1, 16));
  add_bench_options(*parser, *options);
  return make_command(parser, options, run_links);
}

}  // namespace sortie::cli
