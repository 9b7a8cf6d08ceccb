// SPDX-License-Identifier: Apache-2.0
#include "papers/rmg/rmg_options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

#include "sortie/error.hpp"

namespace sortie::papers {
namespace {

RmgOptions current_options;

/// Whether the text is "NAME=NUMBER"; then the number is stored.
template <class Number>
bool parse_number(std::string_view text, std::string_view name, Number& number) {
  if (!text.starts_with(name)) return false;
  const char* const end = text.data() + text.size();
  Number parsed{};
  const auto [last, error] = std::from_chars(text.data() + name.size(), end, parsed);
  if (error != std::errc() || last != end) return false;
  number = parsed;
  return true;
}

bool parse_one(std::string_view text, RmgOptions& options) {
  if (text == "no-overlap") {
    options.overlap = false;
    return true;
  }
  if (text == "move-all") return options.move_all = true;
  if (text == "batch-copies") return options.batch_copies = true;
  if (text == "exchange-mirrored") return options.exchange_mirrored = true;
  if (parse_number(text, "fuse=", options.fused_percent))
    return options.fused_percent >= 0 && options.fused_percent <= 100;
  return parse_number(text, "max-brs=", options.most_buckets) ||
         parse_number(text, "min-sco=", options.most_without_overlap);
}

}  // namespace

RmgOptions parse_rmg_options(const std::vector<std::string>& texts) {
  RmgOptions options;
  for (const std::string& text : texts)
    if (!parse_one(text, options))
      throw Error(ErrorKind::usage,
                  fmt::format("--rmg: found {}, expected no-overlap, move-all, batch-copies, "
                              "exchange-mirrored, fuse=PERCENT (0 to 100), max-brs=N or min-sco=N",
                              sortie::quoted(text)));
  return options;
}

void set_rmg_options(const RmgOptions& options) {
  current_options = options;
}

const RmgOptions& rmg_options() {
  return current_options;
}

}  // namespace sortie::papers
