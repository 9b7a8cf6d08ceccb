// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/generator_spec.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "sortie/error.hpp"

namespace sortie::bench {
namespace {

constexpr std::string_view prefix = "gen:";

std::uint64_t unit_factor(std::string_view unit) {
  if (unit.empty()) return 1;
  if (unit == "K" || unit == "k") return 1'000;
  if (unit == "M") return 1'000'000;
  if (unit == "G") return 1'000'000'000;
  return 0;
}

}  // namespace

bool GeneratorSpec::matches(const std::string& text) {
  return text.starts_with(prefix);
}

GeneratorSpec::GeneratorSpec(const std::string& text) : text_(text) {
  std::string_view rest = std::string_view(text_).substr(prefix.size());
  std::vector<std::string> fields;
  while (true) {
    const std::size_t colon = rest.find(':');
    fields.emplace_back(rest.substr(0, colon));
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  kind_ = fields.front();
  parameters_.assign(fields.begin() + 1, fields.end());
}

void GeneratorSpec::require_parameters(std::size_t wanted, const std::string& form) const {
  require_parameters(wanted, wanted, form);
}

void GeneratorSpec::require_parameters(std::size_t fewest, std::size_t most,
                                       const std::string& form) const {
  if (parameters_.size() >= fewest && parameters_.size() <= most) return;
  throw Error(ErrorKind::usage, fmt::format("found {}, expected {}", sortie::quoted(text_), form));
}

std::vector<std::uint64_t> GeneratorSpec::counts(std::size_t index) const {
  const std::string& text = parameters_.at(index);
  std::vector<std::uint64_t> found;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find('x', begin);
    found.push_back(as_count(text.substr(begin, end - begin)));
  }
  return found;
}

std::uint64_t GeneratorSpec::as_count(const std::string& field) const {
  const char* const end = field.data() + field.size();
  std::uint64_t number = 0;
  const auto [stop, status] = std::from_chars(field.data(), end, number);
  const std::uint64_t factor =
      unit_factor(std::string_view(stop, static_cast<std::size_t>(end - stop)));
  std::uint64_t result = 0;
  if (status != std::errc() || factor == 0 || __builtin_mul_overflow(number, factor, &result)) {
    throw Error(ErrorKind::usage, fmt::format("{}: found {}, expected a count such as 4096 or 10M",
                                              text_, sortie::quoted(field)));
  }
  return result;
}

double GeneratorSpec::real(std::size_t index) const {
  const std::string& field = parameters_.at(index);
  const char* const end = field.data() + field.size();
  double number = 0;
  const auto [stop, status] = std::from_chars(field.data(), end, number);
  if (status != std::errc() || stop != end) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: found {}, expected a number", text_, sortie::quoted(field)));
  }
  return number;
}

void GeneratorSpec::unknown(const std::string& forms) const {
  throw Error(ErrorKind::usage, fmt::format("found {}, expected {}", sortie::quoted(text_), forms));
}

}  // namespace sortie::bench
