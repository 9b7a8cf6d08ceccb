// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sortie/context.hpp"

namespace sortie {

/// Returns a callback that updates one line on standard error at most ten times a second and erases
/// it when a phase ends. The callback is empty if standard error is not a terminal or `quiet` is
/// set.
[[nodiscard]] ProgressCallback terminal_progress(bool quiet);

/// Calls the context's callback, if there is one.
inline void report_progress(const HostContext& context, std::string_view phase, std::uint64_t done,
                            std::uint64_t total) {
  if (context.progress) context.progress(phase, done, total);
}

}  // namespace sortie
