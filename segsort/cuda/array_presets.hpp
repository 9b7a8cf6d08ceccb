// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace sortie::segsort {

/// Sets the least number of items at which DeviceSort sorts several arrays of values in groups,
/// whether or not that is faster. For tests, whose arrays are short. Must not change between the two
/// phases of a call. Not thread-safe.
void preset_least_grouped(std::optional<std::uint64_t> items);

}  // namespace sortie::segsort
