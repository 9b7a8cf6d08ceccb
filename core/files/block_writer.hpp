// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/files/whole_file.hpp"

namespace sortie {

/// The bytes of a file, or of a part of it, as blocks numbered from 0.
struct OutputBlocks {
  std::uint64_t count = 0;

  /// Makes a block. Called for different blocks at the same time, but for one at a time by each
  /// `worker`, which is numbered from 0. The bytes must not change before the worker's next call,
  /// or the return of write_blocks(): they may be in a buffer of the worker, or belong to the
  /// caller, in which case they are not copied. Blocks of about 1 MiB suit most outputs.
  std::function<std::span<const char>(int worker, std::uint64_t block)> make;

  /// Called for one block at a time, in their order, by the worker that has made it: for example to
  /// join what workers have found. May be empty.
  std::function<void(int worker, std::uint64_t block)> collect = {};

  /// Called on the calling thread with the number of blocks that are written, ascending, at last
  /// with `count`; not called without blocks. May be empty.
  std::function<void(std::uint64_t written)> tell = {};
};

/// Appends blocks to a file, in their order, and makes them on several threads.
///
/// The threads write regular files too, each block at its offset. Streams are written by one thread
/// at a time, while the others make the next blocks. At most one block of each worker exists.
/// \param workers  threads, including the caller; at least 1. The bytes do not depend on it
/// \throws Error (output), and what `make` and `tell` throw. Of several exceptions, that of the
///         first block. The file must not be committed then
void write_blocks(WholeFile& file, int workers, const OutputBlocks& blocks);

/// Makes and collects the blocks, and writes them nowhere.
void make_blocks(int workers, const OutputBlocks& blocks);

}  // namespace sortie
