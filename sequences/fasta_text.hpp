// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "sortie/context.hpp"
#include "sortie/fasta.hpp"
#include "sortie/text.hpp"

/// Internal to Sortie: readers of FASTA and FASTQ for text in memory, and for tests.
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

/// read_fasta() with pieces of another size, so that tests can cut a small file anywhere.
/// \param piece_bytes  bytes that a thread parses at a time, at least 1
[[nodiscard]] Text read_fasta(const HostContext& context, const std::string& path,
                              const ReadOptions& options, std::size_t piece_bytes);

}  // namespace sortie::sequences
