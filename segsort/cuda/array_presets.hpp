// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace sortie::segsort {

/// Sets the least number of items at which DeviceSort sorts several arrays of values in groups,
/// whether or not that is faster. For tests, whose arrays are short. Must not change between the
/// two phases of a call. Not thread-safe.
void preset_least_grouped(std::optional<std::uint64_t> items);
/// Sets the least number of items at which DeviceSort examines an array of keys of 4 bytes, so that
/// it is not sorted in one kernel for all digits. At least 2^21, and as for preset_least_grouped().
void preset_least_examined(std::optional<std::uint64_t> items);

}  // namespace sortie::segsort
