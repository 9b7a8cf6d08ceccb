// SPDX-License-Identifier: Apache-2.0
#include <divsufsort.h>
#include <divsufsort64.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "core/host_memory.hpp"
#include "sortie/error.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::baselines {

namespace {

// libdivsufsort takes signed positions; C++ allows access to an unsigned integer through the signed
// type of the same width. Texts that 31 bits cannot address use its 64-bit version.

std::vector<std::uint64_t> sort_wide(std::span<const std::uint8_t> symbols) {
  std::vector<std::uint64_t> suffixes(symbols.size());
  if (divsufsort64(symbols.data(), reinterpret_cast<saidx64_t*>(suffixes.data()),
                   static_cast<saidx64_t>(symbols.size())) != 0) {
    throw Error(ErrorKind::out_of_memory, "suffix array: libdivsufsort ran out of memory");
  }
  return suffixes;
}

template <Position Pos>
std::vector<Pos> sort_bytes(std::span<const std::uint8_t> symbols) {
  if constexpr (sizeof(Pos) == 8) {
    return sort_wide(symbols);
  } else {
    if (symbols.size() > static_cast<std::size_t>(std::numeric_limits<saidx_t>::max())) {
      const std::vector<std::uint64_t> wide = sort_wide(symbols);
      std::vector<Pos> suffixes(wide.size());
      std::transform(wide.begin(), wide.end(), suffixes.begin(),
                     [](std::uint64_t position) { return static_cast<Pos>(position); });
      return suffixes;
    }
    std::vector<Pos> suffixes(symbols.size());
    if (divsufsort(symbols.data(), reinterpret_cast<saidx_t*>(suffixes.data()),
                   static_cast<saidx_t>(symbols.size())) != 0) {
      throw Error(ErrorKind::out_of_memory, "suffix array: libdivsufsort ran out of memory");
    }
    return suffixes;
  }
}

/// A text of several records, recoded so that plain suffix sorting gives the order of TextView.
///
/// Record ends, the end of the text included, are numbered from 0 and written as big-endian numbers
/// of `width` digits. The digits are the bytes 0 .. digits - 1, the letters the bytes above. So an
/// end sorts before every letter, ends sort by position, and no comparison passes an end.
struct EncodedText {
  std::vector<std::uint8_t> symbols;
  std::vector<std::uint64_t> ends;  ///< start of each encoded record end within `symbols`
  std::uint64_t width = 1;          ///< bytes of a record end
};

/// The letters of a text, numbered from 0 in the order of bytes.
struct Letters {
  std::array<std::uint8_t, 256> number{};
  std::uint64_t count = 0;

  explicit Letters(const TextView& text) {
    // Separators may carry a byte that is a letter elsewhere, so letters are counted, not marked.
    std::array<std::uint64_t, 256> occurrences{};
    for (const std::uint8_t symbol : text.symbols) ++occurrences[symbol];
    for (const std::uint64_t separator : text.separators) --occurrences[text.symbols[separator]];
    for (std::size_t byte = 0; byte < occurrences.size(); ++byte) {
      if (occurrences[byte] != 0) number[byte] = static_cast<std::uint8_t>(count++);
    }
  }
};

EncodedText encode(const TextView& text) {
  const Letters letters(text);
  const std::uint64_t digits = 256 - letters.count;
  const std::uint64_t ends = text.separators.size() + 1;
  if (digits < 2) {
    throw Error(ErrorKind::usage,
                fmt::format("suffix array by libdivsufsort: found {} records and {} letters, "
                            "expected at most 254 letters when there are many records",
                            ends, letters.count));
  }
  EncodedText encoded;
  for (std::uint64_t numbers = digits; numbers < ends; numbers *= digits) ++encoded.width;
  encoded.symbols.reserve(text.size() + 1 + ends * (encoded.width - 1));
  encoded.ends.reserve(ends);

  std::uint64_t position = 0;
  for (std::uint64_t number = 0; number < ends; ++number) {
    const std::uint64_t end = number + 1 < ends ? text.separators[number] : text.size();
    for (; position < end; ++position) {
      encoded.symbols.push_back(
          static_cast<std::uint8_t>(digits + letters.number[text.symbols[position]]));
    }
    position = end + 1;  // skips the separator
    encoded.ends.push_back(encoded.symbols.size());
    encoded.symbols.resize(encoded.symbols.size() + encoded.width);
    std::uint64_t rest = number;
    for (std::uint64_t i = 1; i <= encoded.width; ++i, rest /= digits) {
      encoded.symbols[encoded.symbols.size() - i] = static_cast<std::uint8_t>(rest % digits);
    }
  }
  return encoded;
}

/// Drops the suffixes that start inside an encoded end and the end of the text, and converts the
/// others to positions of the text.
template <Position Pos>
std::vector<Pos> decode(const EncodedText& encoded, std::vector<Pos> suffixes) {
  if (encoded.width == 1) {
    // Every byte encodes one symbol. The ends are the first entries; the end of the text is the
    // last of them.
    suffixes.erase(suffixes.begin() + static_cast<std::ptrdiff_t>(encoded.ends.size() - 1));
    return suffixes;
  }
  const auto kept = [&](Pos& position) {
    const auto next = std::upper_bound(encoded.ends.begin(), encoded.ends.end(), position);
    const auto ends_before = static_cast<std::uint64_t>(next - encoded.ends.begin());
    const std::uint64_t from_end = ends_before == 0 ? encoded.width : position - *(next - 1);
    if (from_end > 0 && from_end < encoded.width) return false;
    if (position == encoded.ends.back()) return false;
    const std::uint64_t whole_ends = from_end == 0 ? ends_before - 1 : ends_before;
    position = static_cast<Pos>(position - whole_ends * (encoded.width - 1));
    return true;
  };
  std::erase_if(suffixes, [&](Pos& position) { return !kept(position); });
  return suffixes;
}

}  // namespace

/// libdivsufsort, sequential. A text with separators is recoded, so that separators become ascending
/// numbers below all letters.
/// \throws Error (usage) separators and more than 254 distinct letters
template <Position Pos>
std::vector<Pos> build_divsufsort(const Context& context, const TextView& text) {
  require_memory(context, "suffix array by libdivsufsort", text.size() * (sizeof(Pos) + 1));
  if (text.separators.empty()) return sort_bytes<Pos>(text.symbols);
  const EncodedText encoded = encode(text);
  if (encoded.symbols.size() > std::numeric_limits<Pos>::max()) {
    throw Error(
        ErrorKind::usage,
        fmt::format("suffix array by libdivsufsort: found a text of {} bytes after "
                    "encoding, expected at most {} for {}-bit positions",
                    encoded.symbols.size(), std::numeric_limits<Pos>::max(), 8 * sizeof(Pos)));
  }
  return decode(encoded, sort_bytes<Pos>(encoded.symbols));
}

template std::vector<std::uint32_t> build_divsufsort(const Context&, const TextView&);
template std::vector<std::uint64_t> build_divsufsort(const Context&, const TextView&);

}  // namespace sortie::suffix_array::baselines
