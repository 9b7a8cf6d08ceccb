// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "apps/genome_matches/letters.hpp"
#include "core/host_memory.hpp"
#include "sortie/context.hpp"
#include "sortie/genome_matches.hpp"
#include "sortie/text.hpp"

namespace sortie::genome_matches {

/// The longest matches from positions of a query on, by the suffix array of the reference.
///
/// The longest match from position p on ends at e(p), which never decreases with p. It is maximal
/// only if e(p - 1) < e(p), or p is the first position: otherwise the match one position earlier
/// ends there as well. So after p, the next position of interest is the first p' with e(p') > e(p).
/// It is found by galloping from e(p) to the left, since the letters [p', e(p)] occur in the
/// reference for all positions from that one on, and for none before it.
template <class Pos>
class SuffixIndex {
 public:
  /// \param searches  makes what the searches need beside the suffix array at once: the keys, and
  ///                  the filter of find_unique() if `filters`. Else the first search makes it
  SuffixIndex(const Context& context, const sequences::Text& reference, std::uint64_t min_length,
              bool searches, bool filters);

  [[nodiscard]] static std::uint64_t bytes_of(std::uint64_t symbols);

  [[nodiscard]] std::span<const Pos> suffixes() const { return suffixes_; }
  /// Letters of a key.
  [[nodiscard]] std::uint64_t key_length() const { return key_length_; }

  /// Maximal matches of at least `min_length` letters that are unique in the reference and begin
  /// in a range of the query. Appends them, ascending. The first call makes the filter, if it is not
  /// there.
  void find_unique(Letters query, QueryRange range, std::vector<Match>& matches) const;

  /// The matching statistics of a range of the query.
  void find_statistics(Letters query, QueryRange range, std::vector<StatisticsRun>& runs) const;

 private:
  struct Longest {
    std::uint64_t length = 0;
    std::uint64_t entry = 0;  ///< of the suffix array; the first one if the whole query occurs
    std::uint64_t reference = 0;
    bool is_unique = false;
  };
  [[nodiscard]] std::uint64_t agree(Pos suffix, Letters query) const;
  [[nodiscard]] Longest longest_match(Letters query) const;
  [[nodiscard]] bool occurs(Letters letters) const;
  [[nodiscard]] std::uint64_t first_that_occurs(Letters query, std::uint64_t first,
                                                std::uint64_t last, std::uint64_t end) const;
  [[nodiscard]] std::uint64_t next_begin(Letters query, std::uint64_t begin,
                                         std::uint64_t end) const;
  [[nodiscard]] std::uint64_t next_window(Letters query, std::uint64_t begin,
                                          std::uint64_t end) const;
  void count_keys(std::uint64_t begin, std::uint64_t end) const;
  void require_keys() const;
  void set_windows(std::uint64_t begin, std::uint64_t end) const;
  void require_filter() const;
  // Bits of a window: three of one word.
  [[nodiscard]] std::uint64_t* word_of(std::uint64_t hash) const {
    return &filter_[hash >> 20 & (filter_words_ - 1)];
  }
  [[nodiscard]] static std::uint64_t mask_of(std::uint64_t hash) {
    constexpr std::uint64_t bit = 1;
    return bit << (hash & 63) | bit << (hash >> 6 & 63) | bit << (hash >> 12 & 63);
  }
  [[nodiscard]] bool may_occur(std::uint64_t hash) const {
    return (~*word_of(hash) & mask_of(hash)) == 0;
  }

  Letters reference_;
  std::uint64_t min_length_;
  std::vector<Pos> suffixes_;
  std::uint64_t key_length_ = 0;  ///< letters of the keys of the table
  /// For each key, the first suffix that is not less, and the number of suffixes.
  mutable HostArray<Pos> begins_;
  mutable std::once_flag has_keys_;
  /// Windows are the first letters of a match, as many as have a code. The filter has the bits of
  /// all windows of the reference.
  std::uint64_t window_ = 0;
  std::uint64_t filter_words_ = 0;
  mutable HostArray<std::uint64_t> filter_;
  mutable std::once_flag has_filter_;
};

/// Keeps those of the matches whose letters occur once in the query, too.
/// \param matches  all matches of one strand that are unique in the reference; ascending
void keep_unique_in_query(std::vector<Match>& matches);

}  // namespace sortie::genome_matches
