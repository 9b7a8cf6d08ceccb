// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/segsort/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

using Json = nlohmann::ordered_json;
using Times = std::span<const CandidateTime>;

constexpr double infinite = std::numeric_limits<double>::infinity();

bool by_capacity(const TileShape& a, const TileShape& b) {
  return a.capacity() < b.capacity();
}

std::string name_of(const TileShape& shape) {
  return fmt::format("{}x{}/{}", shape.warps, shape.items, shape.block_warps);
}

// Team shapes in output order: by items, then warps, then blocks.
std::vector<TileShape> shapes_of(Times times) {
  std::set<std::tuple<int, int, int>> found;
  for (const CandidateTime& time : times) {
    if (!time.is_batch()) found.emplace(time.shape.items, time.shape.warps, time.shape.block_warps);
  }
  std::vector<TileShape> shapes;
  for (const auto& [items, warps, block] : found) shapes.push_back({warps, items, block});
  return shapes;
}

// Lengths of all measurements, or only of those that include blocks.
std::vector<std::uint64_t> lengths_of(Times times, bool of_blocks) {
  std::set<std::uint64_t> lengths;
  for (const CandidateTime& time : times) {
    if (!of_blocks || !time.is_batch()) lengths.insert(time.length);
  }
  return {lengths.begin(), lengths.end()};
}

const CandidateTime* find(Times times, const TileShape& shape, std::uint64_t length) {
  for (const CandidateTime& time : times) {
    if (time.shape == shape && time.length == length) return &time;
  }
  return nullptr;
}

bool is_usable(const CandidateTime* time) {
  return time != nullptr && time->agrees && time->seconds > 0;
}

// The table with `shape` inserted in order; it replaces a shape of the same capacity.
BlockTable with_shape(Times times, BlockTable table, const TileShape& shape) {
  std::erase_if(table.shapes,
                [&](const TileShape& other) { return other.capacity() == shape.capacity(); });
  table.shapes.insert(
      std::upper_bound(table.shapes.begin(), table.shapes.end(), shape, by_capacity), shape);
  table.seconds = summed_seconds(times, table);
  return table;
}

BlockTable choose_shapes(Times times, std::span<const TileShape> shapes,
                         std::uint64_t longest_in_warp) {
  BlockTable table{longest_in_warp, {}, infinite};
  while (true) {
    BlockTable best = table;
    for (const TileShape& shape : shapes) {
      BlockTable other = with_shape(times, table, shape);
      if (other.shapes.size() <= most_block_classes && other.seconds < best.seconds)
        best = std::move(other);
    }
    if (!(best.seconds < table.seconds)) return table;
    table = std::move(best);
  }
}

// Figures that were not measured are null in JSON.
Json number(double figure) {
  return figure > 0 && figure < infinite ? Json(figure) : Json(nullptr);
}

Json to_json(const TileShape& shape) {
  return {{"warps", shape.warps},
          {"items", shape.items},
          {"block_warps", shape.block_warps},
          {"capacity", shape.capacity()}};
}

Json to_json(const BlockTable& table) {
  Json classes = Json::array();
  for (const TileShape& shape : table.shapes) classes.push_back(to_json(shape));
  return {{"longest_in_warp", table.longest_in_warp},
          {"classes", std::move(classes)},
          {"summed_seconds", number(table.seconds)}};
}

Json to_json(const CandidateTime& time, std::uint64_t items) {
  Json json = {{"length", time.length}, {"kernel", time.is_batch() ? "batch" : "block"}};
  if (!time.is_batch()) json.update(to_json(time.shape));
  json["median_seconds"] = number(time.seconds);
  json["rate"] = number(time.rate(items));
  json["agrees"] = time.agrees;
  json["fault"] = time.fault;
  json["failure"] = time.failure;
  return json;
}

std::string cell(const CandidateTime* time, std::uint64_t items) {
  if (time == nullptr) return "";
  if (!time->failure.empty()) return "failed";
  return time->agrees ? fmt::format("{:.2f}", time->rate(items)) : "WRONG";
}

std::string describe(const std::string& name, const BlockTable& table) {
  std::string text = fmt::format("{:<8} batches to {}", name, table.longest_in_warp);
  for (const TileShape& shape : table.shapes)
    text += fmt::format(", {} to {}", name_of(shape), shape.capacity());
  return text + (table.seconds < infinite
                     ? fmt::format(": {:.3f} ms in total\n", 1e3 * table.seconds)
                     : std::string(": not measured at every length\n"));
}

}  // namespace

double KernelTime::rate(std::uint64_t items) const {
  return seconds > 0 ? static_cast<double>(items) / 1e9 / seconds : 0;
}

const CandidateTime* Tuning::best(std::uint64_t length) const {
  const CandidateTime* best = nullptr;
  for (const CandidateTime& time : times) {
    if (time.length != length || !is_usable(&time)) continue;
    if (best == nullptr || time.seconds < best->seconds) best = &time;
  }
  return best;
}

std::vector<std::uint64_t> tuning_lengths(std::span<const TileShape> shapes) {
  // Shorter than any tile: the range in which batches and the smallest blocks compete.
  std::set<std::uint64_t> lengths = {96, 128};
  for (const TileShape& shape : shapes) {
    lengths.insert(shape.capacity());
    lengths.insert(shape.capacity() / 4 * 3);
  }
  return {lengths.begin(), lengths.end()};
}

double seconds_of(std::span<const CandidateTime> times, const TileShape& shape,
                  std::uint64_t length) {
  if (length > shape.capacity()) return infinite;
  if (const CandidateTime* const time = find(times, shape, length))
    return is_usable(time) ? time->seconds : infinite;
  const CandidateTime* shortest = nullptr;  // the shortest measurement above `length`
  for (const CandidateTime& time : times) {
    if (time.shape == shape && time.length > length &&
        (shortest == nullptr || time.length < shortest->length))
      shortest = &time;
  }
  if (!is_usable(shortest)) return infinite;
  return shortest->seconds * static_cast<double>(shortest->length) / static_cast<double>(length);
}

double summed_seconds(std::span<const CandidateTime> times, const BlockTable& table) {
  double sum = 0;
  for (const std::uint64_t length : lengths_of(times, true)) {
    if (length <= table.longest_in_warp) {
      const CandidateTime* const batch = find(times, TileShape{}, length);
      sum += is_usable(batch) ? batch->seconds : infinite;
      continue;
    }
    const auto holds =
        std::find_if(table.shapes.begin(), table.shapes.end(),
                     [&](const TileShape& shape) { return length <= shape.capacity(); });
    sum += holds == table.shapes.end() ? infinite : seconds_of(times, *holds, length);
  }
  return sum;
}

BlockTable choose_table(std::span<const CandidateTime> times) {
  const std::vector<TileShape> shapes = shapes_of(times);
  BlockTable best{0, {}, infinite};
  for (const std::uint64_t length : lengths_of(times, false)) {
    if (!is_usable(find(times, TileShape{}, length))) continue;
    BlockTable table = choose_shapes(times, shapes, length);
    // On ties, takes the longest: lengths below those of blocks make no difference.
    if (!(best.seconds < table.seconds)) best = std::move(table);
  }
  return best;
}

Tuning tune(const Context& context, const TuneOptions& options) {
  if (resolve_backend(context) != Backend::cuda) {
    throw Error(ErrorKind::unavailable,
                "tuning measures the kernels of CUDA: found the host backend, expected CUDA");
  }
#ifdef SORTIE_HAVE_CUDA
  Tuning tuning = tune_on_cuda(context, options);
  tuning.present.seconds = summed_seconds(tuning.times, tuning.present);
  tuning.chosen = choose_table(tuning.times);
  return tuning;
#else
  static_cast<void>(options);
  throw Error(ErrorKind::unavailable, "this build has no CUDA");
#endif
}

std::string tuning_table(const Tuning& tuning) {
  const std::vector<TileShape> shapes = shapes_of(tuning.times);
  std::string text =
      "Gpairs/s of u32 keys and u32 values; teams are named warps x items, then the\n"
      "warps of the block that they share\n";
  text += fmt::format("{:>6} {:>6}", "length", "batch");
  for (const TileShape& shape : shapes) text += fmt::format(" {:>6}", name_of(shape));
  text += "  best\n";
  for (const std::uint64_t length : lengths_of(tuning.times, false)) {
    text += fmt::format("{:>6} {:>6}", length,
                        cell(find(tuning.times, TileShape{}, length), tuning.items));
    for (const TileShape& shape : shapes)
      text += fmt::format(" {:>6}", cell(find(tuning.times, shape, length), tuning.items));
    const CandidateTime* const best = tuning.best(length);
    text += fmt::format("  {}\n", best == nullptr    ? ""
                                  : best->is_batch() ? "batch"
                                                     : name_of(best->shape));
  }
  return text + describe("present:", tuning.present) + describe("chosen:", tuning.chosen);
}

std::string tuning_json(const Tuning& tuning) {
  Json times = Json::array();
  for (const CandidateTime& time : tuning.times) times.push_back(to_json(time, tuning.items));
  Json best = Json::array();
  for (const std::uint64_t length : lengths_of(tuning.times, false)) {
    const CandidateTime* const time = tuning.best(length);
    if (time != nullptr) best.push_back(to_json(*time, tuning.items));
  }
  const Json report = {{"items", tuning.items},
                       {"key", "u32"},
                       {"value", "u32"},
                       {"times", std::move(times)},
                       {"best", std::move(best)},
                       {"present", to_json(tuning.present)},
                       {"chosen", to_json(tuning.chosen)}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string tuning_header(const Tuning& tuning, const std::string& origin) {
  const BlockTable& table = tuning.chosen;
  if (table.shapes.empty()) {
    throw Error(ErrorKind::check, "tuning: found no shapes that sort all lengths, expected some");
  }
  const std::vector<std::uint64_t> lengths = lengths_of(tuning.times, true);
  std::string text = fmt::format(
      "// From `sortie bench tune`: {}.\n"
      "// {} pairs of u32 and u32, medians summed over {} lengths of {} to {}: {:.3f} ms{}.\n"
      "// Gpairs/s of full tiles:\n",
      origin, tuning.items, lengths.size(), lengths.front(), lengths.back(), 1e3 * table.seconds,
      tuning.present.seconds < infinite
          ? fmt::format("\n// (before: {:.3f} ms)", 1e3 * tuning.present.seconds)
          : "");
  std::string warps;
  std::string items;
  std::string blocks;
  for (const TileShape& shape : table.shapes) {
    const char* const comma = warps.empty() ? "" : ", ";
    warps += fmt::format("{}{}", comma, shape.warps);
    items += fmt::format("{}{}", comma, shape.items);
    blocks += fmt::format("{}{}", comma, shape.block_warps);
    const CandidateTime* const full = find(tuning.times, shape, shape.capacity());
    if (is_usable(full))
      text += fmt::format("//   {:>5} items: {:.2f}\n", shape.capacity(), full->rate(tuning.items));
  }
  text += fmt::format(
      "inline constexpr int longest_in_warp = {};\n"
      "inline constexpr int block_classes = {};\n"
      "static_assert(block_classes % 2 == 0, \"lists of segments come in pairs\");\n"
      "namespace detail {{\n"
      "struct BlockShapes {{\n"
      "  int warps[block_classes] = {{{}}};\n"
      "  int items[block_classes] = {{{}}};\n"
      "  int of_block[block_classes] = {{{}}};\n"
      "}};\n"
      "}}  // namespace detail\n",
      table.longest_in_warp, table.shapes.size(), warps, items, blocks);
  return text;
}

}  // namespace sortie::bench
