// SPDX-License-Identifier: Apache-2.0
#include "sortie/text.hpp"

#include <fmt/format.h>

#include <algorithm>

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

bool is_control(std::uint8_t symbol) {
  return symbol < 0x20 || symbol == 0x7f;
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

std::array<std::uint64_t, 256> histogram(const Text& text) {
  // Four tables, so that runs of one letter do not stall on the counter that was just written.
  std::array<std::array<std::uint64_t, 256>, 4> counts{};
  const std::uint8_t* symbols = text.symbols.data();
  const std::size_t size = text.symbols.size();
  std::size_t i = 0;
  for (; i + 4 <= size; i += 4) {
    ++counts[0][symbols[i]];
    ++counts[1][symbols[i + 1]];
    ++counts[2][symbols[i + 2]];
    ++counts[3][symbols[i + 3]];
  }
  for (; i < size; ++i) ++counts[0][symbols[i]];
  for (std::size_t symbol = 0; symbol < 256; ++symbol) {
    counts[0][symbol] += counts[1][symbol] + counts[2][symbol] + counts[3][symbol];
  }
  counts[0][Text::separator] -= size - text.letters();
  return counts[0];
}

Alphabet detect_alphabet(const Text& text) {
  const std::array<std::uint64_t, 256> counts = histogram(text);
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
  if (alphabet == Alphabet::automatic) return !is_control(symbol);
  if (alphabet == Alphabet::bytes) return symbol != 0 && symbol != '\n' && symbol != '\r';
  return letters(alphabet).find(static_cast<char>(upper(symbol))) != std::string_view::npos;
}

}  // namespace sortie::sequences
