// SPDX-License-Identifier: Apache-2.0
//
// Deduplication again, without anchors: hashes of all windows are sorted, and the windows of equal
// hashes are compared.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "apps/text_deduplication/duplicate_marks.hpp"
#include "apps/text_deduplication/removed_ranges.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "core/random.hpp"
#include "sortie/error.hpp"
#include "sortie/sort.hpp"
#include "sortie/text_deduplication.hpp"

namespace sortie::texts {
namespace {

struct HashedWindows {
  std::vector<std::uint64_t> hashes;
  std::vector<std::uint64_t> offsets;
};

/// The windows of all documents whose hashes modulo `passes` are `pass`.
HashedWindows windows_of_pass(std::span<const std::uint8_t> text,
                              std::span<const std::uint64_t> borders, std::uint64_t window,
                              std::uint64_t pass, std::uint64_t passes) {
  constexpr std::uint64_t factor = 0xd1342543de82ef95ULL;
  std::uint64_t power = 1;
  for (std::uint64_t i = 0; i < window; ++i) power *= factor;
  HashedWindows all;
  for (std::size_t document = 0; document + 1 < borders.size(); ++document) {
    std::uint64_t hash = 0;
    for (std::uint64_t i = borders[document]; i < borders[document + 1]; ++i) {
      hash = hash * factor + text[i] + 1;
      if (i >= borders[document] + window) hash -= power * (text[i - window] + std::uint64_t{1});
      if (i + 1 < borders[document] + window) continue;
      const std::uint64_t mixed = Random(hash).next();
      if (mixed % passes != pass) continue;
      all.hashes.push_back(mixed);
      all.offsets.push_back(i + 1 - window);
    }
  }
  return all;
}

void mark_equal(std::span<std::uint64_t> offsets, const DeduplicationOptions& options,
                std::uint64_t other_begin, DuplicateMarks& marks) {
  std::ranges::sort(offsets);
  const bool in_both = offsets.front() < other_begin && offsets.back() >= other_begin;
  if (offsets.size() == 1 || (options.has_other_corpus() && !in_both)) return;
  marks.duplicate_windows += offsets.size();
  if (options.protect_first) marks.kept.set(offsets[0], offsets[0]);
  for (const std::uint64_t offset : offsets.subspan(options.keep == Keep::first ? 1 : 0))
    marks.removed.set(offset, offset);
}

}  // namespace

void check_duplicates(const HostContext& context, std::span<const std::uint8_t> text,
                      std::span<const std::uint64_t> begins, const DeduplicationOptions& options,
                      const Deduplication& result) {
  require_options(options);
  require_begins(begins, text.size(), options);
  const PhaseTimer timer(context, "verify", text.size());
  const std::vector<std::uint64_t> borders = window_borders(begins, options);
  // Vectors that grow hold twice their elements.
  const std::uint64_t windows = 32 * text.size();
  constexpr std::uint64_t most_passes = 1024;
  const std::uint64_t bytes_of_marks =
      OffsetBits::bytes_of(text.size()) * (options.protect_first ? 2 : 1);
  HostMemoryBudget budget(context);
  budget.require("verification", bytes_of_marks + windows / most_passes + 1);
  const std::uint64_t passes = windows / (budget.left() - bytes_of_marks) + 1;
  DuplicateMarks marks;
  marks.removed = OffsetBits(text.size());
  if (options.protect_first) marks.kept = OffsetBits(text.size());
  Context sorting;
  sorting.threads = context.threads;
  sorting.backend = Backend::host;
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    HashedWindows all = windows_of_pass(text, borders, options.min_length, pass, passes);
    sort(sorting, std::span(all.hashes), std::span(all.offsets));
    for (std::size_t begin = 0, end = 0; begin < all.hashes.size(); begin = end) {
      while (end < all.hashes.size() && all.hashes[end] == all.hashes[begin]) ++end;
      // One after the other, those that equal the first one are brought together.
      for (auto rest = std::span(all.offsets).subspan(begin, end - begin); !rest.empty();) {
        const auto unequal =
            std::partition(rest.begin(), rest.end(), [&, first = rest[0]](std::uint64_t offset) {
              return std::memcmp(&text[first], &text[offset], options.min_length) == 0;
            });
        const auto equal = static_cast<std::size_t>(unequal - rest.begin());
        mark_equal(rest.first(equal), options, other_begin_of(begins, options), marks);
        rest = rest.subspan(equal);
      }
    }
    report_progress(context, "verify", pass + 1, passes);
  }
  std::vector<ByteRange> ranges = removed_ranges(marks, text, begins, options);
  if (marks.duplicate_windows != result.duplicate_windows) {
    throw Error(ErrorKind::check,
                fmt::format("deduplication: found {} duplicate windows, expected {}",
                            result.duplicate_windows, marks.duplicate_windows));
  }
  const auto describe = [](const std::vector<ByteRange>& all, std::size_t i) {
    return i < all.size() ? fmt::format("{} {}", all[i].begin, all[i].end) : "none";
  };
  for (std::size_t i = 0; i < std::max(ranges.size(), result.ranges.size()); ++i) {
    if (i < ranges.size() && i < result.ranges.size() && ranges[i] == result.ranges[i]) continue;
    throw Error(ErrorKind::check, fmt::format("deduplication, range {}: found {}, expected {}", i,
                                              describe(result.ranges, i), describe(ranges, i)));
  }
}

}  // namespace sortie::texts
