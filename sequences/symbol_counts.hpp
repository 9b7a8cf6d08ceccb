// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sortie/text.hpp"

/// Internal to Sortie: what is known of a text by how often each byte occurs in it.
namespace sortie::sequences {

/// How often each byte occurs.
using SymbolCounts = std::array<std::uint64_t, 256>;

/// Adds the symbols to the counts.
void count_symbols(std::span<const std::uint8_t> symbols, SymbolCounts& total);

/// detect_alphabet() by the counts of the letters, without separators.
[[nodiscard]] Alphabet alphabet_of(const SymbolCounts& counts);

/// Whether the complement of A is U: the letters are of RNA.
[[nodiscard]] bool is_rna(const SymbolCounts& counts);

/// The record of the reverse complement of another one, `distance` symbols behind it.
[[nodiscard]] Record reverse_record(const Record& record, std::uint64_t distance);

}  // namespace sortie::sequences
