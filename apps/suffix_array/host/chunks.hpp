// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>

#include "core/host_runtime.hpp"

namespace sortie::suffix_array::host {

/// Runs work(0), ..., work(tasks - 1) on all host threads, scheduled dynamically. A single task
/// runs on the calling thread: waking the others takes longer than the work for a short text.
template <class Work>
void for_each_task(std::uint64_t tasks, const Work& work) {
  using Policy =
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>,
                          Kokkos::IndexType<std::uint64_t>>;
  if (tasks == 1) {
    work(0);
    return;
  }
  Policy policy(0, tasks);
  policy.set_chunk_size(1);
  Kokkos::parallel_for("suffix_array_tasks", policy, [&](std::uint64_t task) { work(task); });
}

/// Divides [0, size) into equal chunks, at most one for each host thread, each large enough to pay
/// for a thread.
class Chunks {
 public:
  explicit Chunks(std::uint64_t size)
      : size_(size),
        count_(std::clamp(size / worth_a_thread, std::uint64_t{1},
                          static_cast<std::uint64_t>(std::max(host_threads(), 1)))) {}

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t begin(std::uint64_t chunk) const {
    return size_ / count_ * chunk + std::min(chunk, size_ % count_);
  }

  /// Calls work(chunk, begin, end) for all chunks, on all host threads.
  template <class Work>
  void for_each(const Work& work) const {
    for_each_task(count_,
                  [&](std::uint64_t chunk) { work(chunk, begin(chunk), begin(chunk + 1)); });
  }

 private:
  static constexpr std::uint64_t worth_a_thread = std::uint64_t{1} << 14;

  std::uint64_t size_;
  std::uint64_t count_;
};

/// Calls work(begin, end) for consecutive ranges of [0, size) of `length` items (the last may be
/// shorter), on all host threads, scheduled dynamically.
template <class Work>
void for_each_range(std::uint64_t size, std::uint64_t length, const Work& work) {
  for_each_task((size + length - 1) / length, [&](std::uint64_t task) {
    work(task * length, std::min(size, (task + 1) * length));
  });
}

}  // namespace sortie::suffix_array::host
