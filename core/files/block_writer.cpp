// SPDX-License-Identifier: Apache-2.0
#include "core/files/block_writer.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "core/files/block_pipeline.hpp"
#include "core/host_runtime.hpp"

namespace sortie {
namespace {

/// With fewer, pwrite() is faster: see WholeFile::map_writes().
constexpr int fewest_mapping_threads = 4;

/// The block of a worker.
struct MadeBlock {
  std::span<const char> bytes;
  std::uint64_t offset = 0;  ///< in the file; unused for streams
};

/// Without threads: for the many small outputs of a caller, which the file gathers in its buffer.
void write_in_sequence(WholeFile& file, const OutputBlocks& blocks) {
  for (std::uint64_t block = 0; block < blocks.count; ++block) {
    file.write(blocks.make(0, block));
    if (blocks.collect) blocks.collect(0, block);
    if (blocks.tell) blocks.tell(block + 1);
  }
}

}  // namespace

void write_blocks(WholeFile& file, int workers, const OutputBlocks& blocks) {
  if (workers <= 1 || blocks.count <= 1) return write_in_sequence(file, blocks);
  if (blocks.count < static_cast<std::uint64_t>(workers)) workers = static_cast<int>(blocks.count);
  const bool stream = file.is_stream();
  if (!stream && std::min(workers, default_host_threads()) >= fewest_mapping_threads)
    file.map_writes();
  std::vector<MadeBlock> made(static_cast<std::size_t>(workers));
  std::atomic<std::uint64_t> written = 0;

  BlockSteps steps;
  steps.take = [&](int, std::uint64_t block) { return block < blocks.count; };
  steps.work = [&](int worker, std::uint64_t block) {
    made[worker].bytes = blocks.make(worker, block);
  };
  steps.pass = [&](int worker, std::uint64_t number) {
    MadeBlock& block = made[worker];
    if (blocks.collect) blocks.collect(worker, number);
    if (stream) {
      file.write(block.bytes);
    } else {
      block.offset = file.reserve(block.bytes.size());
    }
  };
  steps.finish = [&](int worker, std::uint64_t) {
    if (!stream) file.write_at(made[worker].offset, made[worker].bytes);
    const std::uint64_t count = ++written;
    // Worker 0 is the caller. The last call is made below, since another worker may end last.
    if (worker == 0 && count < blocks.count && blocks.tell) blocks.tell(count);
  };
  run_blocks(workers, steps);
  if (blocks.tell) blocks.tell(blocks.count);
}

void make_blocks(int workers, const OutputBlocks& blocks) {
  run_blocks(workers, {.take = [&](int, std::uint64_t block) { return block < blocks.count; },
                       .work = [&](int worker, std::uint64_t block) { blocks.make(worker, block); },
                       .pass =
                           [&](int worker, std::uint64_t block) {
                             if (blocks.collect) blocks.collect(worker, block);
                             if (worker == 0 && blocks.tell) blocks.tell(block);
                           },
                       .finish = {}});
  if (blocks.tell && blocks.count != 0) blocks.tell(blocks.count);
}

}  // namespace sortie
