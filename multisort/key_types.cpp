#include "sortie/multisort/key_types.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "sortie/core/error.hpp"

namespace sortie::multisort {

namespace {

constexpr std::array<std::string_view, 10> names = {"u8",  "i8",  "u16", "i16", "u32",
                                                    "i32", "f32", "u64", "i64", "f64"};

}  // namespace

std::string_view name(KeyType type) {
  return names.at(static_cast<std::size_t>(type));
}

KeyType parse_key_type(std::string_view text) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (text == names[i]) return static_cast<KeyType>(i);
  throw Error(ErrorKind::usage, fmt::format("key type: found {}, expected one of {}", quoted(text),
                                            fmt::join(names, ", ")));
}

}  // namespace sortie::multisort
