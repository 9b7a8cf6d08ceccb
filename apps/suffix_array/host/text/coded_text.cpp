// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/host/text/coded_text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "primitives/host/packed_codes.hpp"
#include "primitives/host/parallel.hpp"
#include "primitives/simd/vector_unit.hpp"

namespace sortie::suffix_array::host {
namespace {

/// A bucket and its scratch just fit in an L1 cache of 48 KiB: sorting 2800 elements of DNA takes 6
/// ns each, 4500 take 11, 17 000 (chrX) 14. The write positions of all buckets, a cache line each,
/// fit in L2.
constexpr double wanted_bucket = 3072;
constexpr std::uint64_t most_buckets = std::uint64_t{1} << 17;

/// Valid bits of a word at least, wherever in a byte its first symbol begins.
constexpr int sure_bits = 57;

int bits_for(const PrefixPlan& plan) {
  return std::max(1, static_cast<int>(std::bit_width(static_cast<unsigned>(plan.sigma))));
}

}  // namespace

LetterCounts count_letters(const TextView& text) {
  const EqualShares chunks = thread_shares(text.size());
  // Eight counters for each byte value, so that a run of one letter is not a chain of dependent
  // additions.
  constexpr std::uint64_t ways = 8;
  std::vector<std::array<LetterCounts, ways>> counted(chunks.count);
  for_each_share(chunks, [&](std::uint64_t chunk, std::uint64_t begin, std::uint64_t end) {
    std::array<LetterCounts, ways>& counts = counted[chunk];
    std::uint64_t i = begin;
    for (; i + ways <= end; i += ways) {
      std::uint64_t symbols;
      std::memcpy(&symbols, text.symbols.data() + i, sizeof(symbols));
      for (std::uint64_t way = 0; way < ways; ++way) ++counts[way][symbols >> (8 * way) & 0xFF];
    }
    for (; i < end; ++i) ++counts[0][text.symbols[i]];
  });
  LetterCounts sum{};
  for (const auto& chunk : counted) {
    for (const LetterCounts& way : chunk) {
      for (std::size_t byte = 0; byte < sum.size(); ++byte) sum[byte] += way[byte];
    }
  }
  for (const std::uint64_t separator : text.separators) --sum[text.symbols[separator]];
  return sum;
}

PrefixPlan plan_prefixes(const LetterCounts& counts, std::uint64_t size) {
  PrefixPlan plan;
  const double letters_in_all = std::accumulate(counts.begin(), counts.end(), 0.0);
  double entropy = 0;
  for (std::size_t byte = 0; byte < counts.size(); ++byte) {
    if (counts[byte] == 0) continue;
    plan.code[byte] = static_cast<std::uint16_t>(++plan.sigma);
    const double share = static_cast<double>(counts[byte]) / letters_in_all;
    plan.share[plan.code[byte]] = share;
    entropy -= share * std::log2(share);
  }
  plan.base = static_cast<std::uint64_t>(std::max(plan.sigma + 1, 2));
  plan.base_test = DivisibilityTest(plan.base);
  plan.position_bits = static_cast<int>(std::bit_width(size));

  // The number of equally frequent letters that would distribute suffixes as evenly.
  const double letters = std::exp2(entropy);
  // Keeps the table of buckets smaller than the text.
  const std::uint64_t limit = std::min(most_buckets, size / 8) / plan.base;
  plan.buckets = plan.base;
  for (double bucket = static_cast<double>(size) / letters;
       bucket > wanted_bucket && plan.buckets <= limit; bucket /= letters) {
    plan.buckets *= plan.base;
    ++plan.bucket_symbols;
  }
  const std::uint64_t greatest_key = ~std::uint64_t{0} >> plan.position_bits;
  plan.key_end = plan.base;
  while (plan.key_end <= greatest_key / plan.base) {
    plan.key_end *= plan.base;
    ++plan.key_symbols;
  }
  return plan;
}

std::uint64_t SymbolStream::bytes(std::uint64_t size, const PrefixPlan& plan) {
  // A word may be read at the end of the text.
  const std::uint64_t groups = size / codes_in_group + 1;
  return groups * static_cast<unsigned>(bits_for(plan)) + 2 * sizeof(std::uint64_t);
}

SymbolStream::SymbolStream(std::uint64_t size, const PrefixPlan& plan)
    : bits_(bits_for(plan)),
      symbols_(sure_bits / bits_),
      unused_bits_(64 - symbols_ * bits_),
      high_bits_(0),
      low_bits_(0),
      size_(size),
      bytes_(allocate_array<std::uint8_t>(bytes(size, plan))) {
  for (int i = 0; i < symbols_; ++i) high_bits_ |= std::uint64_t{1} << ((i + 1) * bits_ - 1);
  low_bits_ = (~std::uint64_t{0} >> unused_bits_) & ~high_bits_;
}

SymbolStream::SymbolStream(const TextView& text, const PrefixPlan& plan)
    : SymbolStream(text.size(), plan) {
  const std::uint64_t groups = (text.size() + codes_in_group - 1) / codes_in_group;
  for_each_share(thread_shares(groups), [&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t first = begin * codes_in_group;
    const std::uint64_t last = std::min(text.size(), end * codes_in_group);
    pack(first, text.symbols.subspan(first, last - first), plan);
  });
  finish(text.separators, plan);
}

void SymbolStream::pack(std::uint64_t first, std::span<const std::uint8_t> symbols,
                        const PrefixPlan& plan) {
  const auto bits = static_cast<unsigned>(bits_);
  pack_codes(symbols, plan.code, bits, bytes_.get() + first / codes_in_group * bits);
}

void SymbolStream::finish(std::span<const std::uint64_t> separators, const PrefixPlan& plan) {
  const auto bits = static_cast<unsigned>(bits_);
  std::uint8_t* const stream = bytes_.get();
  const std::uint64_t packed = (size_ + codes_in_group - 1) / codes_in_group * bits;
  std::fill_n(stream + packed, bytes(size_, plan) - packed, std::uint8_t{0});

  // Separators become 0 afterwards, since the byte of a separator may be a letter elsewhere.
  for (const std::uint64_t separator : separators) {
    for (std::uint64_t bit = separator * bits; bit < (separator + 1) * bits; ++bit) {
      stream[bit / 8] &= static_cast<std::uint8_t>(~(0x80U >> (bit % 8)));
    }
  }
}

#ifdef SORTIE_HAVE_VECTOR_UNITS
SORTIE_BEGIN_INTRINSICS

namespace {

/// Writes `step` codes, less one each, of every word.
SORTIE_TARGET_AVX512 void unpack_avx512(const SymbolStream& stream, std::uint64_t begin,
                                        std::uint64_t count, std::uint64_t step,
                                        const std::uint64_t* shifts, std::uint8_t* to) {
  const __m512i places = _mm512_loadu_si512(shifts);
  const __m512i mask = WordReader::repeated((std::uint64_t{1} << stream.bits()) - 1);
  const __m512i one = _mm512_set1_epi64(1);
  for (std::uint64_t i = 0; i < count; i += step) {
    const __m512i word = WordReader::repeated(stream.word(begin + i));
    const __m512i codes = _mm512_and_si512(_mm512_srlv_epi64(word, places), mask);
    const __m128i bytes = _mm512_cvtepi64_epi8(_mm512_sub_epi64(codes, one));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to + i), bytes);
  }
}

}  // namespace

SORTIE_END_INTRINSICS
#endif

void SymbolStream::unpack(std::uint64_t begin, std::uint64_t count, std::uint8_t* to,
                          [[maybe_unused]] VectorUnit unit) const {
  constexpr std::size_t at_once = 8;
  const std::uint64_t step = std::min<std::uint64_t>(static_cast<unsigned>(symbols_), at_once);
  std::array<std::uint64_t, at_once> shifts{};
  for (std::uint64_t i = 0; i < step; ++i)
    shifts[i] = (static_cast<unsigned>(symbols_) - 1 - i) * static_cast<unsigned>(bits_);
#ifdef SORTIE_HAVE_VECTOR_UNITS
  if (unit == VectorUnit::avx512)
    return unpack_avx512(*this, begin, count, step, shifts.data(), to);
#endif
  const std::uint64_t mask = (std::uint64_t{1} << bits_) - 1;
  for (std::uint64_t i = 0; i < count; i += step) {
    const std::uint64_t symbols = word(begin + i);
    for (std::size_t j = 0; j < step; ++j)
      to[i + j] = static_cast<std::uint8_t>((symbols >> shifts[j] & mask) - 1);
  }
}

}  // namespace sortie::suffix_array::host
