// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sortie/query.hpp"
#include "sortie/suffix_array.hpp"

/// The implementations behind suffix_array::build(), which has checked that Pos can address the
/// text and that the text is not empty, and behind the arrays derived from a suffix array. Each
/// exists for both position widths.
namespace sortie::suffix_array {

/// \throws Error (usage) a suffix array of another size than the text; `title` begins the message
void require_same_size(std::string_view title, const TextView& text, std::uint64_t entries);

/// Checks patterns. \throws Error (usage) their begins are not ascending within their letters
void require_patterns(const PatternView& patterns);

namespace host {

/// Prefix doubling by Kokkos threads; see host/build/prefix_doubling.cpp for the steps and the
/// memory.
/// \throws Error (out_of_memory) before any work when the budget does not suffice
template <Position Pos>
[[nodiscard]] std::vector<Pos> build_prefix_doubling(const Context& context, const TextView& text);

/// suffix_array::inverse_suffix_array for suffix arrays that are not empty.
template <Position Pos>
[[nodiscard]] std::vector<Pos> invert(const Context& context, std::span<const Pos> suffixes);

/// suffix_array::lcp_array for texts that are not empty.
template <Position Pos>
[[nodiscard]] std::vector<Pos> lcp_array(const Context& context, const TextView& text,
                                         std::span<const Pos> suffixes);

/// suffix_array::burrows_wheeler_transform for texts that are not empty.
template <Position Pos>
[[nodiscard]] std::vector<std::uint8_t> burrows_wheeler_transform(const Context& context,
                                                                  const TextView& text,
                                                                  std::span<const Pos> suffixes);

/// suffix_array::find for texts and patterns that are not empty.
template <Position Pos>
[[nodiscard]] std::vector<EntryRange> find(const Context& context, const TextView& text,
                                           std::span<const Pos> suffixes,
                                           const PatternView& patterns);

/// suffix_array::locate for texts and patterns that are not empty.
template <Position Pos>
[[nodiscard]] Occurrences<Pos> locate(const Context& context, const TextView& text,
                                      std::span<const Pos> suffixes, const PatternView& patterns,
                                      std::uint64_t most_hits);

/// suffix_array::document_array for suffix arrays that are not empty.
template <Position Pos>
[[nodiscard]] std::vector<std::uint32_t> document_array(
    const Context& context, std::span<const Pos> suffixes,
    std::span<const std::uint64_t> record_begins);

/// One bit for each position, set where a record ends; empty when there are no separators.
[[nodiscard]] std::vector<std::uint32_t> separator_bits(const TextView& text);

}  // namespace host

/// The same on a GPU. \throws Error (unavailable) in a build without CUDA
namespace cuda {

template <Position Pos>
[[nodiscard]] std::vector<Pos> build_prefix_doubling(const Context& context, const TextView& text);
template <Position Pos>
[[nodiscard]] std::vector<Pos> invert(const Context& context, std::span<const Pos> suffixes);
template <Position Pos>
[[nodiscard]] std::vector<Pos> lcp_array(const Context& context, const TextView& text,
                                         std::span<const Pos> suffixes);
template <Position Pos>
[[nodiscard]] std::vector<std::uint8_t> burrows_wheeler_transform(const Context& context,
                                                                  const TextView& text,
                                                                  std::span<const Pos> suffixes);
template <Position Pos>
[[nodiscard]] std::vector<EntryRange> find(const Context& context, const TextView& text,
                                           std::span<const Pos> suffixes,
                                           const PatternView& patterns);
template <Position Pos>
[[nodiscard]] Occurrences<Pos> locate(const Context& context, const TextView& text,
                                      std::span<const Pos> suffixes, const PatternView& patterns,
                                      std::uint64_t most_hits);
template <Position Pos>
[[nodiscard]] std::vector<std::uint32_t> document_array(
    const Context& context, std::span<const Pos> suffixes,
    std::span<const std::uint64_t> record_begins);

}  // namespace cuda

}  // namespace sortie::suffix_array
