// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sortie {

/// Bytes of host memory that can be allocated without swapping (MemAvailable, limited by the
/// control group).
[[nodiscard]] std::uint64_t host_memory_available();

/// Highest resident size of this process so far, in bytes.
[[nodiscard]] std::uint64_t peak_host_memory();

/// Parses a size such as "4G", "512M", "1.5K" or "1000" (units are powers of 1024).
/// \throws Error (usage) naming the text if it is not a size.
[[nodiscard]] std::uint64_t parse_bytes(std::string_view text);

/// "1.50 GiB"
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

/// Advises the system to back memory that has not been touched yet with pages of 2 MiB, for fewer
/// page faults and fewer TLB misses. If the system ignores the advice, the pages are small and
/// nothing else changes.
void advise_large_pages(void* storage, std::size_t bytes);

/// Takes the page faults of allocated but unused memory on several threads, with large pages where
/// the system grants them. Overwrites the memory. Does nothing for small blocks.
void touch_new_memory(void* storage, std::size_t bytes);

}  // namespace sortie
