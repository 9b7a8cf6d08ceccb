// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sortie/corpus.hpp"

/// Lines of JSONL files: JSON objects.
namespace sortie::texts {

/// Bytes behind a line that the parser may read; their values are of no effect.
inline constexpr std::size_t json_padding = 64;

/// Why a line is not taken: the two parts of the message of input_error().
struct JsonFault {
  std::string found;
  std::string expected;
};

/// Parses lines by simdjson, which checks all of each. One thread at a time.
class JsonLineParser {
 public:
  /// \param file  for messages
  /// \throws Error (unavailable) this build has no simdjson
  JsonLineParser(const std::string& file, std::string field);
  ~JsonLineParser();
  JsonLineParser(JsonLineParser&&) noexcept;
  JsonLineParser& operator=(JsonLineParser&&) noexcept;

  struct Document {
    std::string_view text;      ///< unescaped; until the next call
    bool invalid_utf8 = false;  ///< the line is not UTF-8
  };

  /// The string of the field. \throws JsonFault, Error (out_of_memory)
  /// \pre json_padding bytes can be read behind the line
  [[nodiscard]] Document parse(std::string_view line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A value in a line.
struct JsonValue {
  std::size_t begin = 0;  ///< without quotes for strings
  std::size_t end = 0;
  bool is_string = false;
};

/// Finds the fields of a name in the object of a line. The result is unspecified for a line that is
/// not JSON.
/// \param value  of the first of them
/// \return their number
std::size_t find_fields(std::string_view line, std::string_view name, JsonValue& value);

/// Appends what a JSON string, without its quotes, says.
void append_unescaped(std::string_view raw, std::string& text);

/// Appends a JSON string, without its quotes, less ranges of what it says. What is left is not
/// changed: escapes remain.
/// \param ranges  of whole characters; ascending
void append_without(std::string_view raw, std::span<const ByteRange> ranges, std::string& to);

}  // namespace sortie::texts
