// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/segsort/segsort_grid.hpp"

#include "apps/bench/cuda/segsort_workload.hpp"
#include "apps/bench/timing.hpp"
#include "baselines/segsort/cub.hpp"
#include "baselines/segsort/moderngpu.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "papers/ics17/sort_ics17.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

// CUB takes ten times as long as Sortie on most of the grid, and its times hardly spread.
constexpr int sortie_repetitions = 3;
constexpr int cub_repetitions = 2;

// Stores the error of a sort, if there is one, and returns the median time.
double median_of(GridPoint& point, const std::string& method, const TimedSort& timed) {
  if (!timed.failure.empty() && point.failure.empty()) {
    point.failure = method + ": " + timed.failure;
  }
  if (!timed.fault.empty() && point.fault.empty()) point.fault = method + ": " + timed.fault;
  point.agrees = point.agrees && timed.agrees;
  return timed.agrees ? median(timed.seconds) : 0;
}

// The binning alone. Its result cannot be checked, but the sort's was.
double time_binning(const SegsortWorkload& work) {
  std::size_t bytes = 0;
  check_cuda(segsort::ics17::bin_on_device(nullptr, bytes, work.request(), work.stream()));
  DeviceBuffer<std::byte> temporary(bytes, work.stream());
  EventPair timer;
  std::vector<double> seconds(sortie_repetitions);
  for (double& taken : seconds)
    taken = timer.time(work.stream(), [&] {
      check_cuda(
          segsort::ics17::bin_on_device(temporary.data(), bytes, work.request(), work.stream()));
    });
  return median(std::move(seconds));
}

void measure_point(GridPoint& point, SegsortWorkload& work, SegsortPolicy policy) {
  work.set_segments({.kind = SegmentShape::Kind::power_law,
                     .exponent = point.exponent,
                     .longest = point.longest});
  point.segments = static_cast<std::uint64_t>(work.request().num_segments);
  point.agrees = true;
  point.sortie_seconds =
      median_of(point, method_name(policy),
                time_sort(work, sortie_sort(policy), {sortie_repetitions, false}));
  point.cub_seconds =
      median_of(point, "cub segmented",
                time_sort(work, baselines::cub_segmented_sort, {cub_repetitions, false}));
  point.radix_seconds =
      median_of(point, "radix segment+key",
                time_sort(work, baselines::cub_radix_by_segment, {cub_repetitions, false}));
  if (baselines::moderngpu_sorts(work.request()))
    point.moderngpu_seconds =
        median_of(point, "moderngpu",
                  time_sort(work, baselines::moderngpu_segmented_sort, {cub_repetitions, false}));
  if (policy == SegsortPolicy::ics17) point.binning_seconds = time_binning(work);
}

}  // namespace

std::vector<GridPoint> segsort_grid_on_cuda(const Context& context, const GridOptions& options,
                                            const GridSink& sink) {
  const DeviceCall call(context);
  SegsortWorkload work({options.items, options.key, options.value_bytes, options.seed},
                       call.stream);
  std::vector<GridPoint> points = grid_places(options.part, options.parts);
  std::size_t shown = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (context.progress) context.progress("grid", i, points.size());
    measure_point(points[i], work, options.policy);
    const bool last_of_exponent =
        i + 1 == points.size() || points[i + 1].exponent != points[i].exponent;
    if (sink && last_of_exponent) {
      sink(std::span(points).subspan(shown, i + 1 - shown));
      shown = i + 1;
    }
  }
  return points;
}

}  // namespace sortie::bench
