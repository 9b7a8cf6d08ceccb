// SPDX-License-Identifier: Apache-2.0

// Duplicates of a text on a GPU. As on the host (duplicate_marks.hpp, docs/deduplication.md), anchors
// stand for windows, but groups of equal anchors are compared in rounds, all of them at once.
//
// Steps, for each part of all hashes:
//   1. Anchors of all windows (find_anchors.cuh), counted and then written in the order of the text.
//   2. A stable sort by their hashes. Anchors that are alone are dropped.
//   3. Rounds: every item is compared with the first one of its group (groups.cuh). Windows that are
//      equal are marked, the rest goes on to the next round. A group of items with the same windows
//      is done after one round.
//   4. What is left after most_rounds, of groups with many different windows around a k-gram, is
//      divided into single windows, by a hash of all of their bytes. Rounds over these end when all
//      windows are done. There, a second round is needed only where hashes collide.
// Then first occurrences of windows are sorted by their offset, and joined for the report.
//
// Memory for n bytes of text with d documents and m anchors (n / 39 for L = 100):
//
//   | name                      | elements     | type    | lifetime                             |
//   |---------------------------|--------------|---------|--------------------------------------|
//   | text                      | n            | 1 byte  | whole call                           |
//   | removed, kept             | n each       | 1 bit   | whole call; kept if wanted           |
//   | borders                   | d + n / 2048 | 8 bytes | whole call                           |
//   | keys, values              | m each       | 8 bytes | pass, twice during the sort          |
//   | matchable keys, values    | <= m each    | 8 bytes | rounds, twice between two            |
//   | leaders, matches, places  | <= m each    | 4 bytes | round                                |
//   | first windows             | <= m / 2 + 1 | 16 bytes| whole call, twice at its end         |
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "apps/text_deduplication/cuda/device_text.cuh"
#include "apps/text_deduplication/cuda/group_search.cuh"
#include "apps/text_deduplication/duplicate_marks.hpp"
#include "apps/text_deduplication/removed_ranges.hpp"

namespace sortie::texts::cuda {

MarkingPlan plan_marking(const Context& context, std::uint64_t text_bytes, std::uint64_t documents,
                         const DeduplicationOptions& options) {
  const DeviceCall call(context);
  const WindowShape shape = WindowShape::of(options.min_length);
  const std::uint64_t held = DeviceText::bytes_of(text_bytes, documents + 1) +
                             OffsetBits::bytes_of(text_bytes) * (options.protect_first ? 2 : 1);
  const std::uint64_t anchors =
      bytes_of_item * (9 * text_bytes / (4 * (shape.offsets + 1)) + documents + 1);
  const std::uint64_t budget = device_memory_budget(call);
  constexpr std::uint64_t most_passes = 1024;
  if (held + anchors / most_passes + 1 > budget)
    throw out_of_memory_error("text deduplication", held + anchors / most_passes + 1, budget);
  const std::uint64_t passes = (anchors - 1) / (budget - held) + 1;
  return {passes, held + (anchors - 1) / passes + 1};
}

DuplicateMarks mark_duplicates(const Context& context, std::span<const std::uint8_t> text,
                               std::span<const std::uint64_t> begins,
                               const DeduplicationOptions& options) {
  const DeviceCall call(context);
  DuplicateMarks marks;
  marks.removed = OffsetBits(text.size());
  if (options.protect_first) marks.kept = OffsetBits(text.size());
  if (text.empty()) return marks;
  const std::vector<std::uint64_t> borders = window_borders(begins, options);
  const WindowShape shape = WindowShape::of(options.min_length);
  const DeviceBudget budget(call);
  budget.require("text deduplication",
                 DeviceText::bytes_of(text.size(), borders.size()) +
                     OffsetBits::bytes_of(text.size()) * (options.protect_first ? 2 : 1));
  WaitingPhase copying(call, "copy in", text.size());
  DeviceText on_device(call, text, borders, shape);
  DeviceMarks device_marks(text.size(), options.protect_first, call.stream);
  copying.stop();
  GroupSearch groups(call, budget, shape,
                     device_marks.targets(options, other_begin_of(begins, options)));

  std::uint64_t anchors = on_device.count_anchors({});
  const std::uint64_t fitting =
      std::clamp<std::uint64_t>(budget.left() / bytes_of_item, 1, most_items);
  // Parts of the hashes are not all of the same size.
  const HashRange all{0, anchors / (fitting - fitting / 8) + 1};
  std::uint64_t all_anchors = 0;
  for (HashRange range = all; range.index != range.count; ++range.index) {
    WaitingPhase finding(call, "anchors", text.size());
    if (range.count > 1) anchors = on_device.count_anchors(range);
    budget.require("text deduplication, for equal anchors", anchors * bytes_of_item);
    Items items = on_device.anchors(range, anchors);
    all_anchors += anchors;
    finding.stop();
    groups.search(TextSource{on_device.bytes()}, std::move(items));
    groups.join_first_windows(marks);
    const std::uint64_t done = range.index + 1;
    report_progress(context, "anchors", done * text.size(), range.count * text.size());
    report_progress(context, "groups", done, range.count);
  }
  if (all.count > 1) marks.join_first_windows();
  WaitingPhase copying_out(call, "copy out");
  device_marks.copy_to(marks, call);
  copying_out.stop();
  if (context.report != nullptr) {
    context.report->set("passes", all.count);
    context.report->set("anchors", all_anchors);
  }
  return marks;
}

}  // namespace sortie::texts::cuda
