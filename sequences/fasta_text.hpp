// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sequences/symbol_blocks.hpp"
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

/// read_fasta() with packed symbols. The blocks are packed on all threads while the file is read;
/// the last one is not, so that the caller can add symbols before seal().
///
/// Extra memory: 4 MiB for each thread. The content of a gzip file is not held, so one thread reads
/// and parses it unless it is bgzf.
/// \param context  memory budget: of the packed symbols
/// \param blocks   receives the symbols in place of all that it has
/// \return the records
[[nodiscard]] std::vector<Record> read_fasta_blocks(const HostContext& context,
                                                    const std::string& path,
                                                    const ReadOptions& options,
                                                    SymbolBlocks& blocks);
/// The same with pieces of another size.
[[nodiscard]] std::vector<Record> read_fasta_blocks(const HostContext& context,
                                                    const std::string& path,
                                                    const ReadOptions& options,
                                                    SymbolBlocks& blocks, std::size_t piece_bytes);

/// Where the symbols of a file go, piece by piece. Records are separated by Text::separator; an
/// empty last record may lack its own.
struct SymbolPieces {
  std::uint64_t overlap = 0;  ///< number of last symbols of a piece with which the next one begins
  /// Whether whole records may be passed apart from the others, in pieces that begin with no
  /// overlap and are not followed by one: threads then copy nothing in turns. Pieces are in no order
  /// then, but each range of overlap + 1 symbols of a record is in one of them, and in one only.
  bool may_be_apart = false;
  /// Called before the first piece, and again if the file has to be read again from its begin.
  std::function<void()> start;
  /// Called for different pieces at the same time, but for one at a time by each worker, which are
  /// numbered from 0. The symbols may be changed.
  std::function<void(int worker, std::span<std::uint8_t> symbols)> take;
};

/// read_fasta() without a text and without names of records.
///
/// \param context  threads; memory budget: of a gzip file and its content; progress: "read"
/// \param piece_bytes  bytes that a thread parses at a time, at least 1
/// \return bytes of the content
/// Memory: four pieces for each thread; for a gzip file that is not bgzf, the file and its content
/// as well, if the budget allows it.
std::uint64_t read_symbol_pieces(const HostContext& context, const std::string& path,
                                 const ReadOptions& options, const SymbolPieces& pieces,
                                 std::size_t piece_bytes);

/// append_reverse_complements() for blocks, which are not sealed.
/// \pre all symbols are nucleotides or separators
void append_reverse_complements(std::vector<Record>& records, SymbolBlocks& blocks);

}  // namespace sortie::sequences
