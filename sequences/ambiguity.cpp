// SPDX-License-Identifier: Apache-2.0
#include "sortie/text.hpp"

#include <fmt/format.h>

#include <array>

#include "sortie/error.hpp"

namespace sortie::sequences {
namespace {

constexpr std::array<bool, 256> make_base_table() {
  std::array<bool, 256> table{};
  for (const char letter : std::string_view("ACGTUacgtu")) {
    table[static_cast<std::uint8_t>(letter)] = true;
  }
  return table;
}
constexpr std::array<bool, 256> base_table = make_base_table();

}  // namespace

std::string_view name(Ambiguity ambiguity) {
  switch (ambiguity) {
    case Ambiguity::keep:
      return "keep";
    case Ambiguity::unify:
      return "unify";
    case Ambiguity::separate:
      return "separate";
  }
  return "unknown";
}

Ambiguity parse_ambiguity(std::string_view text) {
  for (const Ambiguity ambiguity : {Ambiguity::keep, Ambiguity::unify, Ambiguity::separate}) {
    if (text == name(ambiguity)) return ambiguity;
  }
  throw Error(ErrorKind::usage,
              fmt::format("ambiguity: found {}, expected keep, unify or separate", quoted(text)));
}

bool is_base(std::uint8_t symbol) {
  return base_table[symbol];
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

}  // namespace sortie::sequences
