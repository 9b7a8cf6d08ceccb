// SPDX-License-Identifier: Apache-2.0
#include "core/files/block_pipeline.hpp"

#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace sortie {
namespace {

constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

class BlockRun {
 public:
  BlockRun(int workers, const BlockSteps& steps)
      : steps_(steps), waiting_(static_cast<std::size_t>(workers), none) {}

  /// One worker, until there are no more blocks. \post does not throw; see rethrow()
  void run(int worker) noexcept {
    for (std::uint64_t block = take(worker); block != none; block = take(worker)) {
      try {
        if (steps_.work) steps_.work(worker, block);
        if (!pass(worker, block)) return;
        if (steps_.finish) steps_.finish(worker, block);
      } catch (...) {
        fail(block);
        return;
      }
    }
  }

  void rethrow() const {
    if (fault_) std::rethrow_exception(fault_);
  }

 private:
  /// Takes the next block, which no other worker has; `none` at the end or after a fault.
  std::uint64_t take(int worker) {
    const std::lock_guard lock(taking_);
    if (ended_ || failed()) return none;
    const std::uint64_t block = taken_;
    try {
      ended_ = !steps_.take(worker, block);
    } catch (...) {
      ended_ = true;
      fail(block);
    }
    if (ended_) return none;
    ++taken_;
    return block;
  }

  /// Passes the block on when it is its turn. Returns false if it or a block before it has failed.
  ///
  /// The thread whose turn it is passes the blocks of other workers that wait behind it, too:
  /// to wake each of them in turn would take longer than most steps. Worker 0, the caller, passes its
  /// blocks itself.
  bool pass(int worker, std::uint64_t block) {
    if (!steps_.pass && !steps_.finish) return true;  // the order does not matter
    std::unique_lock lock(state_);
    std::uint64_t& mine = waiting_[static_cast<std::size_t>(worker)];
    mine = block;
    turn_.wait(lock, [&] {
      const bool is_turn = passed_ == block;
      // Another thread may be passing it.
      return mine == none || (!(is_turn && passing_) && (is_turn || first_fault_ < block));
    });
    if (mine == none) return passed_ > block;
    if (first_fault_ < block) {
      mine = none;
      return false;
    }
    passing_ = true;
    auto next = static_cast<std::size_t>(worker);
    do {
      const std::uint64_t number = passed_;
      lock.unlock();
      bool is_passed = true;
      try {
        if (steps_.pass) steps_.pass(static_cast<int>(next), number);
      } catch (...) {
        is_passed = false;
        fail(number);
      }
      lock.lock();
      waiting_[next] = none;
      if (!is_passed) break;
      ++passed_;
      next = 1;
      while (next < waiting_.size() && waiting_[next] != passed_) ++next;
    } while (next < waiting_.size() && first_fault_ >= passed_);
    passing_ = false;
    const bool is_passed = passed_ > block;
    lock.unlock();
    turn_.notify_all();
    return is_passed;
  }

  void fail(std::uint64_t block) {
    {
      const std::lock_guard lock(state_);
      if (block < first_fault_) {
        first_fault_ = block;
        fault_ = std::current_exception();
      }
    }
    turn_.notify_all();
  }

  bool failed() {
    const std::lock_guard lock(state_);
    return first_fault_ != none;
  }

  const BlockSteps& steps_;

  std::mutex taking_;  ///< held during `take`; guards the next two
  std::uint64_t taken_ = 0;
  bool ended_ = false;

  std::mutex state_;  ///< guards the rest
  std::condition_variable turn_;
  std::uint64_t passed_ = 0;            ///< blocks passed on
  bool passing_ = false;                ///< a thread is passing block passed_
  std::vector<std::uint64_t> waiting_;  ///< the block of each worker that is not passed on yet
  std::uint64_t first_fault_ = none;
  std::exception_ptr fault_;
};

}  // namespace

void run_blocks(int workers, const BlockSteps& steps) {
  BlockRun run(workers, steps);
  {
    std::vector<std::jthread> threads;
    try {
      for (int worker = 1; worker < workers; ++worker)
        threads.emplace_back([&run, worker] { run.run(worker); });
    } catch (const std::system_error&) {
      // The system has no more threads; those that run suffice.
    }
    run.run(0);
  }
  run.rethrow();
}

}  // namespace sortie
