// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

#include "sortie/context.hpp"
#include "sortie/segmented_sort.hpp"

namespace sortie::segsort {

/// Sorts a request whose keys have the width of `UKey`, on the host. See sort_on_host(). \pre the
/// host runtime has been started
template <std::unsigned_integral UKey>
void sort_keys_of(const Context& context, const Request& request);

// Explicitly instantiated per key width in sources that CMake generates (sortie_add_instance).
extern template void sort_keys_of<std::uint32_t>(const Context&, const Request&);
extern template void sort_keys_of<std::uint64_t>(const Context&, const Request&);

}  // namespace sortie::segsort
