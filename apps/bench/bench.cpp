// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/bench/timing.hpp"
#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

using Json = nlohmann::ordered_json;

enum class Round { check, pooled, allocating };

// Runs one method once. A method that throws Error is not run again.
void run_once(Method& method, Round round) {
  if (round != Round::check && !method.row.agrees) return;
  if (round == Round::allocating && !method.prepare_allocating) return;
  const auto& prepare = round == Round::allocating ? method.prepare_allocating : method.prepare;
  try {
    if (prepare) prepare();
    const double seconds = timed_seconds(method.run);
    if (method.digest) {
      const std::uint64_t digest = method.digest();
      if (round == Round::check) method.first_digest = digest;
      if (digest != method.first_digest)
        throw Error(ErrorKind::check, fmt::format("repetition {}: other bits than in the first run",
                                                  method.row.seconds.size() +
                                                      method.row.allocating_seconds.size() + 1));
    }
    if (round == Round::check) {
      method.row.agrees = method.check();
    } else {
      (round == Round::pooled ? method.row.seconds : method.row.allocating_seconds)
          .push_back(seconds);
    }
  } catch (const Error& error) {
    (error.kind() == ErrorKind::check ? method.row.fault : method.row.failure) = error.what();
    method.row.agrees = false;
  }
}

double sum_of(const PhaseSeconds& phases) {
  double sum = 0;
  for (const auto& [name, seconds] : phases) sum += seconds;
  return sum;
}

// Runs a method to measure its phases, after all timed runs.
void find_phases(Method& method, int repetitions) {
  if (!method.run_phases || !method.row.agrees) return;
  std::vector<PhaseSeconds> runs;
  try {
    for (int repetition = 0; repetition < std::max(repetitions, 1); ++repetition) {
      if (method.prepare) method.prepare();
      runs.push_back(method.run_phases());
    }
  } catch (const Error& error) {
    method.row.failure = error.what();
    method.row.agrees = false;
    return;
  }
  const auto median = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
  std::nth_element(runs.begin(), median, runs.end(),
                   [](const auto& x, const auto& y) { return sum_of(x) < sum_of(y); });
  method.row.phases = std::move(*median);
}

// A CSV field: quoted if it contains a comma, a quote or a line end (RFC 4180).
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char byte : text) {
    result.append(byte == '"' ? 2 : 1, byte);
  }
  return result + "\"";
}

// Name of a size class of DoublingRound::sizes, "2-3" for entry 1.
std::string size_class(std::size_t entry) {
  const std::uint64_t from = std::uint64_t{1} << entry;
  return fmt::format("{}-{}", from, 2 * from - 1);
}

// {name of a size class: number} of those that are not 0.
Json sizes_json(std::span<const std::uint64_t> counts) {
  Json sizes = Json::object();
  for (std::size_t entry = 0; entry < counts.size(); ++entry)
    if (counts[entry] != 0) sizes[size_class(entry)] = counts[entry];
  return sizes;
}

Json rounds_json(std::span<const suffix_array::DoublingRound> rounds) {
  Json list = Json::array();
  for (const suffix_array::DoublingRound& round : rounds) {
    list.push_back({{"depth", round.depth},
                    {"unresolved", round.unresolved},
                    {"groups", round.groups},
                    {"largest_group", round.largest},
                    {"groups_of_size", sizes_json(round.sizes)}});
  }
  return list;
}

std::string rounds_table(const Row& row) {
  constexpr const char* layout = "    {:>12} {:>12} {:>8} {:>12} {:>12}  {}\n";
  std::string text =
      fmt::format(layout, "letters", "unresolved", "%", "groups", "largest", "groups of a size");
  for (const suffix_array::DoublingRound& round : row.rounds) {
    std::string sizes;
    for (std::size_t entry = 0; entry < round.sizes.size(); ++entry) {
      if (round.sizes[entry] == 0) continue;
      sizes +=
          fmt::format("{}{}: {}", sizes.empty() ? "" : ", ", size_class(entry), round.sizes[entry]);
    }
    const double share =
        100 * static_cast<double>(round.unresolved) / static_cast<double>(row.items);
    text += fmt::format(layout, round.depth, round.unresolved, fmt::format("{:.2f}", share),
                        round.groups, round.largest, sizes);
  }
  text += "    the construction itself:";
  for (const auto& [figure, value] : row.construction) text += fmt::format(" {} {}", figure, value);
  return text + '\n';
}

}  // namespace

std::string describe_result(const Row& row) {
  if (!row.failure.empty()) return "failed: " + row.failure;
  return row.is_wrong() ? "NO " + row.fault : "yes";
}

std::string describe_phases(const Row& row) {
  std::string text = "   ";
  for (const auto& [phase, seconds] : row.phases)
    text += fmt::format(" {} {:.3f} ms", phase, 1e3 * seconds);
  return text;
}

double Row::median_seconds() const {
  return median(seconds);
}

double Row::median_allocating_seconds() const {
  return median(allocating_seconds);
}

double Row::min_seconds() const {
  return seconds.empty() ? 0 : *std::min_element(seconds.begin(), seconds.end());
}

double Row::max_seconds() const {
  return seconds.empty() ? 0 : *std::max_element(seconds.begin(), seconds.end());
}

double Row::rate() const {
  const double median = median_seconds();
  return median > 0 ? static_cast<double>(items) / items_a_unit / median : 0;
}

double Row::ratio_to_best_baseline() const {
  double smallest = 0;
  for (const auto& [baseline, ratio] : ratios) {
    if (smallest == 0 || ratio < smallest) smallest = ratio;
  }
  return smallest;
}

void relate(std::span<Row> rows) {
  for (Row& row : rows) {
    row.ratios.clear();
    row.percent_of_copy = 0;
    for (const Row& other : rows) {
      if (&other == &row || other.rate() == 0 || other.timed != row.timed) continue;
      if (other.baseline && !row.limit)
        row.ratios.emplace_back(other.method, row.rate() / other.rate());
      if (other.limit) row.percent_of_copy = 100 * row.rate() / other.rate();
    }
  }
}

Row with_copies(Row resident, const Row& copies) {
  resident.method += " + " + copies.method;
  resident.timed = copies.timed;
  resident.phases.clear();
  resident.seconds.resize(std::min(resident.seconds.size(), copies.seconds.size()));
  for (std::size_t i = 0; i < resident.seconds.size(); ++i)
    resident.seconds[i] += copies.seconds[i];
  resident.agrees = resident.agrees && copies.agrees;
  if (resident.failure.empty()) resident.failure = copies.failure;
  return resident;
}

std::vector<Row> measure(std::vector<Method> methods, int repetitions) {
  const auto run_all = [&](Round round) {
    for (Method& method : methods) run_once(method, round);
  };
  run_all(Round::check);
  for (int repetition = 0; repetition < repetitions; ++repetition) run_all(Round::pooled);
  for (int repetition = 0; repetition < repetitions; ++repetition) run_all(Round::allocating);
  for (Method& method : methods) find_phases(method, repetitions);
  std::vector<Row> rows;
  for (Method& method : methods) rows.push_back(std::move(method.row));
  relate(rows);
  return rows;
}

std::string table(std::span<const Row> rows, bool with_heading) {
  constexpr const char* layout = "{:<28} {:<18} {:<5} {:>12} {:>10} {:<9} {:>7} {:>8}  {}\n";
  std::string text;
  if (with_heading) {
    text += fmt::format(layout, "case", "method", "on", "median ms", "rate", "unit", "% copy",
                        "x best", "agrees");
  }
  for (const Row& row : rows) {
    const double ratio = row.ratio_to_best_baseline();
    text += fmt::format(layout, row.case_name, row.method, row.backend,
                        fmt::format("{:.3f}", 1e3 * row.median_seconds()),
                        fmt::format("{:.4g}", row.rate()), row.unit,
                        row.percent_of_copy > 0 ? fmt::format("{:.1f}", row.percent_of_copy) : "",
                        ratio > 0 ? fmt::format("{:.2f}", ratio) : "", describe_result(row));
    if (!row.construction.empty()) text += rounds_table(row);
    if (row.phases.empty()) continue;
    text += describe_phases(row);
    if (row.imbalance >= 0) text += fmt::format(" (imbalance {:.2f} %)", 1e2 * row.imbalance);
    text += '\n';
  }
  return text;
}

std::string csv(std::span<const Row> rows) {
  std::string text =
      "case,method,backend,items,repetitions,median_seconds,min_seconds,max_seconds,rate,unit,"
      "ratio_to_best_baseline,percent_of_copy,agrees,failure\n";
  for (const Row& row : rows) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(row.case_name),
                        csv_field(row.method), row.backend, row.items, row.seconds.size(),
                        row.median_seconds(), row.min_seconds(), row.max_seconds(), row.rate(),
                        row.unit, row.ratio_to_best_baseline(), row.percent_of_copy, row.agrees,
                        csv_field(row.failure));
  }
  return text;
}

std::string json(std::span<const Row> rows) {
  Json list = Json::array();
  for (const Row& row : rows) {
    Json ratios = Json::object();
    for (const auto& [baseline, ratio] : row.ratios) ratios[baseline] = ratio;
    Json phases = Json::object();
    for (const auto& [phase, seconds] : row.phases) phases[phase] = seconds;
    list.push_back({{"case", row.case_name},
                    {"method", row.method},
                    {"backend", row.backend},
                    {"baseline", row.baseline},
                    {"limit", row.limit},
                    {"items", row.items},
                    {"repetitions", row.seconds.size()},
                    {"median_seconds", row.median_seconds()},
                    {"min_seconds", row.min_seconds()},
                    {"max_seconds", row.max_seconds()},
                    {"seconds", row.seconds},
                    {"rate", row.rate()},
                    {"unit", row.unit},
                    {"ratios", std::move(ratios)},
                    {"percent_of_copy", row.percent_of_copy},
                    {"phase_seconds", std::move(phases)},
                    {"imbalance", row.imbalance < 0 ? Json(nullptr) : Json(row.imbalance)},
                    {"transactions", row.transactions},
                    {"agrees", row.agrees},
                    {"fault", row.fault},
                    {"failure", row.failure}});
    if (!row.timed.empty()) list.back()["timed"] = row.timed;
    if (!row.allocating_seconds.empty()) {
      list.back()["allocating_seconds"] = row.allocating_seconds;
      list.back()["median_allocating_seconds"] = row.median_allocating_seconds();
    }
    if (!row.construction.empty()) {
      list.back()["rounds"] = rounds_json(row.rounds);
      for (const auto& [figure, value] : row.construction) {
        list.back()["construction"][figure] = value;
      }
    }
    if (row.product) {
      const auto& space = row.product->peak_work_space;
      list.back()["products"] = row.product->products;
      list.back()["nnz_c"] = row.product->nnz_c;
      list.back()["peak_work_space"] = space ? Json(*space) : Json(nullptr);
      if (!row.product->rows_by_products.empty())
        list.back()["rows_by_products"] = sizes_json(row.product->rows_by_products);
    }
  }
  return list.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sortie::bench
