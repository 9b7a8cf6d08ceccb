// SPDX-License-Identifier: Apache-2.0
#include "sortie/version.hpp"

#include "version_config.hpp"

namespace sortie {

std::string_view version() {
  return SORTIE_VERSION_STRING;
}

std::string_view commit() {
  return SORTIE_COMMIT_STRING;
}

}  // namespace sortie
