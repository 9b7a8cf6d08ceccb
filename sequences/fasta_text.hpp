// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "sortie/fasta.hpp"
#include "sortie/text.hpp"

/// Internal to Sortie: the reader of FASTA and FASTQ for text in memory.
namespace sortie::sequences {

/// read_fasta() for the content of a file that is in memory already, decompressed.
///
/// `sortie query` reads patterns like this: their first byte tells FASTA and FASTQ from lines. The
/// memory of the text is not limited: the text is not larger than `content`. O(bytes).
///
/// \param name     file name for messages
/// \param content  FASTA or FASTQ, distinguished by the first byte
/// \throws Error (input) as read_fasta()
[[nodiscard]] Text parse_fasta(const std::string& name, std::span<const char> content,
                               const ReadOptions& options);

}  // namespace sortie::sequences
