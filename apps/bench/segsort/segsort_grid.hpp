// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/segsort/segsort_bench.hpp"
#include "sortie/context.hpp"

/// Fig. 12 of the paper: Sortie compared with CUB's segmented sort, a radix sort by segment and key,
/// and, where the build has it, moderngpu, on power laws with 16 exponents
/// (0.1, 0.2, ... 1.6) and 40 maximum segment lengths (50, 100, ... 2000).
namespace sortie::bench {

constexpr int grid_points = 640;

struct GridOptions {
  std::uint64_t items = default_items_on_cuda;
  KeyType key = KeyType::u32;  ///< u32 or u64; CUB is compiled for these only
  int value_bytes = 4;
  std::uint64_t seed = 1;
  SegsortPolicy policy = SegsortPolicy::tuned;
  /// Part 1..parts of all points, in order of exponent and maximum length, so that one call does
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
  double radix_seconds = 0;   ///< one sort by (segment, key), as in CUSP; median of 2
  double moderngpu_seconds =
      0;  ///< median of 2; 0 in a build without it, and for other types than u32
  double binning_seconds = 0;  ///< part of sortie_seconds: the binning of ics17; 0 for others
  bool agrees = false;         ///< the results of both were checked and are right
  std::string fault;           ///< error in a result
  std::string failure;         ///< why there is no result

  /// CUB's time over Sortie's; 0 if one of them has no result.
  [[nodiscard]] double speedup() const;
  [[nodiscard]] bool is_wrong() const { return failure.empty() && !agrees; }
};

/// The points of a part with exponent and maximum length, without measurements.
[[nodiscard]] std::vector<GridPoint> grid_places(int part, int parts);

/// Called with the points of one exponent when they are available.
using GridSink = std::function<void(std::span<const GridPoint>)>;

/// Measures a part of the grid.
/// \throws Error (unavailable) the backend is not CUDA; (usage) key types without CUB
std::vector<GridPoint> segsort_grid(const Context& context, const GridOptions& options,
                                    const GridSink& sink);

/// The CUDA part of segsort_grid().
std::vector<GridPoint> segsort_grid_on_cuda(const Context& context, const GridOptions& options,
                                            const GridSink& sink);

/// A line of text for the points of one exponent.
[[nodiscard]] std::string grid_line(std::span<const GridPoint> points);
/// "640 points: minimum speedup 1.20 (a=1.6, max 50), geometric mean 3.21, 0 points below 1.0"
[[nodiscard]] std::string grid_summary(std::span<const GridPoint> points);
/// A JSON object: `points`, and the figures of grid_summary() as `summary`.
[[nodiscard]] std::string grid_json(std::span<const GridPoint> points);

}  // namespace sortie::bench
