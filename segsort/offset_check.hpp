#pragma once

#include <cstdint>

#include "sortie/segsort/segmented_sort.hpp"

namespace sortie::segsort {

/// Goes through all offsets, on one thread, and names the first segment at fault.
/// \throws Error (input)  an offset beyond num_items, or an end before its begin
void check_offsets(const OffsetArray& begins, const OffsetArray& ends, std::uint64_t num_items);

}  // namespace sortie::segsort
