// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "sortie/context.hpp"

namespace sortie::multisort {

/// Starts the host runtime and returns how many logical devices there are: `wanted`, or one for
/// each thread where that is 0. \throws Error (usage) a negative number, or one beyond most_devices
[[nodiscard]] std::size_t start_devices(const HostContext& context, int wanted);

/// More logical devices than any machine has real ones; the plans grow with their square.
inline constexpr int most_devices = 1024;

/// Runs body(device) for each logical device on the threads of the host runtime. `body` must not
/// throw.
void for_each_device(std::size_t devices, const std::function<void(std::size_t)>& body);

}  // namespace sortie::multisort
