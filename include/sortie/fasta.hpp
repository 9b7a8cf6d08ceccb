// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sortie/context.hpp"
#include "sortie/export.hpp"
#include "sortie/text.hpp"

namespace sortie::sequences {

enum class Case { upper, keep };

struct ReadOptions {
  Case letter_case = Case::upper;           ///< convert soft-masked lower case to upper, or keep it
  Alphabet alphabet = Alphabet::automatic;  ///< a symbol outside it is an error
};

/// Reads a FASTA or FASTQ file (distinguished by the first byte), plain, gzip (also multi-member
/// and bgzf) or zstd, recognised by content; "-" is standard input.
///
/// Accepts one or many records, lines of any length, LF or CRLF, empty lines, empty names and empty
/// records. White space inside sequence lines is dropped. FASTQ qualities are checked for length
/// and dropped; sequence and quality may span several lines. Several threads read a plain file,
/// decompress a bgzf file, and parse them and what other gzip files hold. One thread reads and
/// parses pipes and zstd files, and parses FASTQ records of more than four lines.
///
/// \param context  threads: any number, since they are not those of the host runtime; memory
///                 budget: of the text; progress: "read", in bytes of the file (the total is 0,
///                 unknown, for a compressed file); report: phase "read"
/// \throws Error (input) "FILE:LINE: found ..., expected ..." for an empty file, sequence before
///         the first header, a symbol outside the alphabet or a control byte, a FASTQ record that
///         is truncated or whose quality differs in length, a truncated or damaged gzip or zstd
///         stream
/// \throws Error (out_of_memory) "FILE: ..." if the budget, or the free memory, cannot hold the text
/// \throws Error (unavailable) the file is zstd and this build has no libzstd
/// Complexity: O(bytes). Memory: the text and a few MiB for each thread; for a gzip file that is
/// not bgzf, the file and its content as well, if the budget, or the free memory, allows it.
[[nodiscard]] SORTIE_API Text read_fasta(const HostContext& context, const std::string& path,
                                         const ReadOptions& options = {});

/// Writes records as FASTA with lines of `width` symbols (0: one line per record).
/// \throws Error (output)
SORTIE_API void write_fasta(const std::string& path, const Text& text, std::size_t width = 80);

}  // namespace sortie::sequences
