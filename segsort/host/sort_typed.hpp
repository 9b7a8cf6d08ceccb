#pragma once

#include <concepts>
#include <cstdint>

#include "sortie/core/context.hpp"
#include "sortie/segsort/segmented_sort.hpp"

namespace sortie::segsort {

/// Sorts a request whose keys are as wide as `UKey`, on the host. See sort_on_host().
/// \pre the host's runtime has been started
template <std::unsigned_integral UKey>
void sort_keys_of(const Context& context, const Request& request);

// Compiled by width, in instances/.
extern template void sort_keys_of<std::uint32_t>(const Context&, const Request&);
extern template void sort_keys_of<std::uint64_t>(const Context&, const Request&);

}  // namespace sortie::segsort
