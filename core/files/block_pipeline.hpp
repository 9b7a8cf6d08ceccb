// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace sortie {

/// The steps of a block of a file, or of an array that is written to a file. `worker` is the number of
/// the thread, from 0; a step keeps the buffers of a block by it. Blocks are numbered from 0.
///
///     worker 0   take 0 | work 0     | pass 0 | finish 0 | take 3 | ...
///     worker 1          take 1 | work 1     | pass 1 | finish 1 | ...
///     worker 2                 take 2 | work 2     | pass 2 | finish 2 | ...
///
/// Steps that are empty are left out.
struct BlockSteps {
  using Step = std::function<void(int worker, std::uint64_t block)>;

  /// One block at a time, in ascending order: for example, reads from a pipe. Returns false if
  /// there is no such block. \pre not empty
  std::function<bool(int worker, std::uint64_t block)> take;
  Step work;  ///< On all threads at the same time, for example, parses or formats.
  /// One block at a time, in ascending order: for example, adds up the sizes. Called by the thread of
  /// any worker, but for worker 0 by the caller.
  Step pass;
  Step finish;  ///< On all threads at the same time, for example, writes at the block's offset.
};

/// Runs all blocks through their steps on several threads, of which the caller is worker 0. Each
/// worker has one block at a time, so that at most `workers` blocks exist.
///
/// An exception ends the run: all blocks before the one that threw are completed, blocks after it
/// are passed on no more. If several blocks throw, the exception of the first block is rethrown, so
/// that the first fault in a file is the one that is reported, whatever the number of threads.
/// \param workers  at least 1
/// \throws what the steps throw
void run_blocks(int workers, const BlockSteps& steps);

}  // namespace sortie
