// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "apps/bench/segsort/launch_cost.hpp"
#include "apps/bench/segsort/segsort_bench.hpp"
#include "apps/bench/segsort/segsort_grid.hpp"
#include "apps/cli/bench/bench_options.hpp"
#include "apps/cli/command.hpp"
#include "core/host_memory.hpp"
#include "sortie/error.hpp"

namespace sortie::cli {
namespace {

using Json = nlohmann::ordered_json;

// The names of key types, as named by --key. On the host, those of 1 and 2 bytes are refused.
const std::vector<std::string> key_names = [] {
  std::vector<std::string> names;
#define SORTIE_ADD_NAME(NAME, TYPE, KIND) names.emplace_back(#NAME);
  SORTIE_FOR_EACH_KEY_TYPE(SORTIE_ADD_NAME)
#undef SORTIE_ADD_NAME
  return names;
}();
const std::map<std::string, int> value_types = {
    {"none", 0}, {"u32", 4}, {"f32", 4}, {"u64", 8}, {"f64", 8}};
const std::map<std::string, bench::SegsortPolicy> policies = {
    {"tuned", bench::SegsortPolicy::tuned}, {"ics17", bench::SegsortPolicy::ics17}};

struct SegsortCommand : BenchOptions {
  std::string items;
  std::string key = "u32";
  std::string value = "u32";
  std::vector<std::string> cases;
  std::vector<std::string> policies;
  std::vector<std::string> algorithms;
  std::vector<std::int64_t> top_k;
  std::vector<std::string> keys = {"uniform"};
  bool no_peers = false;
  bool grid = false;
  std::string grid_part = "1/1";
  bool launch_cost = false;
};

// The requested policies without duplicates, in the given order.
std::vector<bench::SegsortPolicy> chosen_policies(const SegsortCommand& command) {
  std::vector<bench::SegsortPolicy> chosen;
  for (const std::string& name : command.policies) {
    const bench::SegsortPolicy policy = policies.at(name);
    if (std::find(chosen.begin(), chosen.end(), policy) == chosen.end()) chosen.push_back(policy);
  }
  if (chosen.empty()) chosen.push_back(bench::SegsortPolicy::tuned);
  return chosen;
}

// "I/N": part I of N.
std::pair<int, int> parse_part(const std::string& text) {
  int part = 0;
  int parts = 0;
  const char* const end = text.data() + text.size();
  const auto [slash, part_error] = std::from_chars(text.data(), end, part);
  if (part_error == std::errc() && slash != end && *slash == '/') {
    const auto [last, parts_error] = std::from_chars(slash + 1, end, parts);
    if (parts_error == std::errc() && last == end && part >= 1 && part <= parts &&
        parts <= bench::grid_points) {
      return {part, parts};
    }
  }
  throw Error(ErrorKind::usage,
              fmt::format("--grid-part: found {}, expected I/N with 1 <= I <= N <= {}",
                          sortie::quoted(text), bench::grid_points));
}

void run_cases(Job& job, const SegsortCommand& command) {
  bench::SegsortOptions options;
  if (!command.items.empty()) options.items = parse_bytes(command.items);
  options.key = parse_key_type(command.key);
  options.value_bytes = value_types.at(command.value);
  options.repetitions = command.common.repeat;
  options.seed = command.common.seed;
  options.cases = command.cases;
  options.policies = chosen_policies(command);
  options.top_k = command.top_k;
  options.keys = command.keys;
  options.has_peers = !command.no_peers;
  for (const std::string& name : command.algorithms)
    options.algorithms.push_back(bench::parse_segsort_algorithm(name));
  finish_bench(job, command, bench::segsort(job.context(), options, table_printer(job, command)));
}

void run_grid(Job& job, const SegsortCommand& command) {
  const auto chosen = chosen_policies(command);
  if (chosen.size() > 1) {
    throw Error(ErrorKind::usage, "--grid: found two policies, expected one");
  }
  bench::GridOptions options;
  const std::uint64_t items = command.items.empty() ? 0 : parse_bytes(command.items);
  if (items != 0) options.items = items;  // 0 is the default, as for cases
  options.key = parse_key_type(command.key);
  options.value_bytes = value_types.at(command.value);
  options.seed = command.common.seed;
  options.policy = chosen.front();
  std::tie(options.part, options.parts) = parse_part(command.grid_part);
  const auto points =
      bench::segsort_grid(job.context(), options, [&](std::span<const bench::GridPoint> row) {
        show_table(job, command, bench::grid_line(row) + "\n");
      });
  show_table(job, command, bench::grid_summary(points) + "\n");

  Json grid = {{"items", options.items},
               {"key", command.key},
               {"value", command.value},
               {"method", bench::method_name(options.policy)},
               {"part", command.grid_part}};
  grid.update(Json::parse(bench::grid_json(points)));
  const auto wrong = std::find_if(points.begin(), points.end(),
                                  [](const bench::GridPoint& point) { return point.is_wrong(); });
  std::string complaint;
  if (wrong != points.end()) {
    complaint = fmt::format("power law a={:.1f} max {}: the result of {}", wrong->exponent,
                            wrong->longest, wrong->fault);
  }
  finish_with_part(job, "grid", grid.dump(), complaint);
}

void run_launch_cost(Job& job, const SegsortCommand& command) {
  bench::LaunchCostOptions options;
  options.key = parse_key_type(command.key);
  options.value_bytes = value_types.at(command.value);
  options.seed = command.common.seed;
  options.policies = chosen_policies(command);
  const auto costs = bench::launch_costs(job.context(), options);
  show_table(job, command, bench::launch_cost_table(costs));

  Json report = {{"key", command.key}, {"value", command.value}};
  report.update(Json::parse(bench::launch_cost_json(costs)));
  const auto wrong = std::find_if(costs.begin(), costs.end(),
                                  [](const bench::LaunchCost& cost) { return cost.is_wrong(); });
  const std::string complaint = wrong == costs.end() ? ""
                                                     : fmt::format("the result of {} is wrong: {}",
                                                                   wrong->method, wrong->fault);
  finish_with_part(job, "launch_cost", report.dump(), complaint);
}

void run(Job& job, const SegsortCommand& command) {
  job.announce_output(command.csv);
  if (command.grid) {
    run_grid(job, command);
  } else if (command.launch_cost) {
    run_launch_cost(job, command);
  } else {
    run_cases(job, command);
  }
}

void add_case_options(CLI::App& parser, SegsortCommand& options) {
  parser.add_option("--items", options.items,
                    "Number of items, e.g. 128M (default: 128M on CUDA, 4M on the host)");
  parser.add_option("--key", options.key, "Type of keys")
      ->check(CLI::IsMember(key_names))
      ->capture_default_str();
  parser.add_option("--value", options.value, "Type of values; only the width matters")
      ->check(CLI::IsMember(value_types))
      ->capture_default_str();
  parser.add_option("--case", options.cases,
                    "Only this case (may be repeated), e.g. \"length 32\", \"one segment\" or "
                    "\"power law a=0.5 max 200\"");
  parser.add_option("--algorithm", options.algorithms,
                    "On the host: only this algorithm, sortie or std::sort (may be repeated; "
                    "default: both), in addition to a copy");
  parser
      .add_option("--policy", options.policies,
                  "Policy of Sortie on CUDA: tuned or ics17 (may be repeated; default: tuned)")
      ->check(CLI::IsMember({"tuned", "ics17"}));
  parser
      .add_option(
          "--keys", options.keys,
          "On CUDA: distributions of unsigned keys, as --case of bench sort; those in order "
          "are in order in each segment")
      ->capture_default_str();
  parser.add_flag("--no-peers", options.no_peers, "On CUDA: without CUB");
  parser
      .add_option("--top-k", options.top_k,
                  "On CUDA: select the K least keys of each segment, sorted, and compare with "
                  "sorting it whole (may be repeated)")
      ->check(CLI::PositiveNumber);
}

// The two other benchmarks of segmented sort. Options that do not apply to them are rejected.
void add_modes(CLI::App& parser, SegsortCommand& options) {
  CLI::Option* grid = parser.add_flag(
      "--grid", options.grid,
      "On CUDA, instead of cases: 640 power laws, Sortie (3 runs) compared with CUB (2 runs)");
  parser
      .add_option("--grid-part", options.grid_part,
                  "Only part I of N of the grid, given as I/N, to reduce the time of one call")
      ->needs(grid);
  CLI::Option* launch_cost = parser.add_flag(
      "--launch-cost", options.launch_cost,
      "On CUDA, instead of cases: the cost of a call with 1000 segments of 32 items, "
      "as a graph and as plain calls, compared with an empty and a copy kernel");
  for (const char* const name :
       {"--algorithm", "--case", "--csv", "--keys", "--no-peers", "--repeat", "--top-k"}) {
    grid->excludes(parser.get_option(name));
    launch_cost->excludes(parser.get_option(name));
  }
  launch_cost->excludes(parser.get_option("--items"));
  launch_cost->excludes(grid);
}

}  // namespace

Command add_bench_segsort_command(CLI::App& bench_parser) {
  auto options = std::make_shared<SegsortCommand>();
  CLI::App* parser = bench_parser.add_subcommand(
      "segsort", "Segmented sort of equal lengths, power laws and skewed lengths");
  add_case_options(*parser, *options);
  add_bench_options(*parser, *options);
  add_modes(*parser, *options);
  return make_command(parser, options, run);
}

}  // namespace sortie::cli
