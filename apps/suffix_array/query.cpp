// SPDX-License-Identifier: Apache-2.0
#include "sortie/query.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/binary_search.hpp"
#include "apps/suffix_array/device_or_host.hpp"
#include "apps/suffix_array/host/arrays.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "core/progress.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array {
namespace {

constexpr std::string_view title = "suffix array query";

/// Patterns of a task: few, since each takes some microseconds, and more where it is frequent.
constexpr std::uint64_t patterns_of_task = 64;

template <Position Pos>
std::vector<EntryRange> find_on_host(const Context& context, const TextView& text,
                                     std::span<const Pos> suffixes, const PatternView& patterns) {
  // The ranges, and one bit a symbol where there are separators.
  require_memory(
      context, title,
      patterns.size() * sizeof(EntryRange) + (text.separators.empty() ? 0 : text.size() / 8));
  start_host_runtime(context.threads);
  require_positions(title, suffixes, text.size());
  report_progress(context, "query", 0, patterns.size());
  PhaseTimer timer(context, "query", patterns.letters.size());
  const std::vector<std::uint32_t> bits = host::separator_bits(text);
  const PatternSearch<Pos> search{
      text.symbols.data(), suffixes.data(), {bits.empty() ? nullptr : bits.data(), text.size()}};
  std::vector<EntryRange> ranges(patterns.size());
  EntryRange* const result = ranges.data();
  const std::uint8_t* letters = patterns.letters.data();
  const std::uint64_t* begins = patterns.begins.data();
  for_each_range(patterns.size(), patterns_of_task, [=](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i)
      result[i] = search(letters + begins[i], begins[i + 1] - begins[i]);
  });
  report_progress(context, "query", patterns.size(), patterns.size());
  return ranges;
}

template <Position Pos>
Occurrences<Pos> locate_on_host(const Context& context, const TextView& text,
                                std::span<const Pos> suffixes, const PatternView& patterns,
                                std::uint64_t most_hits) {
  Occurrences<Pos> found;
  found.ranges = find_on_host(context, text, suffixes, patterns);
  found.begins.assign(1, 0);
  found.begins.reserve(found.ranges.size() + 1);
  for (const EntryRange& range : found.ranges) {
    found.begins.push_back(found.begins.back() + std::min(range.count(), most_hits));
  }
  const std::uint64_t total = found.begins.back();
  HostMemoryBudget budget(context);
  budget.hold(patterns.size() * (sizeof(EntryRange) + sizeof(std::uint64_t)));
  budget.require(title, total * sizeof(Pos));
  report_progress(context, "locate", 0, total);
  PhaseTimer timer(context, "locate", 2 * total * sizeof(Pos));
  found.positions = host::allocate_vector<Pos>(total);
  const EntryRange* ranges = found.ranges.data();
  const std::uint64_t* begins = found.begins.data();
  const Pos* entries = suffixes.data();
  Pos* const positions = found.positions.data();
  for_each_range(patterns.size(), patterns_of_task, [=](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i)
      std::copy_n(entries + ranges[i].begin, begins[i + 1] - begins[i], positions + begins[i]);
  });
  report_progress(context, "locate", total, total);
  return found;
}

}  // namespace

void require_patterns(const PatternView& patterns) {
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < patterns.begins.size(); ++i) {
    const std::uint64_t next = patterns.begins[i];
    if (next < begin || next > patterns.letters.size()) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}, begin {} of the patterns: found {}, expected {} to {}", title, i,
                              next, begin, patterns.letters.size()));
    }
    begin = next;
  }
}

std::vector<std::uint32_t> host::separator_bits(const TextView& text) {
  if (text.separators.empty()) return {};
  std::vector<std::uint32_t> bits(text.size() / 32 + 1);
  for (const std::uint64_t position : text.separators) {
    bits[position / 32] |= std::uint32_t{1} << (position % 32);
  }
  return bits;
}

template <Position Pos>
std::vector<EntryRange> find(const Context& context, const TextView& text,
                             std::span<const Pos> suffixes, const PatternView& patterns) {
  require_same_size(title, text, suffixes.size());
  require_patterns(patterns);
  if (text.size() == 0 || patterns.size() == 0) {
    (void)resolve_backend(context);  // still refuses a backend that cannot run
    return std::vector<EntryRange>(patterns.size());
  }
  return on_backend(
      context, [&](const auto& here) { return cuda::find(here, text, suffixes, patterns); },
      [&](const Context& here) { return find_on_host(here, text, suffixes, patterns); });
}

template <Position Pos>
Occurrences<Pos> locate(const Context& context, const TextView& text, std::span<const Pos> suffixes,
                        const PatternView& patterns, std::uint64_t most_hits) {
  require_same_size(title, text, suffixes.size());
  require_patterns(patterns);
  if (text.size() == 0 || patterns.size() == 0) {
    (void)resolve_backend(context);
    return {std::vector<EntryRange>(patterns.size()),
            std::vector<std::uint64_t>(patterns.size() + 1),
            {}};
  }
  return on_backend(
      context,
      [&](const auto& here) { return cuda::locate(here, text, suffixes, patterns, most_hits); },
      [&](const Context& here) {
        return locate_on_host(here, text, suffixes, patterns, most_hits);
      });
}

SORTIE_FOR_BOTH_POSITIONS(find);
SORTIE_FOR_BOTH_POSITIONS(locate);

}  // namespace sortie::suffix_array
