#pragma once

#include <cstddef>

namespace sortie {

/// Asks the system to back memory that is not touched yet by pages of 2 MiB, which takes fewer page
/// faults and fewer misses of the TLB. Advice only: where it is not followed, the pages are small
/// and all else is the same.
void advise_large_pages(void* storage, std::size_t bytes);

/// Takes the page faults of memory that was allocated but not used yet, by several threads, in
/// large pages where the system grants them. What the memory holds is lost. Small blocks are left
/// alone.
void touch_new_memory(void* storage, std::size_t bytes);

}  // namespace sortie
