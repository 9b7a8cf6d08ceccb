#pragma once

#include <string>

#include "sortie/core/context.hpp"
#include "sortie/sequences/text.hpp"

namespace sortie::sequences {

enum class Case { upper, keep };

struct ReadOptions {
  Case letter_case = Case::upper;           ///< soft-masked lower case becomes upper, or stays
  Alphabet alphabet = Alphabet::automatic;  ///< a symbol outside of it is an error
};

/// Reads a FASTA or FASTQ file (told apart by the first byte), plain or gzip (also multi-member and
/// bgzf) by content; "-" is standard input.
///
/// One or many records, lines of any length, LF or CRLF, empty lines, empty names and empty records
/// are all taken. White space inside sequence lines is dropped. FASTQ qualities are checked for
/// length and dropped; sequence and quality may span lines.
///
/// \param context  progress
/// \throws Error (input) "FILE:LINE: found ..., expected ..." for an empty file, sequence before
/// the
///         first header, a symbol outside of the alphabet or a control byte, a FASTQ record that is
///         cut off or whose quality differs in length, a truncated or damaged gzip stream
/// Complexity O(bytes); memory: the text and a buffer of a few MiB.
[[nodiscard]] Text read_fasta(const Context& context, const std::string& path,
                              const ReadOptions& options = {});

/// Writes records as FASTA with lines of `width` symbols (0: one line a record).
/// \throws Error (output)
void write_fasta(const std::string& path, const Text& text, std::size_t width = 80);

}  // namespace sortie::sequences
