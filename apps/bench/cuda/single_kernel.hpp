#pragma once

#include <cstdint>
#include <utility>

#include "sortie/apps/bench/cuda/segsort_workload.hpp"
#include "sortie/apps/bench/timing.hpp"
#include "sortie/apps/bench/tune.hpp"

namespace sortie::bench {

/// Fills `time` with what time_sort() finds of one kernel on the present segments of `work`, all of
/// which have `length` items.
inline void time_kernel(KernelTime& time, SegsortWorkload& work, std::uint64_t length,
                        const TwoPhaseSort& sort, int repetitions) {
  TimedSort timed = time_sort(work, sort, {repetitions, false});
  time.length = length;
  time.seconds = timed.agrees ? median(std::move(timed.seconds)) : 0;
  time.agrees = timed.agrees;
  time.fault = std::move(timed.fault);
  time.failure = std::move(timed.failure);
}

}  // namespace sortie::bench
