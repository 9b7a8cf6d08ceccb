#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sortie/apps/bench/segsort_bench.hpp"
#include "sortie/core/context.hpp"

/// The paper's Fig. 12: Sortie beside CUB's segmented sort on power laws of 16 exponents (0.1, 0.2,
/// ... 1.6) and 40 longest segments (50, 100, ... 2000).
namespace sortie::bench {

constexpr int grid_points = 640;

struct GridOptions {
  std::uint64_t items = default_items_on_cuda;
  KeyType key = KeyType::u32;  ///< u32 or u64: CUB is compiled for no other
  int value_bytes = 4;
  std::uint64_t seed = 1;
  SegsortPolicy policy = SegsortPolicy::tuned;
  /// Part 1..parts of all points, in order of exponent and longest segment, so that one call does
  /// not take minutes. \pre 1 <= part <= parts <= grid_points
  int part = 1;
  int parts = 1;
};

/// One point of the grid.
struct GridPoint {
  double exponent = 0;
  std::uint64_t longest = 0;
  std::uint64_t segments = 0;
  double sortie_seconds = 0;  ///< median of 3; 0 without a result
  double cub_seconds = 0;     ///< median of 2; 0 without a result
  bool agrees = false;        ///< the results of both were checked and are right
  std::string fault;          ///< what is wrong with a result
  std::string failure;        ///< why there is no result

  /// CUB's time over Sortie's; 0 where one of them has no result.
  [[nodiscard]] double speedup() const;
  [[nodiscard]] bool is_wrong() const { return failure.empty() && !agrees; }
};

/// Exponent and longest segment of the points of a part; the rest is not filled.
[[nodiscard]] std::vector<GridPoint> grid_places(int part, int parts);

/// Called with the points of one exponent when they are there.
using GridSink = std::function<void(std::span<const GridPoint>)>;

/// Measures a part of the grid.
/// \throws Error (unavailable) the backend is not CUDA; (usage) keys that CUB is not compiled for
std::vector<GridPoint> segsort_grid(const Context& context, const GridOptions& options,
                                    const GridSink& sink);

/// The same, in builds with CUDA.
std::vector<GridPoint> segsort_grid_on_cuda(const Context& context, const GridOptions& options,
                                            const GridSink& sink);

/// A line for the points of one exponent, for people.
[[nodiscard]] std::string grid_line(std::span<const GridPoint> points);
/// "640 points: minimum speedup 1.20 (a=1.6, max 50), geometric mean 3.21, 0 points below 1.0"
[[nodiscard]] std::string grid_summary(std::span<const GridPoint> points);
/// A JSON object: `points`, and the figures of grid_summary() as `summary`.
[[nodiscard]] std::string grid_json(std::span<const GridPoint> points);

}  // namespace sortie::bench
