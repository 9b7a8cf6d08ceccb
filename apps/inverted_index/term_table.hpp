// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/inverted_index/words.hpp"

namespace sortie::indexing {

/// The first 8 bytes of a term, filled up with zeros, as a number in the order of terms. Terms with
/// equal keys are compared byte by byte.
[[nodiscard]] inline std::uint64_t order_key(std::string_view term) {
  std::uint64_t key = 0;
  std::memcpy(&key, term.data(), std::min<std::size_t>(term.size(), sizeof(key)));
  return __builtin_bswap64(key);
}

/// The words of a run, numbered as they appear. Open addressing with linear probing.
///
/// A slot holds 8 bytes that tell words apart: a word of up to 8 bytes filled up with zeros, or the
/// hash of a longer one below a byte ff, which no word contains. So only longer words are compared
/// with their copies.
class TermTable {
 public:
  TermTable() : slots_(first_slots) {}

  /// The number of a word. \pre 16 bytes after it can be read
  [[nodiscard]] std::uint32_t number(const char* word, std::size_t size) {
    std::uint64_t mark;
    std::memcpy(&mark, word, sizeof(mark));
    if (size <= sizeof(mark)) [[likely]] {
      mark &= ~std::uint64_t{0} >> (64 - 8 * size);
    } else {
      mark = mark_of_long(word, size);
    }
    for (std::size_t i = slot_of(mark);; i = (i + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[i];
      if (slot.number == no_number) return add(i, mark, word, size);
      if (slot.mark == mark && (size <= sizeof(mark) || is(slot.number, word, size)))
        return slot.number;
    }
  }

  /// Number of words.
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(begins_.size()); }
  /// \pre number < size()
  [[nodiscard]] std::string_view word(std::uint32_t number) const {
    const std::size_t end = number + 1 < begins_.size() ? begins_[number + 1] : words_.size();
    return std::string_view(words_).substr(begins_[number], end - begins_[number]);
  }
  /// Bytes of memory that the words take; slots are a quarter to half full.
  [[nodiscard]] std::size_t bytes() const {
    return words_.size() + begins_.size() * (sizeof(begins_[0]) + 4 * sizeof(Slot));
  }
  void clear();

 private:
  struct Slot {
    std::uint64_t mark = 0;
    std::uint32_t number = no_number;
  };
  static constexpr std::uint32_t no_number = 0xffffffff;
  static constexpr std::size_t first_slots = std::size_t{1} << 10;

  [[nodiscard]] std::size_t slot_of(std::uint64_t mark) const {
    mark *= 0x9e3779b97f4a7c15ULL;
    return (mark ^ mark >> 32) & (slots_.size() - 1);
  }
  [[nodiscard]] bool is(std::uint32_t number, const char* other, std::size_t size) const {
    return word(number) == std::string_view(other, size);
  }
  [[nodiscard]] static std::uint64_t mark_of_long(const char* word, std::size_t size);
  std::uint32_t add(std::size_t slot, std::uint64_t mark, const char* word, std::size_t size);

  std::vector<Slot> slots_;
  std::string words_;
  std::vector<std::uint32_t> begins_;  ///< of each word in words_
};

/// Words in lexicographic order, and the rank of each.
struct RankedTerms {
  std::vector<std::string_view> terms;  ///< distinct, ascending
  std::vector<std::uint32_t> ranks;     ///< of the word with each number
  std::string stems;                    ///< what `terms` refers to, if words are stemmed
};

/// The algorithms of libstemmer, one object for each thread.
class Stemmer {
 public:
  /// \throws Error (unavailable) this build has no libstemmer; (usage) it has no such algorithm
  explicit Stemmer(const std::string& algorithm);
  ~Stemmer();
  Stemmer(const Stemmer&) = delete;
  Stemmer& operator=(const Stemmer&) = delete;

  /// The stem, valid until the next call. \throws std::bad_alloc
  [[nodiscard]] std::string_view stem(std::string_view word);

 private:
  void* stemmer_ = nullptr;
};

/// Ranks the words of a table by their order, or by that of their stems.
/// \param stemmer  null: words are not stemmed
void rank_terms(const TermTable& table, Stemmer* stemmer, RankedTerms& ranked);

}  // namespace sortie::indexing
