// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "apps/text_deduplication/duplicate_marks.hpp"
#include "apps/text_deduplication/host/anchor_groups.hpp"
#include "apps/text_deduplication/host/anchors.hpp"
#include "core/host_memory.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/sort.hpp"

namespace sortie::texts::host {

/// Hashes of anchors with words that identify them.
struct HashedValues {
  explicit HashedValues(std::uint64_t count)
      : hashes(allocate_array<std::uint64_t>(count)),
        values(allocate_array<std::uint64_t>(count)),
        size(count) {}

  HostArray<std::uint64_t> hashes;
  HostArray<std::uint64_t> values;
  std::uint64_t size;
};

inline void sort_by_hash(const Context& context, HashedValues& items) {
  const PhaseTimer timer(context, "sort anchors", items.size * 16);
  Context plain;
  plain.threads = context.threads;
  plain.backend = Backend::host;
  sort(plain, std::span(items.hashes.get(), items.size), std::span(items.values.get(), items.size));
}

/// Marks the windows of all groups of equal hashes.
/// \param items        sorted by hash
/// \param is_repeated  whether the anchor of a value repeats itself
/// \param member_of    the Member of a value
template <class IsRepeated, class MemberOf>
void mark_groups(const Context& context, const HashedValues& items, const IsRepeated& is_repeated,
                 const MemberOf& member_of, const AnchorShape& shape,
                 const DeduplicationOptions& options, std::uint64_t other_begin,
                 DuplicateMarks& marks) {
  const PhaseTimer timer(context, "groups");
  constexpr std::uint64_t task_items = std::uint64_t{1} << 14;
  // The bytes of most members are in no cache. As many cache misses overlap.
  constexpr std::uint64_t prefetched = 24;
  const std::uint64_t* const hashes = items.hashes.get();
  const auto has_equal = [&](std::uint64_t i) {
    return (i > 0 && hashes[i - 1] == hashes[i]) ||
           (i + 1 < items.size && hashes[i + 1] == hashes[i]);
  };
  std::mutex mutex;
  for_each_range(items.size, task_items, [&](std::uint64_t first, std::uint64_t last) {
    AnchorGroups groups(shape, options, other_begin, marks);
    std::vector<Member> members;
    std::uint64_t begin = first;
    std::uint64_t ahead = first;
    while (begin > 0 && begin < last && hashes[begin - 1] == hashes[begin]) ++begin;
    for (std::uint64_t end = begin; begin < last; begin = end) {
      for (; ahead < std::min(items.size, begin + prefetched); ++ahead) {
        if (has_equal(ahead)) __builtin_prefetch(member_of(items.values[ahead]).at);
      }
      while (end < items.size && hashes[end] == hashes[begin]) ++end;
      if (end - begin == 1 && !is_repeated(items.values[begin])) continue;
      members.clear();
      for (std::uint64_t i = begin; i < end; ++i) members.push_back(member_of(items.values[i]));
      groups.mark(members);
    }
    const std::lock_guard lock(mutex);
    groups.finish();
  });
}

}  // namespace sortie::texts::host
