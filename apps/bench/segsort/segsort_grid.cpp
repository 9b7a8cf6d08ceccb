// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/segsort/segsort_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int longest_steps = 40;
constexpr int longest_step = 50;
constexpr int exponent_steps_a_unit = 10;
static_assert(grid_points % longest_steps == 0);

struct Summary {
  int points = 0;     // measured points that have a speedup
  int below_one = 0;  // slower than CUB
  double geometric_mean = 0;
  double greatest = 0;
  const GridPoint* least = nullptr;
};

Summary summarize(std::span<const GridPoint> points) {
  Summary summary;
  double sum_of_logarithms = 0;
  for (const GridPoint& point : points) {
    const double speedup = point.speedup();
    if (speedup == 0) continue;
    ++summary.points;
    summary.below_one += speedup < 1 ? 1 : 0;
    sum_of_logarithms += std::log(speedup);
    summary.greatest = std::max(summary.greatest, speedup);
    if (summary.least == nullptr || speedup < summary.least->speedup()) summary.least = &point;
  }
  if (summary.points > 0) summary.geometric_mean = std::exp(sum_of_logarithms / summary.points);
  return summary;
}

}  // namespace

double GridPoint::speedup() const {
  return sortie_seconds > 0 && cub_seconds > 0 ? cub_seconds / sortie_seconds : 0;
}

std::vector<GridPoint> grid_places(int part, int parts) {
  std::vector<GridPoint> places;
  for (int i = grid_points * (part - 1) / parts; i < grid_points * part / parts; ++i) {
    GridPoint& place = places.emplace_back();
    place.exponent = static_cast<double>(i / longest_steps + 1) / exponent_steps_a_unit;
    place.longest = static_cast<std::uint64_t>((i % longest_steps + 1) * longest_step);
  }
  return places;
}

std::vector<GridPoint> segsort_grid(const Context& context, const GridOptions& options,
                                    const GridSink& sink) {
  if (resolve_backend(context) != Backend::cuda) {
    throw Error(ErrorKind::unavailable,
                "the grid compares with CUB: found the host backend, expected CUDA");
  }
  if (options.key != KeyType::u32 && options.key != KeyType::u64) {
    throw Error(ErrorKind::usage,
                "the grid compares with CUB: found another type of keys, expected u32 or u64");
  }
#ifdef SORTIE_HAVE_CUDA
  return segsort_grid_on_cuda(context, options, sink);
#else
  static_cast<void>(sink);
  throw Error(ErrorKind::unavailable, "this build has no CUDA");
#endif
}

std::string grid_line(std::span<const GridPoint> points) {
  if (points.empty()) return "";
  const Summary summary = summarize(points);
  const std::string place = fmt::format("a={:.1f} max {}..{}", points.front().exponent,
                                        points.front().longest, points.back().longest);
  if (summary.points == 0) return fmt::format("{:<20} no result", place);
  return fmt::format(
      "{:<20} speedup over CUB: minimum {:.2f} (max {}), mean {:.2f}, maximum {:.2f}", place,
      summary.least->speedup(), summary.least->longest, summary.geometric_mean, summary.greatest);
}

std::string grid_summary(std::span<const GridPoint> points) {
  const Summary summary = summarize(points);
  if (summary.points == 0) return fmt::format("{} points: no result", points.size());
  return fmt::format(
      "{} points: minimum speedup {:.2f} (a={:.1f}, max {}), geometric mean {:.2f}, {} points "
      "below "
      "1.0",
      summary.points, summary.least->speedup(), summary.least->exponent, summary.least->longest,
      summary.geometric_mean, summary.below_one);
}

std::string grid_json(std::span<const GridPoint> points) {
  Json list = Json::array();
  for (const GridPoint& point : points) {
    list.push_back({{"exponent", point.exponent},
                    {"longest", point.longest},
                    {"segments", point.segments},
                    {"sortie_seconds", point.sortie_seconds},
                    {"cub_seconds", point.cub_seconds},
                    {"radix_seconds", point.radix_seconds},
                    {"moderngpu_seconds", point.moderngpu_seconds},
                    {"binning_seconds", point.binning_seconds},
                    {"speedup", point.speedup()},
                    {"agrees", point.agrees},
                    {"fault", point.fault},
                    {"failure", point.failure}});
  }
  const Summary summary = summarize(points);
  Json figures = {{"points", summary.points},
                  {"geometric_mean", summary.geometric_mean},
                  {"points_below_one", summary.below_one}};
  if (summary.least != nullptr) {
    figures["minimum_speedup"] = summary.least->speedup();
    figures["minimum_at"] = {{"exponent", summary.least->exponent},
                             {"longest", summary.least->longest}};
  }
  const Json grid = {{"points", std::move(list)}, {"summary", std::move(figures)}};
  return grid.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sortie::bench
