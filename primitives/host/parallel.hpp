// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "core/host_runtime.hpp"

/// Shares of indices, and parallel loops over the threads of the host runtime.
///
/// If the runtime has not been started (start_host_runtime()), they run on the calling thread. If
/// calls throw, the exception of the lowest index is rethrown after all calls have returned.

namespace sortie {

/// [0, items) in `count` shares whose sizes differ by at most one; the larger ones are spread
/// evenly. \pre count > 0
struct EqualShares {
  std::uint64_t items = 0;
  std::uint64_t count = 1;

  [[nodiscard]] std::uint64_t begin(std::uint64_t share) const {
    // share * items / count, which could overflow
    return share * (items / count) + share * (items % count) / count;
  }
  [[nodiscard]] std::uint64_t size(std::uint64_t share) const {
    return begin(share + 1) - begin(share);
  }
  [[nodiscard]] std::vector<std::uint64_t> sizes() const {
    std::vector<std::uint64_t> all(count);
    for (std::uint64_t share = 0; share < count; ++share) all[share] = size(share);
    return all;
  }
};

/// Exclusive prefix sums: the begin of each share, and the end of the last one.
[[nodiscard]] inline std::vector<std::uint64_t> begins_of(std::span<const std::uint64_t> sizes) {
  std::vector<std::uint64_t> begins{0};
  begins.reserve(sizes.size() + 1);
  for (const std::uint64_t size : sizes) begins.push_back(begins.back() + size);
  return begins;
}

/// Divides items into tasks of at least `size`, of which the last may be smaller: the first item of
/// each, and the number of items. size_of(first, end) is the size of these items.
template <class SizeOf>
[[nodiscard]] std::vector<std::uint64_t> tasks_of_at_least(std::uint64_t size, std::uint64_t items,
                                                           const SizeOf& size_of) {
  std::vector<std::uint64_t> tasks{0};
  for (std::uint64_t end = 1; end <= items; ++end) {
    if (end == items || size_of(tasks.back(), end) >= size) tasks.push_back(end);
  }
  return tasks;
}

/// Threads of the host runtime; 1 before it is started.
[[nodiscard]] inline std::uint64_t worker_threads() {
  return static_cast<std::uint64_t>(std::max(host_threads(), 1));
}

/// Runs work(0), ..., work(tasks - 1), scheduled dynamically. A single task runs on the calling
/// thread: a parallel region ends with a barrier of all threads, which takes longer than a short
/// task, and milliseconds if other programs occupy the cores.
void for_each_task(std::uint64_t tasks, const std::function<void(std::uint64_t)>& work);

/// While it exists, parallel loops of the calling thread run on `count` threads of their own, and not
/// on the host runtime: for several threads that have such loops at the same time.
class OwnThreads {
 public:
  explicit OwnThreads(int count);
  ~OwnThreads();
  OwnThreads(const OwnThreads&) = delete;
  OwnThreads& operator=(const OwnThreads&) = delete;
};

/// Runs work(0), ..., work(threads - 1), each on its own thread: for work that waits for devices.
void run_on_threads(std::size_t threads, const std::function<void(std::size_t)>& work);

/// Calls work(begin, end) for consecutive ranges of [0, size) of `length` indices (the last may be
/// shorter), scheduled dynamically.
template <class Index, class Work>
void for_each_range(Index size, std::type_identity_t<Index> length, const Work& work) {
  for_each_task(static_cast<std::uint64_t>((size + length - 1) / length), [&](std::uint64_t task) {
    const Index begin = static_cast<Index>(task) * length;
    work(begin, std::min<Index>(size, begin + length));
  });
}

/// Equal shares of `size` indices, one for each thread, but each large enough to pay for a thread.
[[nodiscard]] inline EqualShares thread_shares(std::uint64_t size) {
  constexpr std::uint64_t worth_a_thread = std::uint64_t{1} << 14;
  return {size, std::clamp(size / worth_a_thread, std::uint64_t{1}, worker_threads())};
}

/// Calls work(share, begin, end) for all shares.
template <class Work>
void for_each_share(const EqualShares& shares, const Work& work) {
  for_each_task(shares.count, [&](std::uint64_t share) {
    work(share, shares.begin(share), shares.begin(share + 1));
  });
}

/// Calls work(i) for i in [begin, end), which should take some nanoseconds each.
template <class Work>
void for_each_index(std::uint64_t begin, std::uint64_t end, const Work& work) {
  for_each_share(thread_shares(begin < end ? end - begin : 0),
                 [&](std::uint64_t, std::uint64_t first, std::uint64_t last) {
                   // A copy, whose members no store of the loop can change.
                   const Work mine = work;
                   for (std::uint64_t i = begin + first; i < begin + last; ++i) mine(i);
                 });
}

/// Result of first_index() if there is none.
inline constexpr std::uint64_t no_index = std::numeric_limits<std::uint64_t>::max();

/// The smallest index in [begin, end) for which `holds` is true; no_index if there is none.
template <class Predicate>
[[nodiscard]] std::uint64_t first_index(std::uint64_t begin, std::uint64_t end,
                                        const Predicate& holds) {
  std::atomic<std::uint64_t> least{no_index};
  for_each_share(thread_shares(begin < end ? end - begin : 0),
                 [&](std::uint64_t, std::uint64_t first, std::uint64_t last) {
                   const Predicate mine = holds;
                   std::uint64_t i = begin + first;
                   while (i < begin + last && !mine(i)) ++i;
                   if (i == begin + last) return;
                   std::uint64_t known = least.load();
                   while (i < known && !least.compare_exchange_weak(known, i)) continue;
                 });
  return least.load();
}

}  // namespace sortie
