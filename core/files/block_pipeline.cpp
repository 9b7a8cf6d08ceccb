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
  explicit BlockRun(const BlockSteps& steps) : steps_(steps) {}

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

  /// Waits for the block's turn. Returns false if a block before it has failed.
  bool pass(int worker, std::uint64_t block) {
    {
      std::unique_lock lock(state_);
      turn_.wait(lock, [&] { return passed_ == block || first_fault_ < block; });
      if (first_fault_ < block) return false;
    }
    if (steps_.pass) steps_.pass(worker, block);
    {
      const std::lock_guard lock(state_);
      passed_ = block + 1;
    }
    turn_.notify_all();
    return true;
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
  std::uint64_t passed_ = 0;  ///< blocks passed on
  std::uint64_t first_fault_ = none;
  std::exception_ptr fault_;
};

}  // namespace

void run_blocks(int workers, const BlockSteps& steps) {
  BlockRun run(steps);
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
