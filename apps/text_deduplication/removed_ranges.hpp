// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/text_deduplication/duplicate_marks.hpp"
#include "sortie/corpus.hpp"
#include "sortie/text_deduplication.hpp"

/// From marks to ranges, and what is checked before.
namespace sortie::texts {

/// \throws Error (usage)
void require_options(const DeduplicationOptions& options);
/// The backend for a text in memory: of the context, or by default CUDA if there is a device on
/// which the text fits. \throws Error (unavailable)
[[nodiscard]] Backend backend_for(const Context& context, std::uint64_t text_bytes,
                                  std::uint64_t documents, const DeduplicationOptions& options);
void require_begins(std::span<const std::uint64_t> begins, std::uint64_t text_bytes,
                    const DeduplicationOptions& options);

/// The document that contains a byte. \pre offset < begins.back()
[[nodiscard]] inline std::uint64_t document_of(std::span<const std::uint64_t> begins,
                                               std::uint64_t offset) {
  return static_cast<std::uint64_t>(std::ranges::upper_bound(begins, offset) - begins.begin()) - 1;
}

/// Bytes of removed windows that are not protected: ascending, not touching, but at the border of
/// another corpus.
[[nodiscard]] std::vector<ByteRange> marked_ranges(const DuplicateMarks& marks,
                                                   std::uint64_t window, std::uint64_t other_begin);

/// Reduces the ends of ranges that are in a document, or a part of one, to whole characters.
/// \param bytes    the document, or whole characters of it
/// \param offset   of the first byte
/// \param clipped  the same ranges, less what was clipped in other documents
void clip_in_document(std::span<const std::uint8_t> bytes, std::uint64_t offset,
                      std::span<const ByteRange> ranges, std::span<ByteRange> clipped);

/// Removes what remains between ranges and at borders of their documents if it is shorter than
/// `min_island`, and ranges that became empty.
void remove_islands(std::span<const std::uint64_t> begins, std::uint64_t min_island,
                    std::uint64_t other_begin, std::vector<ByteRange>& ranges);

/// All of these steps, for a text in memory. On several threads.
[[nodiscard]] std::vector<ByteRange> removed_ranges(const DuplicateMarks& marks,
                                                    std::span<const std::uint8_t> text,
                                                    std::span<const std::uint64_t> begins,
                                                    const DeduplicationOptions& options);

/// Offset of the other corpus; the size of the text without one.
[[nodiscard]] inline std::uint64_t other_begin_of(std::span<const std::uint64_t> begins,
                                                  const DeduplicationOptions& options) {
  return options.has_other_corpus() ? begins[options.other_corpus] : begins.back();
}

/// The result for these ranges; the marks lose their windows.
[[nodiscard]] Deduplication result_of(DuplicateMarks& marks, std::span<const std::uint64_t> begins,
                                      const DeduplicationOptions& options,
                                      std::vector<ByteRange> ranges);

}  // namespace sortie::texts
