// SPDX-License-Identifier: Apache-2.0
#include "core/files/checksum.hpp"

#include <algorithm>
#include <bit>

// All of xxHash is in its header, so the library has no dependency at link time.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/files/block_pipeline.hpp"

namespace sortie {

static_assert(std::endian::native == std::endian::little, "block hashes are little-endian");

std::uint64_t block_checksum(std::span<const std::byte> block) {
  return XXH3_64bits(block.data(), block.size());
}

std::uint64_t checksum_of_blocks(std::span<const std::uint64_t> blocks) {
  return block_checksum(std::as_bytes(blocks));
}

/// Over-aligned, which operator new respects.
struct StreamChecksum::State {
  XXH3_state_t hash;
};

StreamChecksum::StreamChecksum() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->hash);
}
StreamChecksum::~StreamChecksum() = default;

void StreamChecksum::extend(std::span<const char> bytes) {
  XXH3_64bits_update(&state_->hash, bytes.data(), bytes.size());
}

std::uint64_t StreamChecksum::value() const {
  return XXH3_64bits_digest(&state_->hash);
}

std::string checksum_text(std::uint64_t checksum) {
  std::string digits(16, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, checksum >>= 4)
    *digit = "0123456789abcdef"[checksum & 15];
  return digits;
}

void append_block_checksums(int workers, std::span<const std::byte> bytes,
                            std::vector<std::uint64_t>& blocks) {
  // A thread takes longer to start than a few blocks to hash.
  constexpr std::uint64_t blocks_a_worker = 4;
  const std::size_t first = blocks.size();
  const std::uint64_t count = (bytes.size() + checksum_block_bytes - 1) / checksum_block_bytes;
  blocks.resize(first + count);
  const auto most_workers =
      static_cast<int>(std::min<std::uint64_t>(count / blocks_a_worker, 4096));
  run_blocks(std::clamp(workers, 1, std::max(1, most_workers)),
             {.take = [&](int, std::uint64_t block) { return block < count; },
              .work =
                  [&](int, std::uint64_t block) {
                    const std::size_t begin = block * checksum_block_bytes;
                    const std::size_t size = std::min(checksum_block_bytes, bytes.size() - begin);
                    blocks[first + block] = block_checksum(bytes.subspan(begin, size));
                  },
              .pass = {},
              .finish = {}});
}

}  // namespace sortie
