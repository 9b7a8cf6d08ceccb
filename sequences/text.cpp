// SPDX-License-Identifier: Apache-2.0
#include "sortie/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "core/files/block_pipeline.hpp"
#include "sequences/symbol_counts.hpp"
#include "sortie/error.hpp"

namespace sortie::sequences {
namespace {

struct Description {
  Alphabet alphabet;
  std::string_view name;
  std::string_view letters;  ///< in upper case; membership does not depend on the case
};

// In the order of the enum, which is the order of detection.
constexpr std::array descriptions = {
    Description{Alphabet::automatic, "auto", ""},
    Description{Alphabet::dna, "dna", "ACGT"},
    Description{Alphabet::dna_iupac, "dna-iupac", "ACGTNRYSWKMBDHV-"},
    Description{Alphabet::rna, "rna", "ACGU"},
    Description{Alphabet::rna_iupac, "rna-iupac", "ACGUNRYSWKMBDHV-"},
    Description{Alphabet::protein, "protein", "ACDEFGHIKLMNPQRSTVWYBJOUXZ*-"},
    Description{Alphabet::bytes, "bytes", ""}};

const Description& describe(Alphabet alphabet) {
  return descriptions.at(static_cast<std::size_t>(alphabet));
}

std::uint8_t upper(std::uint8_t symbol) {
  return symbol >= 'a' && symbol <= 'z' ? static_cast<std::uint8_t>(symbol - 'a' + 'A') : symbol;
}

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

}  // namespace

std::vector<std::uint64_t> Text::separators() const {
  std::vector<std::uint64_t> positions;
  for (std::size_t i = 1; i < records.size(); ++i) positions.push_back(records[i].offset - 1);
  return positions;
}

std::size_t Text::record_of(std::uint64_t position) const {
  if (position >= symbols.size()) {
    throw Error(ErrorKind::usage, fmt::format("position {} is beyond a text of {} symbols",
                                              position, symbols.size()));
  }
  const auto next = std::upper_bound(
      records.begin(), records.end(), position,
      [](std::uint64_t wanted, const Record& record) { return wanted < record.offset; });
  return static_cast<std::size_t>(next - records.begin()) - 1;
}

std::uint64_t Text::letters() const {
  return records.empty() ? symbols.size() : symbols.size() - (records.size() - 1);
}

std::string_view name(Alphabet alphabet) {
  return describe(alphabet).name;
}

Alphabet parse_alphabet(std::string_view text) {
  for (const Description& description : descriptions) {
    if (text == description.name) return description.alphabet;
  }
  throw Error(ErrorKind::usage,
              fmt::format("alphabet: found {}, expected auto, dna, dna-iupac, rna, rna-iupac, "
                          "protein or bytes",
                          sortie::quoted(text)));
}

std::string_view letters(Alphabet alphabet) {
  return describe(alphabet).letters;
}

void count_symbols(std::span<const std::uint8_t> symbols, SymbolCounts& total) {
  // Four tables, so that runs of one letter do not stall on the counter that was just written.
  std::array<SymbolCounts, 4> counts{};
  std::size_t i = 0;
  for (; i + 4 <= symbols.size(); i += 4) {
    ++counts[0][symbols[i]];
    ++counts[1][symbols[i + 1]];
    ++counts[2][symbols[i + 2]];
    ++counts[3][symbols[i + 3]];
  }
  for (; i < symbols.size(); ++i) ++counts[0][symbols[i]];
  for (std::size_t symbol = 0; symbol < total.size(); ++symbol) {
    for (const SymbolCounts& table : counts) total[symbol] += table[symbol];
  }
}

std::array<std::uint64_t, 256> histogram(const Text& text, int threads) {
  constexpr std::size_t block_size = std::size_t{1} << 21;
  const std::span<const std::uint8_t> symbols = text.symbols;
  const std::uint64_t blocks = (symbols.size() + block_size - 1) / block_size;
  const auto workers = static_cast<int>(std::clamp<std::uint64_t>(blocks, 1, threads));
  std::vector<SymbolCounts> counts(static_cast<std::size_t>(workers), SymbolCounts{});
  run_blocks(workers, {.take = [=](int, std::uint64_t block) { return block < blocks; },
                       .work =
                           [&](int worker, std::uint64_t block) {
                             const std::size_t begin = block * block_size;
                             const std::size_t size = std::min(block_size, symbols.size() - begin);
                             count_symbols(symbols.subspan(begin, size), counts[worker]);
                           },
                       .pass = {},
                       .finish = {}});
  SymbolCounts total{};
  for (const SymbolCounts& table : counts) {
    for (std::size_t symbol = 0; symbol < total.size(); ++symbol) total[symbol] += table[symbol];
  }
  total[Text::separator] -= symbols.size() - text.letters();
  return total;
}

Alphabet detect_alphabet(const Text& text, int threads) {
  return alphabet_of(histogram(text, threads));
}

Alphabet alphabet_of(const SymbolCounts& counts) {
  const auto holds_all = [&](Alphabet alphabet) {
    for (std::size_t symbol = 0; symbol < 256; ++symbol) {
      if (counts[symbol] != 0 && !contains(alphabet, static_cast<std::uint8_t>(symbol))) {
        return false;
      }
    }
    return true;
  };
  for (const Description& description : descriptions) {
    const bool detectable = description.alphabet != Alphabet::automatic;
    if (detectable && holds_all(description.alphabet)) return description.alphabet;
  }
  return Alphabet::bytes;
}

bool contains(Alphabet alphabet, std::uint8_t symbol) {
  if (alphabet == Alphabet::automatic) return symbol >= 0x20 && symbol != 0x7f;
  if (alphabet == Alphabet::bytes) return symbol != 0 && symbol != '\n' && symbol != '\r';
  return letters(alphabet).find(static_cast<char>(upper(symbol))) != std::string_view::npos;
}

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

bool is_rna(const SymbolCounts& counts) {
  return counts['U'] + counts['u'] != 0 && counts['T'] + counts['t'] == 0;
}

Record reverse_record(const Record& record, std::uint64_t distance) {
  const std::size_t end = std::min(record.name.find_first_of(" \t"), record.name.size());
  return {
      record.name.substr(0, end) + std::string(reverse_complement_mark) + record.name.substr(end),
      record.offset + distance, record.length};
}

std::uint8_t complement(std::uint8_t symbol, bool rna) {
  return rna ? rna_table[symbol] : dna_table[symbol];
}

void append_reverse_complements(Text& text) {
  require_nucleotides(text);
  const Table& table = is_rna(histogram(text)) ? rna_table : dna_table;
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
    text.records.push_back(reverse_record(record, size + 1));
  }
}

}  // namespace sortie::sequences
