// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>

namespace sortie {

/// Value type of sorts of keys alone.
struct NoValue {};

/// True if items have values.
template <class Value>
inline constexpr bool has_values = !std::same_as<Value, NoValue>;

}  // namespace sortie
