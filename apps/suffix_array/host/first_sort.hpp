#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sortie/apps/suffix_array/packing.hpp"
#include "sortie/apps/suffix_array/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// Packs the first symbols of every suffix and spreads the suffixes over buckets by the leading
/// bits of their words, positions ascending within a bucket. Parallel over pieces of the text.
///
/// \param words     n words, written: the word of the suffix in each slot
/// \param suffixes  n positions, written
/// \return          first slot of each bucket, and n at the end
template <Position Pos>
[[nodiscard]] std::vector<std::uint64_t> spread_by_words(const TextView& text,
                                                         const PackingPlan& plan,
                                                         std::span<std::uint64_t> words,
                                                         std::span<Pos> suffixes);

/// Sorts each bucket by (word, position). Buckets that would keep one thread busy for long are
/// sorted by all threads together.
template <Position Pos>
void sort_buckets(const Context& context, std::span<const std::uint64_t> bucket_starts,
                  std::span<std::uint64_t> words, std::span<Pos> suffixes);

/// Slots that a bucket may fill before all threads share it, which bounds scratch memory as well.
[[nodiscard]] std::uint64_t largest_private_bucket(std::uint64_t size);

}  // namespace sortie::suffix_array::host
