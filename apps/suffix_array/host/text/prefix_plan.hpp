// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "apps/suffix_array/divisibility.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// How often each byte occurs as a letter. Separators are given by position and do not count.
using LetterCounts = std::array<std::uint64_t, 256>;

/// Counts on all host threads. O(n).
[[nodiscard]] LetterCounts count_letters(const TextView& text);

/// The plan of the first sort: how the first symbols of a suffix become bucket and key.
///
/// Letters have the codes 1..sigma in byte order, the end of a record has 0, and so have all
/// positions after it. The first `bucket_symbols` codes, as a number in base sigma + 1, are the
/// bucket of the suffix; the next `key_symbols` are its key. Bucket and key compare as the suffixes
/// do in their first depth() symbols.
///
/// An **element** is one 64-bit number: the key above the position. Elements of a bucket are sorted
/// as plain numbers in a single array, one word an item, and equal keys come out by position, which
/// is the final order if the record ends within them.
struct PrefixPlan {
  std::array<std::uint16_t, 256> code{};
  int sigma = 0;
  std::uint64_t base = 2;           ///< sigma + 1, at least 2
  int bucket_symbols = 1;           ///< at least 1
  std::uint64_t buckets = 2;        ///< base ^ bucket_symbols
  int key_symbols = 1;              ///< at least 1
  std::uint64_t key_end = 2;        ///< base ^ key_symbols
  int position_bits = 1;            ///< low bits of an element
  std::array<double, 257> share{};  ///< relative frequency of each code
  DivisibilityTest base_test{2};    ///< of base

  [[nodiscard]] std::uint64_t depth() const {
    return static_cast<std::uint64_t>(bucket_symbols + key_symbols);
  }
  [[nodiscard]] std::uint64_t element(std::uint64_t key, std::uint64_t position) const {
    return key << position_bits | position;
  }
  [[nodiscard]] std::uint64_t position_of(std::uint64_t element) const {
    return element & ((std::uint64_t{1} << position_bits) - 1);
  }
  [[nodiscard]] std::uint64_t key_of(std::uint64_t element) const {
    return element >> position_bits;
  }
  /// True when the record ends within depth() symbols; `key` belongs to a suffix that begins with a
  /// letter.
  [[nodiscard]] bool contains_end(std::uint64_t key) const { return base_test.divides(key); }
  /// The bucket and the key of depth() equal letters.
  [[nodiscard]] std::uint64_t run_bucket(std::uint64_t letter_code) const {
    return letter_code * ((buckets - 1) / (base - 1));
  }
  [[nodiscard]] std::uint64_t run_key(std::uint64_t letter_code) const {
    return letter_code * ((key_end - 1) / (base - 1));
  }
};

/// Chooses bucket and key sizes. \param size  symbols of the text, at least 1
[[nodiscard]] PrefixPlan plan_prefixes(const LetterCounts& counts, std::uint64_t size);

/// Rolls over a text and computes the bucket and the key of every suffix (prefix_plan.hpp).
///
/// From one position to the next, all digits of a number move up by one, the first leaves and one
/// enters. Overflows of the 64-bit arithmetic cancel out, because the result is again below the
/// base's power. Long runs of one letter are skipped.
class PrefixRoll {
 public:
  explicit PrefixRoll(const PrefixPlan& plan) : plan_(plan) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint64_t code = plan.code[byte];
      leaving_bucket_[byte] = code * plan.buckets;
      leaving_key_[byte] = code * plan.key_end;
      run_key_[byte] = code == 0 ? no_key : plan.run_key(code);
    }
  }

  /// Visits [begin, end), separators included.
  ///
  /// visit(position, bucket, key)  for suffixes that do not begin with depth() equal letters
  /// visit_run(first, last, end_of_run)  for all others: ranges [first, last) of positions within
  /// one run, which ends at `end_of_run`
  template <class Visit, class VisitRun>
  void for_each(const TextView& text, std::uint64_t begin, std::uint64_t end, const Visit& visit,
                const VisitRun& visit_run) const {
    auto separator = std::lower_bound(text.separators.begin(), text.separators.end(), begin);
    while (begin < end) {
      const std::uint64_t record_end =
          separator == text.separators.end() ? text.size() : *separator++;
      const std::uint8_t* symbols = text.symbols.data();
      const std::uint64_t piece_end = std::min(record_end, end);
      while (begin < piece_end) {
        begin = roll(symbols, begin, piece_end, record_end, visit);
        if (begin == piece_end) break;
        const std::uint64_t run_end = end_of_run(symbols, begin, record_end);
        const std::uint64_t last = std::min(piece_end, run_end - plan_.depth() + 1);
        visit_run(begin, last, run_end);
        begin = last;
      }
      if (piece_end < end) visit(piece_end, std::uint64_t{0}, std::uint64_t{0});
      begin = piece_end + 1;
    }
  }

 private:
  static constexpr std::uint64_t no_key = ~std::uint64_t{0};

  /// The codes of [begin, begin + count) as one number, with 0 from record_end on.
  [[nodiscard]] std::uint64_t pack(const std::uint8_t* symbols, std::uint64_t begin, int count,
                                   std::uint64_t record_end) const {
    std::uint64_t number = 0;
    for (int i = 0; i < count; ++i, ++begin) {
      number = number * plan_.base + (begin < record_end ? plan_.code[symbols[begin]] : 0);
    }
    return number;
  }

  /// \return the first position of a long run, or `end`
  template <class Visit>
  std::uint64_t roll(const std::uint8_t* symbols, std::uint64_t position, std::uint64_t end,
                     std::uint64_t record_end, const Visit& visit) const {
    const std::uint64_t base = plan_.base;
    const auto to_key = static_cast<std::uint64_t>(plan_.bucket_symbols);
    const std::uint64_t depth = plan_.depth();
    std::uint64_t bucket = pack(symbols, position, plan_.bucket_symbols, record_end);
    std::uint64_t key = pack(symbols, position + to_key, plan_.key_symbols, record_end);
    const std::uint64_t full_end = record_end > depth ? std::min(end, record_end - depth) : 0;
    for (; position < full_end; ++position) {
      const std::uint8_t first = symbols[position];
      const std::uint8_t first_of_key = symbols[position + to_key];
      if (key == run_key_[first] && is_run(bucket, first)) [[unlikely]] {
        return position;
      }
      visit(position, bucket, key);
      bucket = bucket * base + (plan_.code[first_of_key] - leaving_bucket_[first]);
      key = key * base + (plan_.code[symbols[position + depth]] - leaving_key_[first_of_key]);
    }
    // Near the end of the record: zeros enter.
    for (; position < end; ++position) {
      const std::uint8_t first = symbols[position];
      if (key == run_key_[first] && is_run(bucket, first)) return position;
      visit(position, bucket, key);
      bucket = bucket * base - leaving_bucket_[first];
      key = key * base;
      if (position + to_key < record_end) {
        const std::uint8_t first_of_key = symbols[position + to_key];
        bucket += plan_.code[first_of_key];
        key -= leaving_key_[first_of_key];
      }
    }
    return end;
  }

  [[nodiscard]] bool is_run(std::uint64_t bucket, std::uint8_t letter) const {
    return bucket == plan_.run_bucket(plan_.code[letter]);
  }

  [[nodiscard]] static std::uint64_t end_of_run(const std::uint8_t* symbols, std::uint64_t begin,
                                                std::uint64_t record_end) {
    // Compares two overlapping ranges, shifted by one: they are equal if and only if all letters
    // are.
    constexpr std::uint64_t step = 256;
    std::uint64_t end = begin + 1;
    while (end + step <= record_end && std::memcmp(symbols + end - 1, symbols + end, step) == 0) {
      end += step;
    }
    while (end < record_end && symbols[end] == symbols[begin]) ++end;
    return end;
  }

  PrefixPlan plan_;
  std::array<std::uint64_t, 256> leaving_bucket_{};
  std::array<std::uint64_t, 256> leaving_key_{};
  std::array<std::uint64_t, 256> run_key_{};
};

}  // namespace sortie::suffix_array::host
