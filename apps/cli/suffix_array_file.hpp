// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "apps/cli/indexed_text.hpp"

namespace sortie::cli {

/// Properties of the source text that the sidecar of a suffix array file records.
struct SuffixArraySource {
  std::string input;
  TextPolicy policy;
  std::uint64_t max_context = 0;  ///< number of letters that determine the order; 0: all
  const IndexedText* text = nullptr;
};

/// The checksum of a text in descriptions, 16 hexadecimal digits: 64-bit FNV-1a of its symbols.
[[nodiscard]] std::string text_checksum(const sequences::Text& text);

/// Bytes per position in the suffix array file of a text with `symbols` symbols: 4 if sufficient,
/// else 8. Files with 5 bytes per position are written on request only.
[[nodiscard]] int smallest_width_bytes(std::uint64_t symbols);

/// Maximum number of symbols of a text whose positions fit in `width_bytes` bytes.
[[nodiscard]] std::uint64_t most_symbols(int width_bytes);

/// Writes positions as little-endian integers of 4, 5 or 8 bytes, and a sidecar PATH.json that
/// describes the format and the offsets of the records. Either both files are created or none. For
/// a stream, no sidecar is written.
/// \return the checksum of the positions as written, 16 hexadecimal digits
/// \throws Error (output)
template <class Pos>
std::string write_suffix_array(const std::string& path, std::span<const Pos> suffixes,
                               int width_bytes, const SuffixArraySource& source);

/// Writes the LCP array of the suffix array in the same way.
template <class Pos>
std::string write_lcp_array(const std::string& path, std::span<const Pos> lcp, int width_bytes,
                            const SuffixArraySource& source);

/// Writes the inverse suffix array in the same way.
template <class Pos>
std::string write_inverse_suffix_array(const std::string& path, std::span<const Pos> inverse,
                                       int width_bytes, const SuffixArraySource& source);

/// Writes the Burrows-Wheeler transform in the same way, one byte per entry.
/// \param primary  the entry of the suffix at position 0
std::string write_burrows_wheeler(const std::string& path, std::span<const std::uint8_t> transform,
                                  std::uint64_t primary, const SuffixArraySource& source);

/// Writes the document array in the same way, 4 bytes per entry.
std::string write_document_array(const std::string& path, std::span<const std::uint32_t> documents,
                                 const SuffixArraySource& source);

/// Writes one position, or entry of another array, per line. \throws Error (output)
template <class Pos>
void write_suffix_array_text(const std::string& path, std::span<const Pos> suffixes);

}  // namespace sortie::cli
