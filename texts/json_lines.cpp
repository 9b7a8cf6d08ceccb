// SPDX-License-Identifier: Apache-2.0
#include "texts/json_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/host_memory.hpp"
#include "sortie/error.hpp"

#if SORTIE_HAVE_SIMDJSON
#include <simdjson.h>
#endif

namespace sortie::texts {

#if SORTIE_HAVE_SIMDJSON
static_assert(json_padding >= simdjson::SIMDJSON_PADDING);

namespace {

std::string_view kind_of(const simdjson::dom::element& element) {
  using simdjson::dom::element_type;
  switch (element.type()) {
    case element_type::ARRAY:
      return "an array";
    case element_type::OBJECT:
      return "an object";
    case element_type::STRING:
      return "a string";
    case element_type::BOOL:
      return "true or false";
    case element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

}  // namespace

struct JsonLineParser::State {
  std::string field;
  simdjson::dom::parser parser;
  std::string masked;  ///< a line that is not UTF-8, without its bytes from 0x80
  std::string text;    ///< of such a line

  [[nodiscard]] JsonFault broken(simdjson::error_code code) const {
    return {fmt::format("broken JSON ({})", simdjson::error_message(code)), "a JSON object"};
  }

  simdjson::dom::object parse(std::string_view line) {
    simdjson::dom::element element;
    auto code = parser.parse(line.data(), line.size(), false).get(element);
    if (code == simdjson::MEMALLOC)
      throw out_of_memory_error("a JSON parser", line.size(), host_memory_available());
    if (code != simdjson::SUCCESS) throw code;
    simdjson::dom::object object;
    if (element.get(object) != simdjson::SUCCESS)
      throw JsonFault{fmt::format("{}", kind_of(element)), "a JSON object"};
    return object;
  }

  void require_one(std::size_t count) const {
    if (count == 1) return;
    throw JsonFault{fmt::format("{} {}", count == 0 ? "no field" : "more than one field",
                                sortie::quoted(field)),
                    "a JSON object with this field"};
  }

  [[nodiscard]] JsonFault no_string(std::string_view kind) const {
    return {fmt::format("{} as the field {}", kind, sortie::quoted(field)), "a string"};
  }

  Document text_of(const simdjson::dom::object& object) {
    simdjson::dom::element value;
    std::size_t count = 0;
    for (const auto& [key, element] : object) {
      if (key != field) continue;
      value = element;
      ++count;
    }
    require_one(count);
    std::string_view string;
    if (value.get(string) != simdjson::SUCCESS) throw no_string(kind_of(value));
    return {string, false};
  }

  /// The structure of the line is checked with other characters instead of the bytes from 0x80, and
  /// so these are in strings only.
  Document text_without_utf8(std::string_view line) {
    masked.assign(line);
    for (char& byte : masked) {
      if ((byte & 0x80) != 0) byte = '?';
    }
    masked.append(json_padding, ' ');
    try {
      static_cast<void>(parse(std::string_view(masked).substr(0, line.size())));
    } catch (simdjson::error_code code) {
      throw broken(code);
    }
    JsonValue value;
    require_one(find_fields(line, field, value));
    if (!value.is_string) throw no_string("no string");
    text.clear();
    append_unescaped(line.substr(value.begin, value.end - value.begin), text);
    return {text, true};
  }
};

JsonLineParser::JsonLineParser(const std::string&, std::string field)
    : state_(std::make_unique<State>()) {
  state_->field = std::move(field);
}

JsonLineParser::Document JsonLineParser::parse(std::string_view line) {
  try {
    return state_->text_of(state_->parse(line));
  } catch (simdjson::error_code code) {
    if (code != simdjson::UTF8_ERROR) throw state_->broken(code);
  }
  return state_->text_without_utf8(line);
}

#else

struct JsonLineParser::State {};

JsonLineParser::JsonLineParser(const std::string& file, std::string) {
  throw Error(
      ErrorKind::unavailable,
      fmt::format("{}: found JSONL, expected a plain file, since this build of Sortie has no "
                  "simdjson (on Debian: libsimdjson-dev)",
                  file));
}

JsonLineParser::Document JsonLineParser::parse(std::string_view) {
  return {};
}

#endif

JsonLineParser::~JsonLineParser() = default;
JsonLineParser::JsonLineParser(JsonLineParser&&) noexcept = default;
JsonLineParser& JsonLineParser::operator=(JsonLineParser&&) noexcept = default;

namespace {

/// Reads a line from front to back. At its end, all steps stop and do nothing.
class LineScanner {
 public:
  explicit LineScanner(std::string_view line) : line_(line) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] char next() const { return at_ < line_.size() ? line_[at_] : '\0'; }

  void skip_space() { at_ = std::min(line_.find_first_not_of(" \t\r\n", at_), line_.size()); }

  /// Skips white space and then the byte, if it is next.
  bool skip(char byte) {
    skip_space();
    if (next() != byte) return false;
    if (at_ < line_.size()) ++at_;
    return true;
  }

  /// Skips a string. \return its content \pre next() is its quote
  JsonValue skip_string() {
    const std::size_t begin = ++at_;
    // A quote belongs to the string if an odd number of backslashes precedes it.
    std::size_t end = std::min(line_.find('"', begin), line_.size());
    while (end < line_.size()) {
      std::size_t first = end;
      while (first > begin && line_[first - 1] == '\\') --first;
      if ((end - first) % 2 == 0) break;
      end = std::min(line_.find('"', end + 1), line_.size());
    }
    at_ = std::min(end + 1, line_.size());
    return {begin, end, true};
  }

  JsonValue skip_value() {
    skip_space();
    if (next() == '"') return skip_string();
    const std::size_t begin = at_;
    std::size_t depth = 0;
    while (at_ < line_.size()) {
      const char byte = line_[at_];
      if (byte == '"') {
        skip_string();
        continue;
      }
      if (depth == 0 && (byte == ',' || byte == '}')) break;
      if (byte == '{' || byte == '[') ++depth;
      if (byte == '}' || byte == ']') --depth;
      ++at_;
    }
    return {begin, at_, false};
  }

 private:
  std::string_view line_;
  std::size_t at_ = 0;
};

unsigned hexadecimal(std::string_view digits) {
  unsigned value = 0;
  for (const char digit : digits) {
    const unsigned lower = static_cast<unsigned char>(digit) | 0x20U;
    value = value * 16 + (lower <= '9' ? lower - '0' : lower - 'a' + 10) % 16;
  }
  return value;
}

/// An escape at the front of a JSON string.
struct Escape {
  std::size_t size = 0;    ///< bytes in the string
  std::uint32_t code = 0;  ///< Unicode
};

/// \pre the first byte is a backslash
Escape escape_at(std::string_view raw) {
  constexpr std::size_t long_size = 6;
  if (raw.size() < 2) return {raw.size(), '\\'};
  if (raw[1] != 'u' || raw.size() < long_size) {
    constexpr std::string_view letters = "bfnrt";
    constexpr std::string_view meanings = "\b\f\n\r\t";
    const std::size_t letter = letters.find(raw[1]);
    const char meaning = letter == std::string_view::npos ? raw[1] : meanings[letter];
    return {2, static_cast<unsigned char>(meaning)};
  }
  const std::uint32_t code = hexadecimal(raw.substr(2, 4));
  const bool is_pair = code >= 0xd800 && code < 0xdc00 && raw.size() >= 2 * long_size;
  if (!is_pair) return {long_size, code};
  const std::uint32_t low = hexadecimal(raw.substr(long_size + 2, 4));
  return {2 * long_size, 0x10000 + ((code - 0xd800) << 10) + (low & 0x3ff)};
}

std::size_t utf8_size(std::uint32_t code) {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

void append_utf8(std::uint32_t code, std::string& text) {
  const std::size_t size = utf8_size(code);
  if (size == 1) return text.push_back(static_cast<char>(code));
  const std::uint32_t lead = 0xf00U >> size & 0xffU;
  for (std::size_t i = size; i-- > 0;) {
    const std::uint32_t bits = code >> (6 * i);
    text.push_back(static_cast<char>(i + 1 == size ? lead | bits : 0x80U | (bits & 0x3f)));
  }
}

}  // namespace

std::size_t find_fields(std::string_view line, std::string_view name, JsonValue& value) {
  LineScanner scanner(line);
  std::size_t count = 0;
  std::string unescaped;
  if (!scanner.skip('{')) return 0;
  scanner.skip_space();
  while (scanner.next() == '"') {
    const JsonValue key = scanner.skip_string();
    std::string_view key_name = line.substr(key.begin, key.end - key.begin);
    if (key_name.find('\\') != std::string_view::npos) {
      unescaped.clear();
      append_unescaped(key_name, unescaped);
      key_name = unescaped;
    }
    scanner.skip(':');
    const JsonValue found = scanner.skip_value();
    if (key_name == name && ++count == 1) value = found;
    if (!scanner.skip(',')) break;
    scanner.skip_space();
  }
  return count;
}

void append_unescaped(std::string_view raw, std::string& text) {
  while (!raw.empty()) {
    const std::size_t plain = std::min(raw.find('\\'), raw.size());
    text.append(raw.substr(0, plain));
    raw.remove_prefix(plain);
    if (raw.empty()) break;
    const Escape escape = escape_at(raw);
    append_utf8(escape.code, text);
    raw.remove_prefix(escape.size);
  }
}

void append_without(std::string_view raw, std::span<const ByteRange> ranges, std::string& to) {
  std::uint64_t text = 0;     // bytes of the text before `at`
  std::size_t at = 0;         // in the string
  std::size_t kept_from = 0;  // what follows it is kept, but not appended yet
  // Moves on to a place in the text, which is not within a character.
  const auto advance = [&](std::uint64_t place) {
    while (text < place && at < raw.size()) {
      const std::size_t wanted = std::min<std::uint64_t>(place - text, raw.size() - at);
      const std::size_t plain = std::min(raw.substr(at, wanted).find('\\'), wanted);
      at += plain;
      text += plain;
      if (plain == wanted) continue;
      const Escape escape = escape_at(raw.substr(at));
      at += escape.size;
      text += utf8_size(escape.code);
    }
  };
  for (const ByteRange& range : ranges) {
    if (range.begin == range.end) continue;
    advance(range.begin);
    to.append(raw.substr(kept_from, at - kept_from));
    advance(range.end);
    kept_from = at;
  }
  to.append(raw.substr(kept_from));
}

}  // namespace sortie::texts
