// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "apps/bench/sort/device_sort_bench.hpp"
#include "apps/cli/bench/bench_options.hpp"
#include "apps/cli/command.hpp"
#include "core/host_memory.hpp"

namespace sortie::cli {
namespace {

struct DeviceSortCommand : BenchOptions {
  std::vector<std::string> items = {"256M"};
  std::vector<std::string> types = {"u32"};
  std::vector<std::string> values = {"none"};
  std::vector<std::string> keys = {"uniform"};
};

void run_device_sort(Job& job, const DeviceSortCommand& command) {
  job.announce_output(command.csv);
  bench::DeviceSortOptions options;
  for (const std::string& items : command.items) options.items.push_back(parse_bytes(items));
  options.types = command.types;
  options.payloads = command.values;
  options.keys = command.keys;
  options.repetitions = command.common.repeat;
  options.seed = command.common.seed;
  finish_bench(job, command,
               bench::device_sort(job.context(), options, table_printer(job, command)));
}

}  // namespace

Command add_bench_device_sort_command(CLI::App& bench_parser) {
  auto options = std::make_shared<DeviceSortCommand>();
  CLI::App* parser = bench_parser.add_subcommand(
      "device-sort",
      "One array in the memory of one GPU: DeviceSort beside CUB's radix sort; all combinations of "
      "the options below, each of which may be repeated");
  parser->add_option("--items", options->items, "Number of items, e.g. 64K")->capture_default_str();
  parser->add_option("--type", options->types, "Keys: u8, ..., f64 as in `sort`, f16 or bf16")
      ->capture_default_str();
  parser
      ->add_option("--values", options->values,
                   "none, u8, u16, u32, u64, u128, or for an argsort positions32 or positions64")
      ->capture_default_str();
  parser
      ->add_option("--keys", options->keys,
                   "uniform, normal[:DEVIATION], zipf[:EXPONENT], sorted, reverse, "
                   "nearly[:PLACES], entropy[:BITS], high-bits[:BITS], few[:KEYS], equal or "
                   "shared-digit")
      ->capture_default_str();
  add_bench_options(*parser, *options);
  return make_command(parser, options, run_device_sort);
}

}  // namespace sortie::cli
