// SPDX-License-Identifier: Apache-2.0
#include "sortie/error.hpp"

#include <fmt/format.h>

#include "core/host_memory.hpp"

namespace sortie {

namespace {

/// Maximum bytes of input text in a message: enough to recognise a line, few enough to keep the
/// message on one line of a terminal.
constexpr std::size_t max_quoted_bytes = 40;

std::string_view shown_name(std::string_view file) {
  return file == "-" ? "<stdin>" : file;
}

}  // namespace

Error input_error(std::string_view file, std::uint64_t line, std::string_view found,
                  std::string_view expected) {
  const std::string place =
      line == 0 ? std::string(shown_name(file)) : fmt::format("{}:{}", shown_name(file), line);
  return {ErrorKind::input, fmt::format("{}: found {}, expected {}", place, found, expected)};
}

Error out_of_memory_error(std::string_view what, std::uint64_t bytes_wanted,
                          std::uint64_t bytes_free) {
  return {
      ErrorKind::out_of_memory,
      fmt::format("out of memory: {} needs {} ({} bytes), {} ({} bytes) are free", what,
                  format_bytes(bytes_wanted), bytes_wanted, format_bytes(bytes_free), bytes_free)};
}

std::string quoted(std::string_view text) {
  constexpr std::string_view specials = "\"\\\t\r\n";
  std::string result = "\"";
  for (const char byte : text.substr(0, max_quoted_bytes)) {
    const auto code = static_cast<unsigned char>(byte);
    if (const auto special = specials.find(byte); special != std::string_view::npos) {
      result += '\\';
      result += "\"\\trn"[special];
    } else if (code < 0x20 || code >= 0x7f) {
      result += fmt::format("\\x{:02x}", code);
    } else {
      result += byte;
    }
  }
  result += text.size() > max_quoted_bytes ? "...\"" : "\"";
  return result;
}

}  // namespace sortie
