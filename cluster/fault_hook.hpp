// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

namespace sortie::cluster {

/// Called at the start of the work of each together(). Tests set it, and throw from it.
using FaultHook = std::function<void(int rank, std::string_view phase)>;

/// \param hook  empty: none. \pre no rank is in together()
void set_fault_hook(FaultHook hook);

}  // namespace sortie::cluster
