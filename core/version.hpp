#pragma once

#include <string_view>

namespace sortie {

/// "0.1.0"
[[nodiscard]] std::string_view version();
/// Short commit of the source tree at configure time, "-dirty" appended when it had changes;
/// "unknown" outside of git.
[[nodiscard]] std::string_view commit();

}  // namespace sortie
