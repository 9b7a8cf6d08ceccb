// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "apps/suffix_array/host/sorts/element_sort.hpp"
#include "apps/suffix_array/host/text/coded_text.hpp"
#include "primitives/simd/vector_unit.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// Scans of sorted elements (coded_text.hpp), eight at a time on processors with AVX-512.

/// Sets bit i where element i has the key of element i - 1, and clears all others.
/// \param key_shift  first bit of the key
/// \param bits       (n + 63) / 64 words
void mark_equal_keys(const std::uint64_t* elements, std::uint64_t n, int key_shift,
                     std::uint64_t* bits, VectorUnit unit = vector_unit());

/// Sets bit i where bit i of `marks` is set and the texts of suffixes i - 1 and i differ in the
/// words that follow plan.depth() symbols, or have an end in them; clears all others. Without
/// AVX-512 it may set the bits of all marks.
///
/// In similar genomes nearly all groups agree in all words and then need no sort.
///
/// \param words  to compare, of stream.symbols() symbols each
/// \param marks  result of mark_equal_keys()
void mark_differing_texts(const SymbolStream& stream, const PrefixPlan& plan, int words,
                          const std::uint64_t* elements, std::uint64_t n,
                          const std::uint64_t* marks, std::uint64_t* differing);

/// Gives n elements new keys: the `symbols` codes that follow `depth` symbols, in stream.bits()
/// bits each, and 0 from the first end on.
/// \param symbols  at most stream.symbols(), and at most what fits in plan.element()
/// \return the bits in which elements differ from the first
std::uint64_t replace_keys(const SymbolStream& stream, const PrefixPlan& plan,
                           std::uint64_t* elements, std::uint64_t n, std::uint64_t depth,
                           int symbols, VectorUnit unit = vector_unit());

/// Writes the positions of n elements, their low bits.
template <Position Pos>
void write_positions(const std::uint64_t* elements, std::uint64_t n, int position_bits,
                     Pos* positions, VectorUnit unit = vector_unit());

/// Sorts groups of suffixes that agree in some symbols by the next words of the text, up to
/// depth_limit() symbols, while the elements and these words are in cache.
///
/// Works on the elements (coded_text.hpp) of one thread. The words of all members of a group are
/// read together: the reads of one round are independent of each other, and the next round reads
/// the same cache lines.
class TextRounds {
 public:
  /// \param scratch  used to sort large groups
  TextRounds(const SymbolStream& stream, const PrefixPlan& plan, std::span<std::uint64_t> scratch)
      : TextRounds(stream, plan, scratch, depth_limit(plan, stream)) {}
  /// With another limit.
  TextRounds(const SymbolStream& stream, const PrefixPlan& plan, std::span<std::uint64_t> scratch,
             std::uint64_t limit)
      : stream_(stream),
        plan_(plan),
        depth_limit_(limit),
        scratch_(scratch),
        rekeyed_symbols_(std::min(stream.symbols(), (64 - plan.position_bits) / stream.bits())) {}

  /// Words that are compared after the first sort. Three cover some 80 symbols of a genome, in one
  /// or two cache lines of the stream. With five, four genomes of S. aureus take a fifth more time,
  /// since nearly all their suffixes stay in groups; with two, Fibonacci strings take more time,
  /// since the number of samples (samples.hpp) falls with the number of symbols that the suffixes
  /// agree in.
  static constexpr int rounds = 3;

  /// Symbols in which the suffixes of the groups that are left agree, without an end.
  [[nodiscard]] static std::uint64_t depth_limit(const PrefixPlan& plan,
                                                 const SymbolStream& stream) {
    return plan.depth() + static_cast<std::uint64_t>(rounds * stream.symbols());
  }

  /// Prefetches all words of a suffix, which lie in one or two cache lines.
  void prefetch(std::uint64_t position) const {
    stream_.prefetch(position + plan_.depth());
    stream_.prefetch(position + depth_limit_);
  }

  /// Sorts the group [begin, end) of `elements`, at least two, whose suffixes agree in `depth`
  /// symbols without an end. Afterwards only the positions of the elements are valid.
  ///
  /// \param leave  called with (begin, end) for every part whose suffixes agree in depth_limit()
  ///               symbols, without an end
  template <class Leave>
  void sort(std::uint64_t* elements, std::uint64_t begin, std::uint64_t end, std::uint64_t depth,
            const Leave& leave) const {
    if (end - begin == 2) {
      sort_pair(elements, begin, depth, leave);
    } else if (end - begin <= most_small) {
      sort_small(elements, begin, end, depth, leave);
    } else {
      sort_large(elements, begin, end, depth, leave);
    }
  }

 private:
  /// Largest group whose words are held in an array of their own.
  static constexpr std::uint64_t most_small = 16;

  [[nodiscard]] std::uint64_t word(std::uint64_t element, std::uint64_t depth) const {
    return stream_.word(plan_.position_of(element) + depth);
  }
  [[nodiscard]] std::uint64_t step() const { return static_cast<std::uint64_t>(stream_.symbols()); }

  template <class Leave>
  void sort_pair(std::uint64_t* elements, std::uint64_t begin, std::uint64_t depth,
                 const Leave& leave) const {
    for (; depth < depth_limit_; depth += step()) {
      std::uint64_t left = word(elements[begin], depth);
      std::uint64_t right = word(elements[begin + 1], depth);
      if (left == right && !stream_.contains_end(left)) continue;
      left = stream_.until_end(left);
      right = stream_.until_end(right);
      const bool by_position =
          plan_.position_of(elements[begin + 1]) < plan_.position_of(elements[begin]);
      if (right < left || (right == left && by_position)) {
        std::swap(elements[begin], elements[begin + 1]);
      }
      return;
    }
    leave(begin, begin + 2);
  }

  template <class Leave>
  void sort_small(std::uint64_t* elements, std::uint64_t begin, std::uint64_t end,
                  std::uint64_t depth, const Leave& leave) const {
    std::array<std::uint64_t, most_small> words;
    const std::uint64_t size = end - begin;
    for (; depth < depth_limit_; depth += step()) {
      bool equal = true;
      for (std::uint64_t i = 0; i < size; ++i) {
        words[i] = word(elements[begin + i], depth);
        equal &= words[i] == words[0];
      }
      if (equal && !stream_.contains_end(words[0])) continue;
      for (std::uint64_t i = 0; i < size; ++i) words[i] = stream_.until_end(words[i]);
      insert(words.data(), elements + begin, size);
      for (std::uint64_t first = 0; first < size;) {
        std::uint64_t last = first + 1;
        while (last < size && words[last] == words[first]) ++last;
        if (last - first > 1 && !stream_.ended(words[first])) {
          sort(elements, begin + first, begin + last, depth + step(), leave);
        }
        first = last;
      }
      return;
    }
    leave(begin, end);
  }

  /// Sorts by word, then position.
  void insert(std::uint64_t* words, std::uint64_t* elements, std::uint64_t n) const {
    for (std::uint64_t i = 1; i < n; ++i) {
      const std::uint64_t word = words[i];
      const std::uint64_t element = elements[i];
      const std::uint64_t position = plan_.position_of(element);
      std::uint64_t to = i;
      for (; to > 0; --to) {
        const std::uint64_t before = words[to - 1];
        if (before < word || (before == word && plan_.position_of(elements[to - 1]) < position)) {
          break;
        }
        words[to] = before;
        elements[to] = elements[to - 1];
      }
      words[to] = word;
      elements[to] = element;
    }
  }

  /// Replaces the keys by the next symbols and sorts the elements as the first sort does.
  template <class Leave>
  void sort_large(std::uint64_t* elements, std::uint64_t begin, std::uint64_t end,
                  std::uint64_t depth, const Leave& leave) const {
    const auto symbols = static_cast<std::uint64_t>(rekeyed_symbols_);
    for (; depth < depth_limit_; depth += symbols) {
      const std::uint64_t differing =
          replace_keys(stream_, plan_, elements + begin, end - begin, depth, rekeyed_symbols_);
      const bool equal = plan_.key_of(differing) == 0;
      if (equal && !stream_.ended(plan_.key_of(elements[begin]))) continue;
      sort_elements(elements + begin, end - begin, scratch_, plan_.position_bits);
      for (std::uint64_t first = begin; first < end;) {
        const std::uint64_t key = plan_.key_of(elements[first]);
        const std::uint64_t last = end_of_key(elements, first, end);
        if (last - first > 1) {
          if (stream_.ended(key)) {
            sort_elements(elements + first, last - first, scratch_);
          } else {
            sort(elements, first, last, depth + symbols, leave);
          }
        }
        first = last;
      }
      return;
    }
    leave(begin, end);
  }

  /// The first element in [first, end) with another key than `first`, by galloping search: groups
  /// are long in texts of few distinct words.
  [[nodiscard]] std::uint64_t end_of_key(const std::uint64_t* elements, std::uint64_t first,
                                         std::uint64_t end) const {
    const std::uint64_t key = plan_.key_of(elements[first]);
    std::uint64_t equal = first;
    std::uint64_t step = 1;
    for (; equal + step < end && plan_.key_of(elements[equal + step]) == key; step *= 2) {
      equal += step;
    }
    const std::uint64_t* const other =
        std::partition_point(elements + equal + 1, elements + std::min(equal + step, end),
                             [&](std::uint64_t element) { return plan_.key_of(element) == key; });
    return static_cast<std::uint64_t>(other - elements);
  }

  const SymbolStream& stream_;
  PrefixPlan plan_;
  std::uint64_t depth_limit_;
  std::span<std::uint64_t> scratch_;
  int rekeyed_symbols_;
};

}  // namespace sortie::suffix_array::host
