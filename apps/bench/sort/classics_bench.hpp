// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/bench/bench.hpp"
#include "sortie/context.hpp"

/// The classic sorting algorithms on one GPU, compared with Sortie's and CUB's.
namespace sortie::bench {

struct ClassicsOptions {
  /// Lengths are the powers 2^10, 2^12, ... from `least_items` on, and the largest power of two up to
  /// `most_items`.
  std::uint64_t least_items = std::uint64_t{1} << 10;
  std::uint64_t most_items = std::uint64_t{1} << 28;
  bool are_pairs = false;  ///< pairs of a u32 key and a u32 value instead of keys
  int repetitions = 5;
  std::uint64_t seed = 1;
  std::vector<std::string> cases = {"uniform"};  ///< as parse_sort_case() takes them
  std::vector<std::string> methods = {};         ///< only rows of these methods; empty: all
};

/// The array lengths of the cases.
[[nodiscard]] std::vector<std::uint64_t> classics_lengths(const ClassicsOptions& options);

/// Measures u32 keys, or pairs, on the context's CUDA device: for each length and distribution a case with one
/// row per method. Every repetition sorts other keys.
/// The methods are a copy of the keys (`limit`), the classics and CUB's radix and merge sort
/// (`baseline`), and Sortie's sorts for one GPU. A classic is omitted at lengths where it would
/// take too long. Every result is checked on the GPU: order, and a checksum of the items. Pairs are words
/// with the key in the upper half for all but Sortie's sorts, which take two arrays. Memory
/// transactions of the classics are counted for uniform keys up to 2^24; those of the bitonic network
/// at any length, since they depend only on the length. Where options.methods names "cub radix, B bits" (B: 4,
/// 8, ..., 28), CUB sorts keys by so many low bits alone.
/// \throws Error (usage) fewer than 2^10 items, an unknown case; (unavailable) the host backend, no CUDA
std::vector<Row> time_classics(const Context& context, const ClassicsOptions& options,
                               const RowSink& sink);

/// The CUDA part of time_classics(). \param lengths  array lengths of the cases
std::vector<Row> time_classics_on_cuda(const Context& context,
                                       const std::vector<std::uint64_t>& lengths,
                                       const ClassicsOptions& options, const RowSink& sink);

}  // namespace sortie::bench
