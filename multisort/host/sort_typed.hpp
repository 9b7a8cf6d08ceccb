#pragma once

#include "sortie/core/context.hpp"
#include "sortie/multisort/multisort.hpp"

namespace sortie::multisort {

/// A request whose keys have the width of `Key`, an unsigned integer. Compiled for each width in
/// host/instances/, so that the widths are compiled at the same time.
template <class Key>
void sort_keys_of(const Context& context, const Request& request, std::size_t devices);

}  // namespace sortie::multisort
