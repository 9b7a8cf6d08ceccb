// SPDX-License-Identifier: Apache-2.0
#include "sortie/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "sortie/error.hpp"

namespace sortie::sequences {
namespace {

using Table = std::array<std::uint8_t, 256>;

constexpr Table make_table(bool rna) {
  constexpr std::string_view from = "ACGTURYSWKMBDHVN";
  constexpr std::string_view to = "TGCAAYRSWMKVHDBN";
  Table table{};
  for (std::size_t i = 0; i < from.size(); ++i) {
    const char result = rna && from[i] == 'A' ? 'U' : to[i];
    constexpr int lower = 'a' - 'A';
    table[static_cast<std::uint8_t>(from[i])] = static_cast<std::uint8_t>(result);
    table[static_cast<std::uint8_t>(from[i] + lower)] = static_cast<std::uint8_t>(result + lower);
  }
  table['-'] = '-';
  return table;
}

constexpr Table dna_table = make_table(false);
constexpr Table rna_table = make_table(true);

void require_nucleotides(const Text& text) {
  for (std::size_t i = 0; i < text.records.size(); ++i) {
    const Record& record = text.records[i];
    const auto begin = text.symbols.begin() + static_cast<std::ptrdiff_t>(record.offset);
    const auto end = begin + static_cast<std::ptrdiff_t>(record.length);
    const auto fault =
        std::find_if(begin, end, [](std::uint8_t symbol) { return dna_table[symbol] == 0; });
    if (fault == end) continue;
    throw Error(ErrorKind::input,
                fmt::format("reverse complement, record {} ({}), offset {}: found {}, expected a "
                            "nucleotide",
                            i + 1, sortie::quoted(record.name), fault - begin,
                            sortie::quoted(std::string(1, static_cast<char>(*fault)))));
  }
}

std::string marked(const std::string& name) {
  const std::size_t end = std::min(name.find_first_of(" \t"), name.size());
  return name.substr(0, end) + std::string(reverse_complement_mark) + name.substr(end);
}

}  // namespace

std::uint8_t complement(std::uint8_t symbol, bool rna) {
  return rna ? rna_table[symbol] : dna_table[symbol];
}

void append_reverse_complements(Text& text) {
  require_nucleotides(text);
  const auto counts = histogram(text);
  const bool rna = counts['U'] + counts['u'] != 0 && counts['T'] + counts['t'] == 0;
  const Table& table = rna ? rna_table : dna_table;
  const std::size_t records = text.records.size();
  if (records == 0) return;
  const std::size_t size = text.symbols.size();
  text.symbols.resize(2 * size + 1, Text::separator);
  // Record i of the copy has the same relative offset as record i, so the separators do as well.
  for (std::size_t i = 0; i < records; ++i) {
    const Record& record = text.records[i];
    const std::uint8_t* forward = text.symbols.data() + record.offset;
    std::uint8_t* reverse = text.symbols.data() + size + 1 + record.offset;
    for (std::uint64_t at = 0; at < record.length; ++at) {
      reverse[at] = table[forward[record.length - 1 - at]];
    }
  }
  for (std::size_t i = 0; i < records; ++i) {
    const Record record = text.records[i];
    text.records.push_back({marked(record.name), size + 1 + record.offset, record.length});
  }
}

}  // namespace sortie::sequences
