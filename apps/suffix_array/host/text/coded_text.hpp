// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "apps/suffix_array/divisibility.hpp"
#include "core/host_memory.hpp"
#include "primitives/simd/vector_unit.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// How often each byte occurs as a letter. Separators are given by position and do not count.
using LetterCounts = std::array<std::uint64_t, 256>;
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

/// Rolls over a text and computes the bucket and the key of every suffix. From one position to the
/// next, all digits of a number move up by one, the first leaves and one enters. Overflows of the
/// 64-bit arithmetic cancel out, because the result is again below the base's power. Long runs of
/// one letter are skipped.
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

/// The codes of a text (0 for the end of a record, 1..sigma for letters) in as few bits each as
/// possible, so that one read gives many symbols of any suffix, and a genome stays in cache.
///
/// Memory: n * bits() / 8 bytes, that is 3/8 of the text for DNA and 9/8 for one of all bytes.
class SymbolStream {
 public:
  /// Packs the text on all host threads. O(n).
  SymbolStream(const TextView& text, const PrefixPlan& plan);
  /// A stream of `size` symbols, not initialised: storage() receives the bytes of another one, or
  /// pack() the symbols.
  SymbolStream(std::uint64_t size, const PrefixPlan& plan);

  /// Packs symbols from `first` on, a multiple of 8, as is their number unless they are the last
  /// ones. On the calling thread; threads may pack ranges of their own at the same time.
  void pack(std::uint64_t first, std::span<const std::uint8_t> symbols, const PrefixPlan& plan);
  /// Marks the separators, after all symbols have been packed.
  void finish(std::span<const std::uint64_t> separators, const PrefixPlan& plan);

  /// All bytes, of which there are bytes().
  [[nodiscard]] std::span<std::byte> storage(const PrefixPlan& plan) {
    return {reinterpret_cast<std::byte*>(bytes_.get()), bytes(size_, plan)};
  }

  [[nodiscard]] int bits() const { return bits_; }
  /// Symbols of a word, which has at least 57 valid bits wherever in a byte a symbol begins.
  [[nodiscard]] int symbols() const { return symbols_; }

  /// Bytes for `size` symbols.
  [[nodiscard]] static std::uint64_t bytes(std::uint64_t size, const PrefixPlan& plan);

  /// The codes of [position, position + symbols()) as one number, first code highest. After the end
  /// of a record come the codes of the next record. position <= n.
  [[nodiscard]] std::uint64_t word(std::uint64_t position) const {
    const std::uint64_t bit = position * static_cast<unsigned>(bits_);
    std::uint64_t packed;
    std::memcpy(&packed, bytes_.get() + bit / 8, sizeof(packed));
    if constexpr (std::endian::native == std::endian::little) packed = __builtin_bswap64(packed);
    return packed << (bit % 8) >> unused_bits_;
  }
  void prefetch(std::uint64_t position) const {
    __builtin_prefetch(bytes_.get() + position * static_cast<unsigned>(bits_) / 8);
  }

  /// True when a symbol of `word` is the end of the record.
  [[nodiscard]] bool contains_end(std::uint64_t word) const { return ends(word) != 0; }
  /// The word with all codes after the first end replaced by 0.
  [[nodiscard]] std::uint64_t until_end(std::uint64_t word) const {
    const std::uint64_t found = ends(word);
    if (found == 0) [[likely]] {
      return word;
    }
    return word & ~((std::uint64_t{2} << (63 - std::countl_zero(found))) - 1);
  }

  /// The code of one symbol.
  [[nodiscard]] std::uint64_t code(std::uint64_t position) const {
    return word(position) >> ((symbols_ - 1) * bits_);
  }
  /// Symbols that two words have in common before an end; symbols() if all agree without an end.
  [[nodiscard]] int common_symbols(std::uint64_t left, std::uint64_t right) const {
    const std::uint64_t stops = (left ^ right) | ends(left);
    return stops == 0 ? symbols_ : (std::countl_zero(stops) - unused_bits_) / bits_;
  }

  /// Writes the codes of [begin, begin + count), less one each, to bytes: letters have 0 ..
  /// sigma - 1, ends any byte. \pre `to` has memory for eight bytes more
  void unpack(std::uint64_t begin, std::uint64_t count, std::uint8_t* to,
              VectorUnit unit = vector_unit()) const;

  /// True when the lowest code of a word is 0: after until_end(), when the word contains an end.
  [[nodiscard]] bool ended(std::uint64_t word) const {
    return (word & ((std::uint64_t{1} << bits_) - 1)) == 0;
  }

 private:
  friend class WordReader;

  /// The highest bit of each code that is 0.
  [[nodiscard]] std::uint64_t ends(std::uint64_t word) const {
    // No carry leaves a code: the sum has the highest bit of a code set if any lower bit of the
    // code is.
    const std::uint64_t others = (word & low_bits_) + low_bits_;
    return ~(others | word) & high_bits_;
  }

  int bits_;
  int symbols_;
  int unused_bits_;
  std::uint64_t high_bits_;        ///< of each code of a word
  std::uint64_t low_bits_;         ///< all others
  std::uint64_t size_;             ///< of the text
  HostArray<std::uint8_t> bytes_;  ///< eight symbols in bits() bytes
};

#ifdef SORTIE_HAVE_VECTOR_UNITS
SORTIE_BEGIN_INTRINSICS

/// Reads words of the stream for eight suffixes at once.
class WordReader {
 public:
  SORTIE_TARGET_AVX512 static __m512i repeated(std::uint64_t number) {
    return _mm512_set1_epi64(static_cast<long long>(number));
  }

  SORTIE_TARGET_AVX512 explicit WordReader(const SymbolStream& stream)
      : bytes_(stream.bytes_.get()),
        size_(repeated(stream.size_)),
        bits_(repeated(static_cast<unsigned>(stream.bits()))),
        unused_bits_(_mm_cvtsi32_si128(stream.unused_bits_)),
        high_bits_(repeated(stream.high_bits_)),
        low_bits_(repeated(stream.low_bits_)) {}

  /// stream.word() in `lanes`, 0 in other lanes; an end for positions beyond the text.
  SORTIE_TARGET_AVX512 [[nodiscard]] __m512i words(__mmask8 lanes, __m512i positions) const {
    const __m512i bit = _mm512_mullo_epi64(_mm512_min_epu64(positions, size_), bits_);
    const __m512i bytes = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), lanes,
                                                      _mm512_srli_epi64(bit, 3), bytes_, 1);
    const __m512i backwards =
        _mm512_broadcast_i32x4(_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    const __m512i first_on_top = _mm512_sllv_epi64(_mm512_shuffle_epi8(bytes, backwards),
                                                   _mm512_and_si512(bit, _mm512_set1_epi64(7)));
    return _mm512_srl_epi64(first_on_top, unused_bits_);
  }

  /// The lanes whose words contain an end.
  SORTIE_TARGET_AVX512 [[nodiscard]] __mmask8 contain_end(__m512i words) const {
    const __m512i others = _mm512_add_epi64(_mm512_and_si512(words, low_bits_), low_bits_);
    return _mm512_test_epi64_mask(_mm512_andnot_si512(_mm512_or_si512(others, words), high_bits_),
                                  high_bits_);
  }

 private:
  const std::uint8_t* bytes_;
  __m512i size_;
  __m512i bits_;
  __m128i unused_bits_;
  __m512i high_bits_;
  __m512i low_bits_;
};

SORTIE_END_INTRINSICS
#endif

}  // namespace sortie::suffix_array::host
