// SPDX-License-Identifier: Apache-2.0
#include "primitives/host/parallel.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace sortie {

namespace {

/// The exception of the lowest index. None must leave a thread or the body of a parallel loop.
class FirstFailure {
 public:
  template <class Work>
  void watch(std::uint64_t index, const Work& work) {
    try {
      work(index);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (index < index_) failure_ = std::current_exception();
      index_ = std::min(index_, index);
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::uint64_t index_ = ~std::uint64_t{0};
  std::exception_ptr failure_;
};

/// Threads of the calling thread's loops; 0: those of the host runtime.
thread_local int own_threads = 0;

}  // namespace

OwnThreads::OwnThreads(int count) {
  own_threads = count;
}

OwnThreads::~OwnThreads() {
  own_threads = 0;
}

void for_each_task(std::uint64_t tasks, const std::function<void(std::uint64_t)>& work) {
  const int threads = own_threads > 0 ? own_threads : host_threads();
  if (tasks <= 1 || threads <= 1) {
    for (std::uint64_t task = 0; task < tasks; ++task) work(task);
    return;
  }
  FirstFailure failure;
  if (own_threads > 0) {
    std::atomic<std::uint64_t> next = 0;
    run_on_threads(std::min(tasks, static_cast<std::uint64_t>(threads)), [&](std::size_t) {
      for (std::uint64_t task = next++; task < tasks; task = next++) failure.watch(task, work);
    });
    failure.rethrow();
    return;
  }
  using Policy =
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>,
                          Kokkos::IndexType<std::uint64_t>>;
  Kokkos::parallel_for("sortie", Policy(0, tasks, Kokkos::ChunkSize(1)),
                       [&](const std::uint64_t task) { failure.watch(task, work); });
  Kokkos::DefaultHostExecutionSpace().fence();
  failure.rethrow();
}

void run_on_threads(std::size_t threads, const std::function<void(std::size_t)>& work) {
  FirstFailure failure;
  {
    std::vector<std::jthread> team;
    for (std::size_t i = 0; i < threads; ++i) team.emplace_back([&, i] { failure.watch(i, work); });
  }
  failure.rethrow();
}

}  // namespace sortie
