// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/inverted_index/term_table.hpp"
#include "apps/inverted_index/varint.hpp"
#include "apps/inverted_index/words.hpp"
#include "apps/sort/spill_file.hpp"
#include "core/files/byte_buffer.hpp"
#include "core/host_memory.hpp"
#include "sortie/context.hpp"
#include "sortie/inverted_index.hpp"

/// Runs: sorted postings of consecutive occurrences of terms.
///
///     parse            occurrences in the order of the text     BlockParser
///     sort             by term, then place                      TokenRun::sort...()
///     encode           terms with their postings                TokenRun::encode()
///     store            in memory, or in a temporary file        RunStore
///
/// An encoded run is a list of entries in ascending order of terms:
///
///     varint size of the term, the term, 4 bytes size of the postings, the postings
///
/// A posting is a varint d << 1 | (f == 1), where d is the distance from the document before (at
/// first: from the run's first document) and f the frequency; a varint f - 2 if f > 1; and, with
/// positions, f varints: the distances between them.
namespace sortie::indexing {

/// A place where an entry begins.
struct RunSample {
  std::string term;
  std::uint64_t offset = 0;
};

/// Distance of samples in bytes; an entry may be longer.
inline constexpr std::uint64_t sample_bytes = 8192;

/// An encoded run in memory or in a temporary file.
struct StoredRun {
  ByteBuffer memory;                 ///< null if it is in the file
  std::uint64_t file_begin = 0;      ///< in the file
  std::uint64_t size = 0;            ///< bytes
  std::vector<RunSample> samples;    ///< the first one at offset 0
  std::uint32_t first_document = 0;  ///< in the block; in the corpus once the block is added
  std::uint64_t first_position = 0;  ///< to be added to positions in the first document
};

/// Occurrences of terms that are sorted together.
class TokenRun {
 public:
  TokenRun(const IndexOptions& options, std::uint64_t most_items);

  /// Sorts with the calling thread alone.
  void sort_alone();
  /// Sorts by the public call, on the host.
  void sort(const Context& context);
  /// What is sorted.
  [[nodiscard]] std::span<std::uint64_t> keys() { return {keys_.get(), items_}; }
  /// Values of the keys; none for words.
  [[nodiscard]] std::span<std::uint32_t> values() {
    return {values_.get(), options_.kmer_length == 0 ? 0 : items_};
  }
  /// Encodes the sorted run, which stays valid until the next call.
  /// \param samples  receives samples
  [[nodiscard]] std::span<const char> encode(std::vector<RunSample>& samples);

  [[nodiscard]] bool empty() const { return items_ == 0; }
  [[nodiscard]] std::uint32_t first_document() const { return first_document_; }
  [[nodiscard]] std::uint64_t first_position() const { return first_position_; }

 private:
  friend class BlockParser;
  struct Encoder;

  void make_keys();
  [[nodiscard]] int place_bits() const;
  template <class PlaceOf, class TermOf, class GroupOf>
  void encode_groups(Encoder& encoder, const PlaceOf& place_of, const TermOf& term_of,
                     const GroupOf& group_of) const;

  const IndexOptions& options_;
  std::uint64_t most_items_;
  std::uint64_t items_ = 0;
  std::uint32_t first_document_ = 0;
  std::uint64_t first_position_ = 0;
  /// For each document of the run: words: the items before its end; k-mers: the offset of its end
  /// in the block.
  std::vector<std::uint64_t> document_ends_;
  std::uint64_t first_offset_ = 0;  ///< k-mers: where the first document begins in the block
  TermTable table_;
  RankedTerms ranked_;
  std::optional<Stemmer> stemmer_;
  HostArray<std::uint32_t> tokens_;  ///< number of the word of each item
  /// Words: rank above the document in the run, or, with positions, above the number of the item.
  /// k-mers: the k-mer.
  HostArray<std::uint64_t> keys_;
  HostArray<std::uint64_t> key_scratch_;
  HostArray<std::uint32_t> values_;  ///< k-mers: offset in the block
  HostArray<std::uint32_t> value_scratch_;
  std::unique_ptr<char[]> bytes_;  ///< encoded
  std::uint64_t bytes_capacity_ = 0;
};

/// Bytes of a k-mer as a term: its number, the highest byte first.
[[nodiscard]] inline std::size_t kmer_bytes(int length) {
  return (2 * static_cast<std::size_t>(length) + 7) / 8;
}
/// \param to  kmer_bytes(length)
inline void put_kmer(std::uint64_t kmer, int length, char* to) {
  for (std::size_t i = kmer_bytes(length); i-- > 0; kmer >>= 8) to[i] = static_cast<char>(kmer);
}
/// The number of a base of either case, A, C, G, T or U; 4 for other letters.
[[nodiscard]] std::uint8_t base_number(char letter);

/// The k-mers that end at the letters that are given to it one after the other.
class KmerScanner {
 public:
  KmerScanner(int length, bool canonical)
      : length_(length),
        canonical_(canonical),
        mask_(~std::uint64_t{0} >> (64 - 2 * length)),
        top_(2 * (length - 1)) {}

  /// Starts a sequence.
  void clear() { valid_ = 0; }
  /// Returns whether the last `length` letters, with this one, are a k-mer.
  [[nodiscard]] bool add(char letter) {
    const std::uint64_t base = base_number(letter);
    valid_ = base < 4 ? valid_ + 1 : 0;
    forward_ = (forward_ << 2 | (base & 3)) & mask_;
    reverse_ = reverse_ >> 2 | (3 - (base & 3)) << top_;
    return valid_ >= static_cast<std::uint64_t>(length_);
  }
  /// The number of the k-mer. \pre add() has returned true
  [[nodiscard]] std::uint64_t kmer() const {
    return canonical_ ? std::min(forward_, reverse_) : forward_;
  }

 private:
  int length_;
  bool canonical_;
  std::uint64_t mask_;
  int top_;
  std::uint64_t forward_ = 0;
  std::uint64_t reverse_ = 0;  ///< the reverse complement
  std::uint64_t valid_ = 0;    ///< bases since the last other letter
};

/// Turns blocks into runs.
class BlockParser {
 public:
  BlockParser(const IndexOptions& options, std::uint64_t most_items)
      : options_(options),
        most_items_(most_items),
        kmers_(std::max(options.kmer_length, 1), options.canonical) {}

  /// Starts with a block, which must not change until parse() returns false.
  void begin(const Documents& block);
  /// Fills the run with the next occurrences of the block. Returns false if there are none.
  [[nodiscard]] bool parse(TokenRun& run);

  /// Occurrences in each document of the block, once parse() has returned false.
  [[nodiscard]] const std::vector<std::uint32_t>& lengths() const { return lengths_; }
  /// Positions of the last document in this block.
  [[nodiscard]] std::uint64_t last_positions() const { return position_; }

 private:
  void parse_words(TokenRun& run);
  void parse_kmers(TokenRun& run);

  const IndexOptions& options_;
  std::uint64_t most_items_;
  const Documents* block_ = nullptr;
  std::uint64_t document_ = 0;  ///< the next byte is of this document of the block
  std::uint64_t at_ = 0;        ///< next byte of the block
  std::uint64_t position_ = 0;  ///< positions of the document before `at_`
  std::vector<std::uint32_t> lengths_;
  WordScanner scanner_;
  KmerScanner kmers_;
};

/// Bytes of a TokenRun and its block for each byte of `run_items`, at most in usual texts.
[[nodiscard]] std::uint64_t run_bytes_per_item(const IndexOptions& options);

/// Keeps encoded runs. Several threads may call add() at the same time.
class RunStore {
 public:
  /// \param folder    of the temporary file
  /// \param resident  bytes of runs that may be in memory
  RunStore(std::string folder, std::uint64_t resident)
      : folder_(std::move(folder)), resident_(resident) {}

  /// \throws Error (output)
  [[nodiscard]] StoredRun add(std::span<const char> bytes);
  /// \throws Error (input)
  void read(const StoredRun& run, std::uint64_t offset, std::span<char> into) const;
  [[nodiscard]] std::uint64_t spilled_bytes() const { return spilled_; }

 private:
  std::string folder_;
  std::uint64_t resident_;
  std::mutex mutex_;
  std::uint64_t in_memory_ = 0;
  std::uint64_t spilled_ = 0;
  std::optional<sorting::SpillFile> file_;
};

/// Reads a range of a run.
class RunStream {
 public:
  /// \param begin, end  offsets
  /// \param buffer      at least longest_varint bytes, for runs that are in the file
  RunStream(const RunStore& store, const StoredRun& run, std::uint64_t begin, std::uint64_t end,
            std::span<char> buffer);

  [[nodiscard]] bool at_end() const { return offset() == last_; }
  /// Offset of the next byte.
  [[nodiscard]] std::uint64_t offset() const {
    return next_ - static_cast<std::uint64_t>(end_ - at_);
  }
  [[nodiscard]] std::uint64_t varint() {
    if (end_ - at_ < longest_varint) refill();
    return take_varint(at_, end_);
  }
  void copy(char* to, std::uint64_t bytes);
  void skip(std::uint64_t bytes);

 private:
  /// Loads more bytes, if there are some.
  void refill();

  const RunStore* store_;
  const StoredRun* run_;
  std::span<char> buffer_;
  std::uint64_t last_ = 0;  ///< offset of the end
  std::uint64_t next_ = 0;  ///< offset of the byte at end_
  const char* at_ = nullptr;
  const char* end_ = nullptr;
};

}  // namespace sortie::indexing
