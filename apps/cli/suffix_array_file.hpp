#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sortie/apps/cli/indexed_text.hpp"

namespace sortie::cli {

/// What the sidecar of a suffix array file tells beside the array's own figures.
struct SuffixArraySource {
  std::string input;
  TextPolicy policy;
  std::uint64_t max_context = 0;  ///< letters that decide the order; 0: all
  const IndexedText* text = nullptr;
};

/// The checksum of a text that descriptions hold, 16 hex digits: 64-bit FNV-1a of its symbols.
[[nodiscard]] std::string text_checksum(const sequences::Text& text);

/// Bytes a position of a suffix array file for a text of `symbols` symbols: 4, or 8 where 4 do not
/// suffice. Files of 5 bytes a position are written where they are asked for.
[[nodiscard]] int smallest_width_bytes(std::uint64_t symbols);

/// Symbols of the longest text that positions of that many bytes can tell.
[[nodiscard]] std::uint64_t most_symbols(int width_bytes);

/// Writes positions as little-endian integers of 4, 5 or 8 bytes, and beside them PATH.json, which
/// says how to read them and which record is where. Both files appear or none; a stream
/// gets no sidecar.
/// \return the checksum of the positions as written, 16 hex digits
/// \throws Error (output)
template <class Pos>
std::string write_suffix_array(const std::string& path, std::span<const Pos> suffixes,
                               int width_bytes, const SuffixArraySource& source);

/// The same for the LCP array of that suffix array.
template <class Pos>
std::string write_lcp_array(const std::string& path, std::span<const Pos> lcp, int width_bytes,
                            const SuffixArraySource& source);

/// The same for the inverse suffix array.
template <class Pos>
std::string write_inverse_suffix_array(const std::string& path, std::span<const Pos> inverse,
                                       int width_bytes, const SuffixArraySource& source);

/// The same for the Burrows-Wheeler transform, a byte an entry.
/// \param primary  the entry of the suffix at position 0
std::string write_burrows_wheeler(const std::string& path, std::span<const std::uint8_t> transform,
                                  std::uint64_t primary, const SuffixArraySource& source);

/// The same for the document array, 4 bytes an entry.
std::string write_document_array(const std::string& path, std::span<const std::uint32_t> documents,
                                 const SuffixArraySource& source);

/// Writes one position, or entry of another array, a line. \throws Error (output)
template <class Pos>
void write_suffix_array_text(const std::string& path, std::span<const Pos> suffixes);

}  // namespace sortie::cli
