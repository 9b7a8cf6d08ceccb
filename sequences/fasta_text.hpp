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
/// `sortie query` reads patterns like this, because their first byte tells FASTA and FASTQ from a
/// list of lines. The memory of the text is not limited: the text is not larger than `content`.
///
/// \param name     file name for messages
/// \param content  FASTA or FASTQ, distinguished by the first byte
/// \return the records
/// \throws Error (input) as read_fasta()
/// Complexity: O(bytes).
[[nodiscard]] Text parse_fasta(const std::string& name, std::span<const char> content,
                               const ReadOptions& options);

}  // namespace sortie::sequences
