// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "apps/text_deduplication/duplicate_marks.hpp"
#include "apps/text_deduplication/host/anchor_groups.hpp"
#include "apps/text_deduplication/host/anchors.hpp"
#include "apps/text_deduplication/host/sorted_groups.hpp"
#include "apps/text_deduplication/removed_ranges.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"

namespace sortie::texts::host {
namespace {

/// Calls use(begin, end) for the windows of each document that begin in [from, to).
/// \param borders  offset of each document, ascending; then the size of the text
template <class Use>
void visit_windows(std::span<const std::uint64_t> borders, std::uint64_t window, std::uint64_t from,
                   std::uint64_t to, const Use& use) {
  auto next = std::ranges::upper_bound(borders, from);
  for (std::uint64_t begin = from; next != borders.end() && begin < to; begin = *next++) {
    if (*next < begin + window) continue;
    const std::uint64_t end = std::min(to, *next - window + 1);
    if (begin < end) use(begin, end);
  }
}

/// Anchors of one task.
struct FoundAnchors {
  std::vector<std::uint64_t> hashes;
  std::vector<std::uint64_t> anchors;  ///< packed; of repeated ones, their place below
  std::vector<Anchor> repeated;
};

/// A part of all hashes.
struct HashRange {
  std::uint64_t index = 0;
  std::uint64_t count = 1;

  [[nodiscard]] bool contains(std::uint64_t hash) const {
    return (hash >> 32) * count >> 32 == index;
  }
};

/// Windows whose anchors one task finds.
constexpr std::uint64_t task_windows = std::uint64_t{1} << 20;

FoundAnchors find_anchors(std::span<const std::uint8_t> text,
                          std::span<const std::uint64_t> borders, const AnchorShape& shape,
                          const HashRange& range, std::uint64_t task) {
  FoundAnchors found;
  const std::uint64_t expected = 9 * task_windows / (4 * (shape.offsets + 1) * range.count);
  found.hashes.reserve(expected);
  found.anchors.reserve(expected);
  AnchorFinder finder(shape);
  const auto add = [&](std::uint64_t hash, const Anchor& anchor, const std::uint8_t*) {
    if (!range.contains(hash)) return;
    found.hashes.push_back(hash);
    if (anchor.repeats == 1) {
      found.anchors.push_back(PackedAnchor::of(anchor).word);
    } else {
      found.anchors.push_back(PackedAnchor::of_repeated(found.repeated.size()).word);
      found.repeated.push_back(anchor);
    }
  };
  visit_windows(borders, shape.window, task * task_windows, (task + 1) * task_windows,
                [&](std::uint64_t begin, std::uint64_t end) {
                  finder.visit_runs(text.data(), begin, end, add);
                });
  return found;
}

/// Anchors whose hashes are in one range, of the whole text.
HashedValues collect(const Context& context, std::span<const std::uint8_t> text,
                     std::span<const std::uint64_t> borders, const AnchorShape& shape,
                     const HashRange& range, std::vector<Anchor>& repeated) {
  const PhaseTimer timer(context, "anchors", text.size());
  const std::uint64_t tasks = text.size() / task_windows + 1;
  std::vector<FoundAnchors> found(tasks);
  constexpr std::uint64_t tasks_at_a_time = 64;
  for (std::uint64_t first = 0; first < tasks; first += tasks_at_a_time) {
    const std::uint64_t end = std::min(tasks, first + tasks_at_a_time);
    for_each_task(end - first, [&](std::uint64_t i) {
      found[first + i] = find_anchors(text, borders, shape, range, first + i);
    });
    report_progress(context, "anchors",
                    range.index * text.size() + std::min(text.size(), end * task_windows),
                    range.count * text.size());
  }
  std::vector<std::uint64_t> sizes;
  repeated.clear();
  for (FoundAnchors& part : found) {
    sizes.push_back(part.hashes.size());
    for (std::uint64_t& word : part.anchors) {
      const PackedAnchor packed{word};
      if (packed.is_repeated())
        word = PackedAnchor::of_repeated(repeated.size() + packed.number()).word;
    }
    repeated.insert(repeated.end(), part.repeated.begin(), part.repeated.end());
  }
  const std::vector<std::uint64_t> begins = begins_of(sizes);
  HashedValues all(begins.back());
  for_each_task(tasks, [&](std::uint64_t task) {
    const FoundAnchors part = std::exchange(found[task], {});
    std::ranges::copy(part.hashes, all.hashes.get() + begins[task]);
    std::ranges::copy(part.anchors, all.values.get() + begins[task]);
  });
  return all;
}

}  // namespace

MarkingPlan plan_marking(const HostContext& context, std::uint64_t text_bytes,
                         std::uint64_t documents, const DeduplicationOptions& options) {
  // Anchors are held twice while they are brought together, and 24 bytes for each match.
  constexpr std::uint64_t bytes_of_anchor = 44;
  constexpr std::uint64_t most_passes = 1024;
  const AnchorShape shape = AnchorShape::of(options.min_length);
  const std::uint64_t marks = OffsetBits::bytes_of(text_bytes) * (options.protect_first ? 2 : 1);
  const std::uint64_t anchors =
      bytes_of_anchor * (9 * text_bytes / (4 * (shape.offsets + 1)) + documents + 1);
  HostMemoryBudget budget(context);
  budget.require("text deduplication", marks + anchors / most_passes + 1);
  const std::uint64_t passes = (anchors - 1) / (budget.left() - marks) + 1;
  return {passes, marks + (anchors - 1) / passes + 1};
}

DuplicateMarks mark_duplicates(const Context& context, std::span<const std::uint8_t> text,
                               std::span<const std::uint64_t> begins,
                               const DeduplicationOptions& options) {
  start_host_runtime(context.threads);
  const AnchorShape shape = AnchorShape::of(options.min_length);
  const std::vector<std::uint64_t> borders = window_borders(begins, options);
  const std::uint64_t passes =
      plan_marking(context, text.size(), begins.size() - 1, options).passes;
  DuplicateMarks marks;
  marks.removed = OffsetBits(text.size());
  if (options.protect_first) marks.kept = OffsetBits(text.size());
  std::uint64_t count = 0;
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    std::vector<Anchor> repeated;
    HashedValues found = collect(context, text, borders, shape, {pass, passes}, repeated);
    count += found.size;
    sort_by_hash(context, found);
    const auto is_repeated = [](std::uint64_t word) { return PackedAnchor{word}.is_repeated(); };
    const auto member_of = [&](std::uint64_t word) {
      const PackedAnchor packed{word};
      const Anchor anchor = packed.is_repeated() ? repeated[packed.number()] : packed.anchor();
      return Member{text.data() + anchor.position, anchor};
    };
    mark_groups(context, found, is_repeated, member_of, shape, options,
                other_begin_of(begins, options), marks);
    report_progress(context, "groups", pass + 1, passes);
  }
  marks.join_first_windows();
  if (context.report != nullptr) {
    context.report->set("passes", passes);
    context.report->set("anchors", count);
  }
  return marks;
}

}  // namespace sortie::texts::host
