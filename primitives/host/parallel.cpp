// SPDX-License-Identifier: Apache-2.0
#include "primitives/host/parallel.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
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

/// The calling thread, and others that sleep between loops.
class Team {
 public:
  explicit Team(int threads) {
    try {
      for (int i = 1; i < threads; ++i) others_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      // These threads do all the work.
    }
  }
  ~Team() { announce(nullptr); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Threads for the next loop: 1 within a loop.
  [[nodiscard]] std::size_t size() const { return is_running_ ? 1 : others_.size() + 1; }

  /// Runs work() on each thread. \pre not within a loop; work() does not throw
  void run(const std::function<void()>& work) {
    is_running_ = true;
    busy_ = others_.size();
    announce(&work);
    work();
    for (std::size_t busy = busy_; busy != 0; busy = busy_) busy_.wait(busy);
    is_running_ = false;
  }

 private:
  /// \param work  null: the threads end
  void announce(const std::function<void()>* work) {
    work_ = work;
    ++announced_;
    announced_.notify_all();
  }
  void serve();

  bool is_running_ = false;  ///< of the calling thread
  const std::function<void()>* work_ = nullptr;
  std::atomic<std::uint64_t> announced_ = 0;
  std::atomic<std::size_t> busy_ = 0;  ///< threads that are not through
  std::vector<std::jthread> others_;   ///< last: its end waits for the threads
};

/// That of the calling thread's loops; null: the host runtime.
thread_local std::unique_ptr<Team> own_team;

void Team::serve() {
  own_team = std::make_unique<Team>(1);  // loops within loops do not run in parallel
  // The next work is announced after all threads are through with this one.
  for (std::uint64_t done = 0;; ++done) {
    announced_.wait(done);
    if (work_ == nullptr) return;
    (*work_)();
    if (--busy_ == 0) busy_.notify_one();
  }
}

}  // namespace

OwnThreads::OwnThreads(int count) {
  own_team = std::make_unique<Team>(count);
}

OwnThreads::~OwnThreads() {
  own_team.reset();
}

void for_each_task(std::uint64_t tasks, const std::function<void(std::uint64_t)>& work) {
  const std::uint64_t threads = own_team != nullptr ? own_team->size() : worker_threads();
  if (tasks <= 1 || threads <= 1) {
    for (std::uint64_t task = 0; task < tasks; ++task) work(task);
    return;
  }
  FirstFailure failure;
  if (own_team != nullptr) {
    std::atomic<std::uint64_t> next = 0;
    own_team->run([&] {
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
