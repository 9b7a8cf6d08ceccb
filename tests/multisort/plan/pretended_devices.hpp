// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "multisort/plan/moves.hpp"
#include "multisort/plan/radix_partition.hpp"
#include "tests/multisort/distributions.hpp"

namespace sortie::test {

/// The keys of each pretended device.
using Chunks = std::vector<std::vector<std::uint64_t>>;

/// Keys cut into chunks: of equal size, or of very unequal ones, some empty.
enum class Cut { equal, unequal };

inline Chunks cut(const std::vector<std::uint64_t>& keys, std::size_t devices, Cut how) {
  Chunks chunks(devices);
  std::size_t begin = 0;
  for (std::size_t d = 0; d < devices; ++d) {
    const std::size_t left = keys.size() - begin;
    std::size_t size = left / (devices - d);
    if (how == Cut::unequal) size = d % 3 == 1 ? 0 : left * (d + 1) / (devices + 1);
    if (d + 1 == devices) size = left;
    chunks[d].assign(keys.begin() + static_cast<std::ptrdiff_t>(begin),
                     keys.begin() + static_cast<std::ptrdiff_t>(begin + size));
    begin += size;
  }
  return chunks;
}

inline std::vector<std::uint64_t> sizes_of(const Chunks& chunks) {
  std::vector<std::uint64_t> sizes;
  for (const auto& chunk : chunks) sizes.push_back(chunk.size());
  return sizes;
}

/// Counts what a partition asks for, as devices do. Returns the number of rounds.
inline int answer(multisort::plan::RadixPartition& partition, const Chunks& chunks) {
  int rounds = 0;
  for (; !partition.refinements().empty(); ++rounds) {
    std::vector<std::uint64_t> counts;
    for (const auto& wanted : partition.refinements()) {
      const int shift = partition.problem().key_bits - wanted.prefix_bits - wanted.digit_bits;
      for (const auto& chunk : chunks) {
        std::vector<std::uint64_t> digits(wanted.digits());
        for (const std::uint64_t key : chunk) {
          const std::uint64_t leading = key >> shift;
          if (leading >> wanted.digit_bits == wanted.prefix) ++digits[leading % digits.size()];
        }
        counts.insert(counts.end(), digits.begin(), digits.end());
      }
    }
    partition.refine(counts);
  }
  return rounds;
}

/// The bucket of a key: the last one that begins at it or before. \pre the key was counted
inline std::size_t bucket_of(const multisort::plan::RadixPartition& partition, std::uint64_t key) {
  const auto& buckets = partition.buckets();
  const auto next =
      std::upper_bound(buckets.begin(), buckets.end(), key,
                       [&](std::uint64_t wanted, const multisort::plan::Bucket& bucket) {
                         const int open = partition.problem().key_bits - bucket.prefix_bits;
                         return open < 64 && wanted < bucket.prefix << open;
                       });
  return static_cast<std::size_t>(next - buckets.begin()) - 1;
}

/// Each chunk in the order of the buckets of its keys, stably.
inline Chunks in_order_of_buckets(const multisort::plan::RadixPartition& partition, Chunks chunks) {
  for (auto& chunk : chunks) {
    std::stable_sort(chunk.begin(), chunk.end(), [&](std::uint64_t a, std::uint64_t b) {
      return bucket_of(partition, a) < bucket_of(partition, b);
    });
  }
  return chunks;
}

}  // namespace sortie::test
