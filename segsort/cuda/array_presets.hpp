// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace sortie::segsort {

/// Makes DeviceSort sort several arrays of values in groups from so many items on, whatever is
/// faster. For tests, whose arrays are short. Must not change between the two phases of a call. Not
/// thread-safe.
void preset_least_grouped(std::optional<std::uint64_t> items);

}  // namespace sortie::segsort
