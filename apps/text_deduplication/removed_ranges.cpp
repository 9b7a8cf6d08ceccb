// SPDX-License-Identifier: Apache-2.0
#include "apps/text_deduplication/removed_ranges.hpp"

#include "primitives/host/parallel.hpp"

namespace sortie::texts {
namespace {

/// Appends a range, or joins it with the last one if they touch, but for the border of a corpus.
void append(std::vector<ByteRange>& ranges, const ByteRange& range, std::uint64_t other_begin) {
  if (!ranges.empty() && range.begin <= ranges.back().end && range.begin != other_begin) {
    ranges.back().end = std::max(ranges.back().end, range.end);
  } else {
    ranges.push_back(range);
  }
}

/// The bytes of all windows that are marked.
std::vector<ByteRange> bytes_of(const OffsetBits& windows, std::uint64_t window,
                                std::uint64_t other_begin) {
  std::vector<ByteRange> ranges;
  windows.visit_runs([&](std::uint64_t first, std::uint64_t last) {
    if (first < other_begin && other_begin <= last) {
      append(ranges, {first, other_begin}, other_begin);  // windows of one byte
      first = other_begin;
    }
    append(ranges, {first, last + window}, other_begin);
  });
  return ranges;
}

/// The bytes of `ranges` that are not in `others`.
std::vector<ByteRange> difference(const std::vector<ByteRange>& ranges,
                                  const std::vector<ByteRange>& others) {
  std::vector<ByteRange> rest;
  auto other = others.begin();
  for (const ByteRange& range : ranges) {
    std::uint64_t begin = range.begin;
    while (other != others.end() && other->end <= begin) ++other;
    for (auto each = other; each != others.end() && each->begin < range.end; ++each) {
      if (begin < each->begin) rest.push_back({begin, each->begin});
      begin = std::max(begin, each->end);
    }
    if (begin < range.end) rest.push_back({begin, range.end});
  }
  return rest;
}

}  // namespace

std::vector<ByteRange> marked_ranges(const DuplicateMarks& marks, std::uint64_t window,
                                     std::uint64_t other_begin) {
  std::vector<ByteRange> ranges = bytes_of(marks.removed, window, other_begin);
  if (marks.kept.empty()) return ranges;
  return difference(ranges, bytes_of(marks.kept, window, other_begin));
}

void clip_in_document(std::span<const std::uint8_t> bytes, std::uint64_t offset,
                      std::span<const ByteRange> ranges, std::span<ByteRange> clipped) {
  const std::uint64_t end = offset + bytes.size();
  const auto first = std::ranges::upper_bound(ranges, offset, {}, &ByteRange::end);
  for (auto range = first; range != ranges.end() && range->begin < end; ++range) {
    ByteRange& result = clipped[static_cast<std::size_t>(range - ranges.begin())];
    const ByteRange whole = whole_characters(
        bytes, {std::max(range->begin, offset) - offset, std::min(range->end, end) - offset});
    if (range->begin >= offset) result.begin = offset + whole.begin;
    if (range->end <= end) result.end = offset + whole.end;
  }
}

void remove_islands(std::span<const std::uint64_t> begins, std::uint64_t min_island,
                    std::uint64_t other_begin, std::vector<ByteRange>& ranges) {
  std::erase_if(ranges, [](const ByteRange& range) { return range.begin >= range.end; });
  if (min_island == 0) return;
  std::vector<ByteRange> wider;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    ByteRange range = ranges[i];
    std::uint64_t begin = begins[document_of(begins, range.begin)];
    if (i > 0) begin = std::max(begin, ranges[i - 1].end);
    std::uint64_t end = begins[document_of(begins, range.end - 1) + 1];
    if (i + 1 < ranges.size()) end = std::min(end, ranges[i + 1].begin);
    if (range.begin - begin < min_island) range.begin = begin;
    if (end - range.end < min_island) range.end = end;
    append(wider, range, other_begin);
  }
  ranges = std::move(wider);
}

std::vector<ByteRange> removed_ranges(const DuplicateMarks& marks,
                                      std::span<const std::uint8_t> text,
                                      std::span<const std::uint64_t> begins,
                                      const DeduplicationOptions& options) {
  const std::uint64_t other_begin = other_begin_of(begins, options);
  std::vector<ByteRange> ranges = marked_ranges(marks, options.min_length, other_begin);
  if (options.whole_characters) {
    const std::vector<ByteRange> all = ranges;
    constexpr std::size_t ranges_of_task = 512;
    for_each_range(all.size(), ranges_of_task, [&](std::size_t first, std::size_t last) {
      const auto of_task = std::span(all).subspan(first, last - first);
      const auto clipped = std::span(ranges).subspan(first, last - first);
      std::uint64_t document = document_of(begins, of_task.front().begin);
      for (; document + 1 < begins.size() && begins[document] < of_task.back().end; ++document)
        clip_in_document(text.subspan(begins[document], begins[document + 1] - begins[document]),
                         begins[document], of_task, clipped);
    });
  }
  remove_islands(begins, options.min_island, other_begin, ranges);
  return ranges;
}

}  // namespace sortie::texts
