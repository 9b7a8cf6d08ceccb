// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <cstring>

namespace sortie::segsort {

/// TEMPORARY, for measurements: whether SORTIE_ARRAY_TRY has a letter.
inline bool array_trial(char letter) {
  static const char* const set = std::getenv("SORTIE_ARRAY_TRY");
  return set != nullptr && std::strchr(set, letter) != nullptr;
}

}  // namespace sortie::segsort
