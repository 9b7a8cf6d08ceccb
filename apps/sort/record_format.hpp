#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sortie/multisort/key_types.hpp"

namespace sortie::sorting {

/// How records lie in a file: a key, and behind it the value that travels with it, if there is one;
/// both little-endian, nothing between or behind them. `u32` with values `u64` are 12 bytes a
/// record, NumPy's dtype([("key", "<u4"), ("value", "<u8")]).
struct RecordFormat {
  multisort::KeyType key = multisort::KeyType::u32;
  std::optional<multisort::KeyType> value;

  [[nodiscard]] int value_bytes() const { return value ? multisort::key_bytes(*value) : 0; }
  [[nodiscard]] std::uint64_t record_bytes() const {
    return static_cast<std::uint64_t>(multisort::key_bytes(key) + value_bytes());
  }
};

/// \param key    "u8" to "f64"
/// \param value  "" for none, else a type of 4 or 8 bytes
/// \throws Error (usage)
[[nodiscard]] RecordFormat parse_record_format(std::string_view key, std::string_view value);

/// "u32 keys", "u32 keys with u64 values"
[[nodiscard]] std::string describe(const RecordFormat& format);

}  // namespace sortie::sorting
