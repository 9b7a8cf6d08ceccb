// SPDX-License-Identifier: Apache-2.0
#include "apps/genome_matches/suffix_index.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <numeric>

#include "apps/genome_matches/letter_code.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::genome_matches {
namespace {

// A table of 64 MiB at most: a larger one costs more cache misses than it saves.
constexpr std::uint64_t longest_key = 12;

/// A number for A, C, G and T in this order; 4 for others.
constexpr std::array<std::uint8_t, 256> ranks = [] {
  std::array<std::uint8_t, 256> table;
  table.fill(4);
  table['A'] = 0;
  table['C'] = 1;
  table['G'] = 2;
  table['T'] = 3;
  return table;
}();

/// Letters that distinguish the positions of a text of random letters A, C, G and T.
[[nodiscard]] std::uint64_t letters_for(std::uint64_t symbols) {
  return std::max<std::uint64_t>(1, std::bit_width(symbols) / 2);
}

/// The number of letters in base 4. \return false with letters other than A, C, G and T
[[nodiscard]] bool encode(Letters letters, std::uint64_t& code) {
  code = 0;
  unsigned seen = 0;
  for (const std::uint8_t letter : letters) {
    seen |= ranks[letter];
    code = code << 2 | ranks[letter];
  }
  return seen < 4;
}

/// Words of the filter: 8 to 16 bits for each symbol. Then a window that does not occur passes in
/// 0.6 to 4 % of the cases; a filter of half the size lets 2 to 13 % pass.
[[nodiscard]] std::uint64_t filter_words_for(std::uint64_t symbols) {
  return std::bit_ceil(symbols / 8 + 1);
}

/// Symbols of a task of threads that fill a table.
constexpr std::uint64_t task_symbols = std::uint64_t{1} << 16;

// Entries of a table are fetched for so many symbols at a time, before the first one is changed: an
// atomic operation waits for its entry, and later ones wait for it.
constexpr std::size_t batch_symbols = 32;

// Beyond it, occurrences of a window are not compared one by one.
constexpr std::uint64_t most_compared = 16;

/// The first key that is not less than a suffix: the key of its first letters, or, if another
/// letter is among these, the next key after those that begin with the letters before it and are
/// less.
[[nodiscard]] std::uint64_t first_key_from(Letters suffix, std::uint64_t length) {
  constexpr std::uint8_t acgt[] = {'A', 'C', 'G', 'T'};
  std::uint64_t key = 0;
  for (std::uint64_t i = 0; i < length; ++i) {
    const std::uint8_t letter = i < suffix.size() ? suffix[i] : 0;
    if (const unsigned rank = ranks[letter]; rank < 4) {
      key = key << 2 | rank;
      continue;
    }
    const auto less = static_cast<std::uint64_t>(std::ranges::lower_bound(acgt, letter) - acgt);
    return ((key << 2) + less) << 2 * (length - i - 1);
  }
  return key;
}

}  // namespace

template <class Pos>
std::uint64_t SuffixIndex<Pos>::bytes_of(std::uint64_t symbols) {
  const std::uint64_t keys = std::uint64_t{1} << 2 * std::min(longest_key, letters_for(symbols));
  return (symbols + keys + 1) * sizeof(Pos) + filter_words_for(symbols) * sizeof(std::uint64_t);
}

template <class Pos>
SuffixIndex<Pos>::SuffixIndex(const Context& context, const sequences::Text& reference,
                              std::uint64_t min_length, bool searches, bool filters)
    : reference_(reference.symbols),
      min_length_(min_length),
      key_length_(std::min(longest_key, letters_for(reference_.size()))),
      window_(std::min(min_length, LetterCode::most_letters)),
      filter_words_(filter_words_for(reference_.size())) {
  const std::vector<std::uint64_t> separators = reference.separators();
  suffixes_ = suffix_array::build<Pos>(context, {reference_, separators});
  if (!searches) return;
  PhaseTimer counting(context, "keys");
  require_keys();
  counting.stop();
  if (!filters) return;
  const PhaseTimer filtering(context, "filter");
  require_filter();
}

template <class Pos>
void SuffixIndex<Pos>::require_keys() const {
  std::call_once(has_keys_, [&] {
    // The caller may be one of several threads, for which the host runtime is not.
    const OwnThreads threads(host_threads());
    const std::uint64_t keys = std::uint64_t{1} << 2 * key_length_;
    begins_ = allocate_array<Pos>(keys + 1);
    std::fill_n(begins_.get(), keys + 1, Pos{0});
    for_each_range(reference_.size(), task_symbols,
                   [&](std::uint64_t begin, std::uint64_t end) { count_keys(begin, end); });
    std::partial_sum(begins_.get(), begins_.get() + keys + 1, begins_.get());
  });
}

template <class Pos>
void SuffixIndex<Pos>::require_filter() const {
  std::call_once(has_filter_, [&] {
    // The caller may be one of several threads, for which the host runtime is not.
    const OwnThreads threads(host_threads());
    filter_ = allocate_array<std::uint64_t>(filter_words_);
    std::fill_n(filter_.get(), filter_words_, 0);
    for_each_range(reference_.size(), task_symbols,
                   [&](std::uint64_t begin, std::uint64_t end) { set_windows(begin, end); });
  });
}

/// Counts the suffixes of a range for the first keys that are greater than they are.
template <class Pos>
void SuffixIndex<Pos>::count_keys(std::uint64_t begin, std::uint64_t end) const {
  std::uint64_t key = 0;    // the number of the next key_length_ letters
  std::uint64_t valid = 0;  // letters A, C, G and T from here on
  std::array<std::uint64_t, batch_symbols> keys;
  std::size_t waiting = 0;
  const auto count = [&] {
    for (std::size_t i = 0; i < waiting; ++i)
      std::atomic_ref(begins_[keys[i]]).fetch_add(1, std::memory_order_relaxed);
    waiting = 0;
  };
  for (std::uint64_t i = std::min(end + key_length_, reference_.size()); i-- > begin;) {
    const unsigned rank = ranks[reference_[i]];
    key = (key | std::uint64_t{rank & 3} << 2 * key_length_) >> 2;
    valid = rank < 4 ? valid + 1 : 0;
    if (i >= end) continue;
    const std::uint64_t next =
        valid >= key_length_ ? key + 1 : first_key_from(reference_.subspan(i), key_length_);
    __builtin_prefetch(&begins_[next], 1);
    keys[waiting++] = next;
    if (waiting == batch_symbols) count();
  }
  count();
}

template <class Pos>
void SuffixIndex<Pos>::set_windows(std::uint64_t begin, std::uint64_t end) const {
  if (reference_.size() < window_) return;
  end = std::min(end, reference_.size() - window_ + 1);
  LetterCode code(window_);
  std::array<std::uint64_t, batch_symbols> hashes;
  while (begin < end) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(batch_symbols, end - begin));
    for (std::size_t i = 0; i < size; ++i) {
      hashes[i] = hash_of_code(code.at(reference_.data(), begin + i));
      __builtin_prefetch(word_of(hashes[i]), 1);
    }
    for (std::size_t i = 0; i < size; ++i) {
      const std::atomic_ref word(*word_of(hashes[i]));
      const std::uint64_t mask = mask_of(hashes[i]);
      if ((word.load(std::memory_order_relaxed) & mask) != mask)
        word.fetch_or(mask, std::memory_order_relaxed);
    }
    begin += size;
  }
}

/// How many letters of the query a suffix begins with.
template <class Pos>
std::uint64_t SuffixIndex<Pos>::agree(Pos suffix, Letters query) const {
  return common_prefix(reference_.data() + suffix, query.data(),
                       std::min<std::uint64_t>(reference_.size() - suffix, query.size()));
}

/// The longest prefix of `query` in the reference. The suffix with the longest one is next to the
/// place that the query has among the suffixes.
template <class Pos>
auto SuffixIndex<Pos>::longest_match(Letters query) const -> Longest {
  const std::uint64_t n = reference_.size();
  std::uint64_t low = 0;
  std::uint64_t high = n;
  std::uint64_t key = 0;
  if (query.size() >= key_length_ && encode(query.first(key_length_), key)) {
    low = begins_[key];
    high = begins_[key + 1];
  }
  const std::uint64_t first = low;
  const std::uint64_t last = high;
  std::uint64_t common_low = 0;
  std::uint64_t common_high = 0;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const std::uint64_t suffix = suffixes_[middle];
    std::uint64_t common = std::min(common_low, common_high);
    common += agree(static_cast<Pos>(suffix + common), query.subspan(common));
    const bool is_less = common < query.size() &&
                         (suffix + common == n || reference_[suffix + common] < query[common]);
    (is_less ? low : high) = is_less ? middle + 1 : middle;
    (is_less ? common_low : common_high) = common;
  }
  if (low == first && low > 0) common_low = agree(suffixes_[low - 1], query);
  if (low == last && low < n) common_high = agree(suffixes_[low], query);
  const std::uint64_t length = std::max(common_low, common_high);
  if (length == 0) return {};
  const std::uint64_t at = common_low > common_high ? low - 1 : low;
  Longest longest{length, at, suffixes_[at], common_low != common_high};
  // The neighbour on the other side has fewer letters in common.
  const std::uint64_t next = common_low > common_high ? at - 1 : at + 1;
  if (longest.is_unique && next < n)
    longest.is_unique = agree(suffixes_[next], query.first(length)) < length;
  return longest;
}

template <class Pos>
bool SuffixIndex<Pos>::occurs(Letters letters) const {
  return longest_match(letters).length == letters.size();
}

/// The first position from which the letters up to `end` occur, of those in (first, last].
/// \pre they do not occur from `first` on, but from `last` on
template <class Pos>
std::uint64_t SuffixIndex<Pos>::first_that_occurs(Letters query, std::uint64_t first,
                                                  std::uint64_t last, std::uint64_t end) const {
  const auto occurs_from = [&](std::uint64_t begin) {
    return occurs(query.subspan(begin, end - begin));
  };
  for (std::uint64_t step = 1; last - first > step; step *= 2) {
    if (!occurs_from(last - step)) {
      first = last - step;
      break;
    }
    last -= step;
  }
  while (last - first > 1) {
    const std::uint64_t middle = first + (last - first) / 2;
    (occurs_from(middle) ? last : first) = middle;
  }
  return last;
}

/// The first position after `begin` whose longest match ends after `end`, where that of `begin`
/// does.
template <class Pos>
std::uint64_t SuffixIndex<Pos>::next_begin(Letters query, std::uint64_t begin,
                                           std::uint64_t end) const {
  // Mostly, the key that ends there decides.
  const std::uint64_t last = std::max(begin, end - std::min(end, key_length_)) + 1;
  return occurs(query.subspan(last, end + 1 - last))
             ? first_that_occurs(query, begin, last, end + 1)
             : first_that_occurs(query, last, end + 1, end + 1);
}

template <class Pos>
void SuffixIndex<Pos>::find_unique(Letters query, QueryRange range,
                                   std::vector<Match>& matches) const {
  if (query.size() < min_length_) return;
  require_keys();
  require_filter();
  const std::uint64_t last = std::min(range.end, query.size() - min_length_ + 1);
  // The filter is loaded for several windows at a time, so that their cache misses overlap.
  constexpr std::uint64_t batch = 16;
  std::array<std::uint64_t, batch> hashes;
  LetterCode code(window_);
  std::uint64_t tested = 0;  // end of the windows in `hashes`
  std::uint64_t begin = range.begin;
  while (begin < last) {
    if (begin >= tested) {
      tested = std::min(begin + batch, last);
      for (std::uint64_t i = begin; i < tested; ++i) {
        hashes[i % batch] = hash_of_code(code.at(query.data(), i));
        __builtin_prefetch(word_of(hashes[i % batch]));
      }
    }
    if (!may_occur(hashes[begin % batch]) || query[begin] == unmatched_in_query) {
      ++begin;
      continue;
    }
    const Longest longest = longest_match(query.subspan(begin));
    const std::uint64_t end = begin + longest.length;
    if (longest.is_unique && longest.length >= min_length_ &&
        (begin == 0 || longest.reference == 0 ||
         reference_[longest.reference - 1] != query[begin - 1]))
      matches.push_back({begin, longest.reference, longest.length});
    if (end == query.size()) return;
    if (longest.length < window_) {
      ++begin;
      continue;
    }
    begin = next_window(query, begin, end);
  }
}

/// A position from which the next match of at least a window can begin, where the longest match
/// from `begin` on ends at `end`.
template <class Pos>
std::uint64_t SuffixIndex<Pos>::next_window(Letters query, std::uint64_t begin,
                                            std::uint64_t end) const {
  // The match contains the letter at `end`. Unless it begins within the window that ends there,
  // this window occurs, and is preceded by the letters of the match.
  const std::uint64_t at = end + 1 - window_;
  const Letters window = query.subspan(at, window_);
  LetterCode code(window_);
  if (!may_occur(hash_of_code(code.at(window.data(), 0)))) return at + 1;
  const Longest first = longest_match(window);
  if (first.length < window_) return at + 1;
  std::uint64_t before = 0;
  for (std::uint64_t i = first.entry; i < reference_.size(); ++i) {
    if (i > first.entry && agree(suffixes_[i], window) < window_) break;
    if (i == first.entry + most_compared) return first_that_occurs(query, begin, at, end + 1);
    const std::uint64_t most = std::min<std::uint64_t>(at - begin, suffixes_[i]);
    before = std::max(before, common_suffix(reference_.data() + suffixes_[i], window.data(), most));
  }
  return at - before;
}

template <class Pos>
void SuffixIndex<Pos>::find_statistics(Letters query, QueryRange range,
                                       std::vector<StatisticsRun>& runs) const {
  if (range.begin == range.end) return;
  require_keys();
  std::uint64_t begin = range.begin;
  std::uint64_t length = longest_match(query.subspan(begin)).length;
  while (true) {
    const std::uint64_t end = begin + length;
    std::uint64_t next = range.end;
    if (end < query.size() && begin + 1 < range.end) {
      // Among letters that match by chance, the next position is mostly the next one of interest.
      next = begin + 1;
      length = longest_match(query.subspan(next)).length;
      if (next + length == end) {
        next = std::min(range.end, next_begin(query, next, end));
        if (next < range.end) length = longest_match(query.subspan(next)).length;
      }
    }
    runs.push_back({begin, next, end - begin});
    if (next == range.end) return;
    begin = next;
  }
}

template class SuffixIndex<std::uint32_t>;
template class SuffixIndex<std::uint64_t>;

void keep_unique_in_query(std::vector<Match>& matches) {
  // If the letters of a match occur again in the query, they are part of another match, and its
  // range of the reference contains theirs, which is the only one that they have.
  std::ranges::sort(matches, [](const Match& a, const Match& b) {
    return a.reference != b.reference ? a.reference < b.reference : a.length > b.length;
  });
  std::uint64_t end = 0;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const Match match = matches[i];
    const auto is_same = [&](std::size_t other) {
      return other < matches.size() && matches[other].reference == match.reference &&
             matches[other].length == match.length;
    };
    const bool is_unique = match.reference + match.length > end && !is_same(i + 1);
    end = std::max(end, match.reference + match.length);
    if (is_unique) matches[kept++] = match;
  }
  matches.resize(kept);
  std::ranges::sort(matches);
}

}  // namespace sortie::genome_matches
