// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "apps/bench/sort/classics_bench.hpp"
#include "apps/bench/sort/host_sort_bench.hpp"
#include "apps/bench/sort/sort_bench.hpp"
#include "apps/cli/bench/bench_options.hpp"
#include "apps/cli/command.hpp"
#include "core/host_memory.hpp"
#include "sortie/error.hpp"

namespace sortie::cli {
namespace {

const std::map<std::string, int> sort_value_types = {
    {"none", 0}, {"u32", 4}, {"f32", 4}, {"u64", 8}, {"f64", 8}};

constexpr const char* items_on_cuda = "256M";

struct SortBenchCommand : BenchOptions {
  std::string items;  ///< empty: the default of the backend
  std::string from = "1K";
  std::string type = "u32";
  std::string values = "none";
  std::vector<int> devices;
  std::vector<std::string> algorithms;
  std::vector<std::string> cases;
  std::string transport = "auto";
  std::vector<std::string> rmg;
  bool host_to_host = false;
  bool without_cub = false;
  bool classics = false;
};

void run_classics(Job& job, const SortBenchCommand& command) {
  bench::ClassicsOptions options;
  options.most_items = parse_bytes(command.items.empty() ? items_on_cuda : command.items);
  options.least_items = parse_bytes(command.from);
  options.repetitions = command.common.repeat;
  options.seed = command.common.seed;
  const int value_bytes = sort_value_types.at(command.values);
  if (value_bytes > 4)
    throw Error(
        ErrorKind::usage,
        fmt::format("--classics: found values of {} bytes, expected none or u32", value_bytes));
  options.are_pairs = value_bytes != 0;
  if (!command.cases.empty()) options.cases = command.cases;
  options.methods = command.algorithms;
  finish_bench(job, command,
               bench::time_classics(job.context(), options, table_printer(job, command)));
}

void run(Job& job, const SortBenchCommand& command) {
  job.announce_output(command.csv);
  if (command.classics) return run_classics(job, command);
  bench::SortBenchOptions options;
  const bool on_cuda = resolve_backend(job.context()) == Backend::cuda;
  if (!command.items.empty()) {
    options.items = parse_bytes(command.items);
  } else {
    options.items = on_cuda ? parse_bytes(items_on_cuda) : bench::default_sort_items_on_host;
  }
  options.key = parse_key_type(command.type);
  options.value_bytes = sort_value_types.at(command.values);
  options.devices = command.devices;
  for (const std::string& name : command.algorithms) {
    if (!on_cuda && bench::is_sort_peer(name)) {
      options.peers.push_back(name);
    } else {
      options.algorithms.push_back(parse_sort_algorithm(name));
    }
  }
  options.transport = parse_transport(command.transport);
  options.host_to_host = command.host_to_host;
  options.rmg = command.rmg;
  options.with_cub = !command.without_cub;
  options.repetitions = command.common.repeat;
  options.seed = command.common.seed;
  options.cases = command.cases;
  const auto sort = on_cuda ? bench::sort_over_gpus : bench::sort_on_host;
  finish_bench(job, command, sort(job.context(), options, table_printer(job, command)));
}

}  // namespace

Command add_bench_sort_command(CLI::App& bench_parser) {
  auto options = std::make_shared<SortBenchCommand>();
  CLI::App* parser = bench_parser.add_subcommand(
      "sort",
      "Array sort by every algorithm: on CUDA over all GPUs, compared with CUB on one; on the "
      "host, "
      "compared with std::sort and the parallel sorts of libstdc++, TBB and Boost in this build");
  parser->add_option("--items", options->items,
                     "Number of items, e.g. 4G (default: 256M on CUDA, 64M on the host)");
  parser
      ->add_option(
          "--type", options->type,
          "Keys: u32, i32, f32, u64, i64 or f64; on CUDA also u8, i8, u16, i16, f16 or bf16")
      ->capture_default_str();
  parser->add_option("--values", options->values, "Type of values; only the width matters")
      ->check(CLI::IsMember(sort_value_types))
      ->capture_default_str();
  parser
      ->add_option(
          "--gpus", options->devices,
          "On CUDA: number of logical devices, assigned to the GPUs round-robin (may be repeated; "
          "default: one per GPU)")
      ->check(CLI::Range(1, 128));
  parser->add_option("--algorithm", options->algorithms,
                     "Only this algorithm, on the host also one that Sortie is compared with, "
                     "such as paradis (may be repeated; default: all)");
  parser->add_option("--case", options->cases,
                     "Only this case (may be repeated): uniform, normal[:DEVIATION], "
                     "zipf[:EXPONENT], sorted, reverse, nearly[:PLACES], entropy[:BITS], "
                     "high-bits[:BITS], few[:KEYS], equal or shared-digit");
  parser
      ->add_option("--transport", options->transport, "On CUDA, between GPUs: auto, peer or staged")
      ->capture_default_str();
  parser->add_option(
      "--rmg", options->rmg,
      "On CUDA: change this part of --algorithm rmg and rmg-repair (may be "
      "repeated): no-overlap, move-all, batch-copies, exchange-mirrored, fuse=PERCENT, max-brs=N "
      "or min-sco=N");
  parser->add_flag("--host-to-host", options->host_to_host,
                   "On CUDA: the array starts and ends in page-locked host memory; ratios are to "
                   "CUB's time plus the copies");
  parser->add_flag("--without-cub", options->without_cub, "On CUDA: do not measure CUB");
  CLI::Option* const classics = parser->add_flag(
      "--classics", options->classics,
      "On CUDA: measure the classic algorithms instead, on u32 keys or pairs of u32, for lengths "
      "up "
      "to --items and each --case (default: uniform); --algorithm names rows, e.g. quicksort");
  parser->add_option("--from", options->from, "With --classics: the shortest length")
      ->capture_default_str()
      ->needs(classics);
  for (const char* const other :
       {"--type", "--gpus", "--transport", "--rmg", "--host-to-host", "--without-cub"})
    classics->excludes(parser->get_option(other));
  add_bench_options(*parser, *options);
  return make_command(parser, options, run);
}

}  // namespace sortie::cli
