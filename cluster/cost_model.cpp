// SPDX-License-Identifier: Apache-2.0
#include "cluster/cost_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/host_memory.hpp"
#include "sortie/error.hpp"

namespace sortie::cluster {
namespace {

using Json = nlohmann::ordered_json;

/// A number of the model that must be greater than zero.
double rate_of(const std::string& path, const Json& json, std::string_view key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number() || found->get<double>() <= 0) {
    throw input_error(path, 0,
                      found == json.end()
                          ? fmt::format("no {}", sortie::quoted(key))
                          : fmt::format("{} in {}", found->dump(), sortie::quoted(key)),
                      "a number greater than 0");
  }
  return found->get<double>();
}

}  // namespace

RankModel RankModel::read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorKind::input, fmt::format("{}: cannot be opened", path));
  const Json json = Json::parse(file, nullptr, false);
  if (!json.is_object())
    throw input_error(path, 0, "no JSON object", "the file that `sortie bench ranks -o` writes");
  RankModel model;
  model.ranks_on_machine =
      static_cast<int>(std::clamp(rate_of(path, json, "ranks_on_machine"), 1.0, 1e6));
  model.latency_seconds = rate_of(path, json, "latency_seconds");
  model.machine_rate = rate_of(path, json, "machine_bytes_per_second");
  model.network_rate = rate_of(path, json, "network_bytes_per_second");
  const auto rates = json.find("items_per_second");
  if (rates == json.end() || !rates->is_object())
    throw input_error(path, 0, "no \"items_per_second\"", "an object of rates");
  for (const auto& [work, rate] : rates->items())
    model.work_rates[work] = rate_of(path, *rates, work);
  return model;
}

std::string RankModel::to_json() const {
  Json rates = Json::object();
  for (const auto& [work, rate] : work_rates) rates[work] = rate;
  const Json json = {{"ranks_on_machine", ranks_on_machine},
                     {"latency_seconds", latency_seconds},
                     {"machine_bytes_per_second", machine_rate},
                     {"network_bytes_per_second", network_rate},
                     {"items_per_second", rates}};
  return json.dump(2) + "\n";
}

RankModel RankModel::usual() {
  return {1,
          1e-6,
          3.5e9,
          3.5e9,
          {{"merge", 257e6}, {"products", 285e6}, {"sort", 115e6}, {"symbols", 55e6}}};
}

// Of two and four H100s with NVLink and 64 cores: phases of a suffix array of 3.1 * 10^9 letters.
RankModel RankModel::usual_of_gpus() {
  return {8,
          1e-4,
          1e11,
          2.5e10,
          {{"gpu bytes", 1.4e10},
           {"gpu ranks", 6e9},
           {"gpu suffixes", 3.3e9},
           {"gpu symbols", 1.5e11}}};
}

std::uint64_t RankPlan::sent_bytes() const {
  std::uint64_t bytes = 0;
  for (const RankStep& step : steps) bytes += step.machine_bytes + step.network_bytes;
  return bytes;
}

double seconds_of(const RankModel& model, int ranks, const RankStep& step) {
  const int rounds = static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
  double seconds = model.latency_seconds * (static_cast<double>(step.collectives) * rounds +
                                            static_cast<double>(step.messages));
  seconds += std::max(static_cast<double>(step.machine_bytes) / model.machine_rate,
                      static_cast<double>(step.network_bytes) / model.network_rate);
  if (step.work.empty()) return seconds;
  const auto rate = model.work_rates.find(step.work);
  if (rate == model.work_rates.end()) {
    throw Error(ErrorKind::input,
                fmt::format("found no rate for {} in the model of the machine, expected one",
                            sortie::quoted(step.work)));
  }
  return seconds + step.items / rate->second;
}

double seconds_of(const RankModel& model, const RankPlan& plan) {
  double seconds = 0;
  for (const RankStep& step : plan.steps) seconds += seconds_of(model, plan.ranks, step);
  return seconds;
}

void divide_bytes(std::uint64_t bytes, int ranks, int on_machine, RankStep& step) {
  const int others = ranks - 1;
  if (others == 0) return;
  const int near = std::min(ranks, on_machine) - 1;
  step.machine_bytes = static_cast<std::uint64_t>(std::llround(
      static_cast<double>(bytes) * static_cast<double>(near) / static_cast<double>(others)));
  step.network_bytes = bytes - std::min(bytes, step.machine_bytes);
}

std::string describe(const RankModel& model, const RankPlan& plan) {
  std::string text =
      fmt::format("{:<24} {:>12} {:>12} {:>12}\n", "step", "sent a rank", "collectives", "seconds");
  for (const RankStep& step : plan.steps) {
    text += fmt::format("{:<24} {:>12} {:>12} {:>12.4f}\n", step.name,
                        format_bytes(step.machine_bytes + step.network_bytes), step.collectives,
                        seconds_of(model, plan.ranks, step));
  }
  text += fmt::format("{:<24} {:>12} {:>12} {:>12.4f}\n", "all", format_bytes(plan.sent_bytes()),
                      "", seconds_of(model, plan));
  return text + fmt::format("memory of a rank: {}\n", format_bytes(plan.rank_memory));
}

}  // namespace sortie::cluster
