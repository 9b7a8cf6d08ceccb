// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "sortie/export.hpp"

namespace sortie {

/// The version number, e.g. "0.2.0".
[[nodiscard]] SORTIE_API std::string_view version();
/// Short commit hash of the source tree at configure time, with "-dirty" appended if it had
/// uncommitted changes; "unknown" outside a git repository.
[[nodiscard]] SORTIE_API std::string_view commit();

}  // namespace sortie
