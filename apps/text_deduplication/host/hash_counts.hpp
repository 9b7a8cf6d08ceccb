// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>

#include "core/host_memory.hpp"

namespace sortie::texts::host {

/// Tells hashes that were added at least twice from most others: two bits for each of a power of
/// two of slots. Several threads add at the same time.
class HashCounts {
 public:
  /// \param bytes  at most, and at least 8
  explicit HashCounts(std::uint64_t bytes)
      : words_(std::bit_floor(bytes / sizeof(std::uint64_t))),
        bits_(allocate_array<std::uint64_t>(words_)) {
    std::fill_n(bits_.get(), words_, 0);
  }

  /// Returns how often a hash of this slot was added before: 0, 1 or 2 for more.
  int add(std::uint64_t hash) {
    const std::atomic_ref<std::uint64_t> word(bits_[index(hash)]);
    const std::uint64_t once = std::uint64_t{1} << shift(hash);
    const std::uint64_t twice = once << 1;
    if ((word.load(std::memory_order_relaxed) & twice) != 0) return 2;
    if ((word.fetch_or(once, std::memory_order_relaxed) & once) == 0) return 0;
    return (word.fetch_or(twice, std::memory_order_relaxed) & twice) == 0 ? 1 : 2;
  }

  [[nodiscard]] bool occurs_twice(std::uint64_t hash) const {
    return (bits_[index(hash)] >> shift(hash) & 2) != 0;
  }

 private:
  // The leading bits of hashes choose the pass.
  [[nodiscard]] std::uint64_t index(std::uint64_t hash) const { return hash >> 5 & (words_ - 1); }
  [[nodiscard]] static int shift(std::uint64_t hash) { return static_cast<int>(hash & 31) * 2; }

  std::uint64_t words_;
  HostArray<std::uint64_t> bits_;
};

}  // namespace sortie::texts::host
