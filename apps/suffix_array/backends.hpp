// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sortie/error.hpp"
#include "sortie/query.hpp"
#include "sortie/suffix_array.hpp"

/// Instantiates a function template for both widths of positions.
#define SORTIE_FOR_BOTH_POSITIONS(function)                           \
  template decltype(function<std::uint32_t>) function<std::uint32_t>; \
  template decltype(function<std::uint64_t>) function<std::uint64_t>

/// The implementations behind suffix_array::build(), which has checked that Pos can address the
/// text and that the text is not empty, and behind the arrays derived from a suffix array. Each
/// exists for both position widths.
namespace sortie::suffix_array {

/// \throws Error (usage) a suffix array of another size than the text; `title` begins the message
void require_same_size(std::string_view title, const TextView& text, std::uint64_t entries);

/// Checks the entries of a suffix array. \pre the host runtime is started
/// \throws Error (usage) an entry is not below `size`
template <Position Pos>
void require_positions(std::string_view title, std::span<const Pos> suffixes, std::uint64_t size);

/// Checks patterns. \throws Error (usage) their begins are not ascending within their letters
void require_patterns(const PatternView& patterns);

/// Checks the size of an array that is to be checked. \throws Error (check)
/// \param why  ends the message
void require_entries(std::string_view title, std::uint64_t found, std::uint64_t expected,
                     std::string_view why = {});

/// The error (check) of a wrong entry.
[[nodiscard]] Error wrong_entry(std::string_view title, std::uint64_t entry,
                                const std::string& words);

namespace host {

/// Prefix doubling by Kokkos threads; see host/build/prefix_doubling.cpp for the steps and the
/// memory.
/// \throws Error (out_of_memory) before any work when the budget does not suffice
template <Position Pos>
[[nodiscard]] std::vector<Pos> build_prefix_doubling(const Context& context, const TextView& text);

/// One bit for each position, set where a record ends; empty when there are no separators.
[[nodiscard]] std::vector<std::uint32_t> separator_bits(const TextView& text);

}  // namespace host

/// On a GPU, the suffix array and what is derived from one, as the public calls of these names, for
/// texts, suffix arrays and patterns that are not empty. Builds without CUDA do not define these
/// (device_or_host.hpp).
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
