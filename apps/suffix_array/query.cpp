// SPDX-License-Identifier: Apache-2.0
#include "sortie/query.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/binary_search.hpp"
#include "apps/suffix_array/host/arrays.hpp"
#include "apps/suffix_array/host/preconditions.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::suffix_array {
namespace {

constexpr std::string_view title = "suffix array query";

/// Bytes of the ranges, and of one bit a symbol where there are separators.
std::uint64_t search_bytes(const TextView& text, const PatternView& patterns) {
  return patterns.size() * sizeof(EntryRange) + (text.separators.empty() ? 0 : text.size() / 8);
}

/// Patterns of a task: few, since each takes some microseconds, and more where it is frequent.
constexpr std::uint64_t patterns_of_task = 64;

}  // namespace

void require_patterns(const PatternView& patterns) {
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < patterns.begins.size(); ++i) {
    const std::uint64_t next = patterns.begins[i];
    if (begin <= next && next <= patterns.letters.size()) {
      begin = next;
      continue;
    }
    throw Error(ErrorKind::usage,
                fmt::format("{}, begin {} of the patterns: found {}, expected {} to {}", title, i,
                            next, begin, patterns.letters.size()));
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
std::vector<EntryRange> host::find(const Context& context, const TextView& text,
                                   std::span<const Pos> suffixes, const PatternView& patterns) {
  require_memory(context, title, search_bytes(text, patterns));
  start_host_runtime(context.threads);
  require_positions(title, suffixes, text.size());
  report_progress(context, "query", 0, patterns.size());
  PhaseTimer timer(context, "query", patterns.letters.size());
  const std::vector<std::uint32_t> bits = separator_bits(text);
  const PatternSearch<Pos> search(text.symbols.data(), suffixes.data(),
                                  {bits.empty() ? nullptr : bits.data(), text.size()});
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
std::vector<EntryRange> find(const Context& context, const TextView& text,
                             std::span<const Pos> suffixes, const PatternView& patterns) {
  require_same_size(title, text, suffixes.size());
  require_patterns(patterns);
  const Backend backend = resolve_backend(context);
  if (text.size() == 0 || patterns.size() == 0) return std::vector<EntryRange>(patterns.size());
  return backend == Backend::cuda ? cuda::find(context, text, suffixes, patterns)
                                  : host::find(context, text, suffixes, patterns);
}

template <Position Pos>
Occurrences<Pos> host::locate(const Context& context, const TextView& text,
                              std::span<const Pos> suffixes, const PatternView& patterns,
                              std::uint64_t most_hits) {
  Occurrences<Pos> found;
  found.ranges = host::find(context, text, suffixes, patterns);
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
  found.positions = allocate_vector<Pos>(total);
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

template <Position Pos>
Occurrences<Pos> locate(const Context& context, const TextView& text, std::span<const Pos> suffixes,
                        const PatternView& patterns, std::uint64_t most_hits) {
  require_same_size(title, text, suffixes.size());
  require_patterns(patterns);
  const Backend backend = resolve_backend(context);
  if (text.size() == 0 || patterns.size() == 0) {
    return {std::vector<EntryRange>(patterns.size()),
            std::vector<std::uint64_t>(patterns.size() + 1),
            {}};
  }
  return backend == Backend::cuda ? cuda::locate(context, text, suffixes, patterns, most_hits)
                                  : host::locate(context, text, suffixes, patterns, most_hits);
}

template decltype(host::find<std::uint32_t>) host::find<std::uint32_t>;
template decltype(host::find<std::uint64_t>) host::find<std::uint64_t>;
template decltype(find<std::uint32_t>) find<std::uint32_t>;
template decltype(find<std::uint64_t>) find<std::uint64_t>;
template decltype(host::locate<std::uint32_t>) host::locate<std::uint32_t>;
template decltype(host::locate<std::uint64_t>) host::locate<std::uint64_t>;
template decltype(locate<std::uint32_t>) locate<std::uint32_t>;
template decltype(locate<std::uint64_t>) locate<std::uint64_t>;

}  // namespace sortie::suffix_array
