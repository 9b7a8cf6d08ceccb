#include "sortie/apps/sort/record_format.hpp"

#include <fmt/format.h>

#include "sortie/core/error.hpp"

namespace sortie::sorting {

RecordFormat parse_record_format(std::string_view key, std::string_view value) {
  RecordFormat format{multisort::parse_key_type(key), std::nullopt};
  if (value.empty()) return format;
  format.value = multisort::parse_key_type(value);
  if (format.value_bytes() < 4)
    throw Error(ErrorKind::usage, fmt::format("values: found {}, expected a type of 4 or 8 bytes",
                                              multisort::name(*format.value)));
  return format;
}

std::string describe(const RecordFormat& format) {
  std::string text = fmt::format("{} keys", multisort::name(format.key));
  if (format.value) text += fmt::format(" with {} values", multisort::name(*format.value));
  return text;
}

}  // namespace sortie::sorting
