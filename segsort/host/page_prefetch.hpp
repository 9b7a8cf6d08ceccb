// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace sortie::segsort::detail {

inline constexpr std::size_t prefetch_line_bytes = 64;
inline constexpr std::size_t prefetch_page_bytes = 4096;
/// Pages that are prefetched in interleaved order.
inline constexpr std::size_t pages_at_once = 4;

/// Address of the line to prefetch when a sequential pass reaches the line at `address`: the lines
/// of the next four pages in interleaved order, each once.
///
/// Hardware prefetchers work within one page, that of the last read, so a core that reads
/// sequentially uses only half of its memory parallelism. Interleaved prefetches keep four pages in
/// flight. Reading 2^23 offsets of 8 bytes took 9.0 ms without prefetching, 5.5 to 5.9 ms with
/// prefetches 4 KiB ahead, and 4.2 to 4.4 ms with this order (one core of an Intel Xeon, Sapphire
/// Rapids, virtual; two pages 4.8 ms, eight 4.5 ms).
[[nodiscard]] [[gnu::always_inline]] inline std::uintptr_t line_pages_ahead(
    std::uintptr_t address) {
  constexpr std::size_t group_bytes = pages_at_once * prefetch_page_bytes;
  const std::uintptr_t line = address % group_bytes / prefetch_line_bytes;
  return address - address % group_bytes + group_bytes +
         line % pages_at_once * prefetch_page_bytes + line / pages_at_once * prefetch_line_bytes;
}

/// Prefetches that line. It may lie outside of the array: a prefetch is not an access.
[[gnu::always_inline]] inline void prefetch_pages_ahead(std::uintptr_t address) {
  __builtin_prefetch(reinterpret_cast<const void*>(line_pages_ahead(address)));
}

}  // namespace sortie::segsort::detail
