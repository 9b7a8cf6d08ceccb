// SPDX-License-Identifier: Apache-2.0
#include "sortie/key_types.hpp"

#include <fmt/format.h>

#include <array>

#include "sortie/error.hpp"

namespace sortie {

namespace {

#define SORTIE_NAME(NAME, TYPE, KIND) std::string_view(#NAME),
constexpr std::array names = {SORTIE_FOR_EACH_KEY_TYPE(SORTIE_NAME)};
#undef SORTIE_NAME

}  // namespace

std::string_view name(KeyType type) {
  return names.at(static_cast<std::size_t>(type));
}

KeyType parse_key_type(std::string_view text) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (text == names[i]) return static_cast<KeyType>(i);
  throw Error(ErrorKind::usage, fmt::format("key type: found {}, expected one of {}",
                                            sortie::quoted(text), fmt::join(names, ", ")));
}

}  // namespace sortie
