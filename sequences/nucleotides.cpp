// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "sortie/error.hpp"
#include "sortie/text.hpp"

namespace sortie::sequences {
namespace {

using Table = std::array<std::uint8_t, 256>;

/// Maps letters, in upper and lower case, to others of the same case, and all other symbols to 0.
constexpr Table make_table(std::string_view from, std::string_view to) {
  Table table{};
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (const int lower : {0, 'a' - 'A'}) {
      table[static_cast<std::uint8_t>(from[i] + lower)] = static_cast<std::uint8_t>(to[i] + lower);
    }
  }
  return table;
}

constexpr Table make_complement_table(std::string_view complements) {
  Table table = make_table("ACGTURYSWKMBDHVN", complements);
  table['-'] = '-';
  return table;
}

constexpr Table base_table = make_table("ACGTU", "ACGTU");
constexpr Table dna_table = make_complement_table("TGCAAYRSWMKVHDBN");
constexpr Table rna_table = make_complement_table("UGCAAYRSWMKVHDBN");

/// In the order of the enum.
constexpr std::array<std::string_view, 3> ambiguity_names = {"keep", "unify", "separate"};

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

std::string_view name(Ambiguity ambiguity) {
  return ambiguity_names.at(static_cast<std::size_t>(ambiguity));
}

Ambiguity parse_ambiguity(std::string_view text) {
  const auto found = std::find(ambiguity_names.begin(), ambiguity_names.end(), text);
  if (found != ambiguity_names.end())
    return static_cast<Ambiguity>(found - ambiguity_names.begin());
  throw Error(ErrorKind::usage, fmt::format("ambiguity: found {}, expected keep, unify or separate",
                                            sortie::quoted(text)));
}

bool is_base(std::uint8_t symbol) {
  return base_table[symbol] != 0;
}

void unify_ambiguous(std::span<std::uint8_t> symbols) {
  for (std::uint8_t& symbol : symbols) {
    if (is_base(symbol) || symbol == Text::separator) continue;
    symbol = symbol >= 'a' && symbol <= 'z' ? 'n' : 'N';
  }
}

std::vector<std::uint64_t> separate_ambiguous(Text& text) {
  std::vector<std::uint64_t> separators;
  for (std::uint64_t position = 0; position < text.symbols.size(); ++position) {
    std::uint8_t& symbol = text.symbols[position];
    if (is_base(symbol)) continue;
    symbol = Text::separator;
    separators.push_back(position);
  }
  return separators;
}

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
    const Record record = text.records[i];
    const std::uint8_t* forward = text.symbols.data() + record.offset;
    std::uint8_t* reverse = text.symbols.data() + size + 1 + record.offset;
    for (std::uint64_t at = 0; at < record.length; ++at) {
      reverse[at] = table[forward[record.length - 1 - at]];
    }
    text.records.push_back({marked(record.name), size + 1 + record.offset, record.length});
  }
}

}  // namespace sortie::sequences
