#pragma once

#include "sortie/core/context.hpp"

namespace sortie {

/// A callback that draws one changing line on standard error, at most ten times a second, and wipes
/// it when a phase is done. Returns an empty callback when standard error is not a terminal or
/// `quiet` is set.
[[nodiscard]] ProgressCallback terminal_progress(bool quiet);

}  // namespace sortie
