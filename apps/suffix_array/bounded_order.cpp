// SPDX-License-Identifier: Apache-2.0
#include "apps/suffix_array/bounded_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/binary_search.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"
#include "sortie/segmented_sort.hpp"

namespace sortie::suffix_array {
namespace {

template <Position Pos>
void require_permutation(std::span<const Pos> suffixes) {
  std::vector<bool> seen(suffixes.size());
  for (std::uint64_t i = 0; i < suffixes.size(); ++i) {
    const std::uint64_t position = suffixes[i];
    if (position >= suffixes.size() || seen[position]) {
      throw wrong_entry("bounded order", i,
                        fmt::format("found position {}, expected each position below {} once",
                                    position, suffixes.size()));
    }
    seen[position] = true;
  }
}

/// True when the suffix at `left` precedes that at `right` in bounded order.
bool is_before(const TextView& text, const RecordEnds& is_end, std::uint64_t left,
               std::uint64_t right, std::uint64_t letters) {
  for (std::uint64_t i = 0; i < letters; ++i) {
    const bool left_ends = is_end(left + i);
    const bool right_ends = is_end(right + i);
    if (left_ends || right_ends) return left_ends && right_ends ? left < right : left_ends;
    const std::uint8_t left_letter = text.symbols[left + i];
    const std::uint8_t right_letter = text.symbols[right + i];
    if (left_letter != right_letter) return left_letter < right_letter;
  }
  return left < right;
}

}  // namespace

template <Position Pos>
void bound_order(const Context& context, std::span<Pos> suffixes, std::span<Pos> lcp,
                 std::uint64_t letters) {
  if (letters == 0) {
    throw Error(ErrorKind::usage, "bounded order: found 0 letters, expected at least 1");
  }
  if (suffixes.size() != lcp.size()) {
    throw Error(ErrorKind::usage,
                fmt::format("bounded order: found an LCP array of {} entries, expected {}",
                            lcp.size(), suffixes.size()));
  }
  const PhaseTimer timer(context, "bounded order");
  // Ranges of neighbouring entries that agree in these letters.
  std::vector<Pos> begins;
  std::vector<Pos> ends;
  for (std::uint64_t i = 1; i < lcp.size(); ++i) {
    if (lcp[i] < letters) continue;
    begins.push_back(static_cast<Pos>(i - 1));
    while (i < lcp.size() && lcp[i] >= letters) ++i;
    ends.push_back(static_cast<Pos>(i));
  }
  Context sorting = context;
  sorting.report = nullptr;  // the sort counts as part of this phase
  if (context.memory_budget != 0 && resolve_backend(context) == Backend::host) {
    const std::uint64_t bytes = 2 * begins.size() * sizeof(Pos);
    require_memory(context, "bounded order", bytes);
    sorting.memory_budget = std::max<std::uint64_t>(1, context.memory_budget - bytes);
  }
  segmented_sort(sorting, suffixes, std::span<const Pos>(begins), std::span<const Pos>(ends));
  for (Pos& entry : lcp) entry = static_cast<Pos>(std::min<std::uint64_t>(entry, letters));
}

template <Position Pos>
void check_bounded_order(const HostContext& context, const TextView& text,
                         std::span<const Pos> suffixes, std::uint64_t letters) {
  require_entries("bounded order", suffixes.size(), text.size(), ", one for each symbol");
  require_memory(context, "check of the bounded order",
                 text.size() / 8 * (text.separators.empty() ? 1 : 2));
  start_host_runtime(context.threads);
  report_progress(context, "check bounded order", 0, suffixes.size());
  const PhaseTimer timer(context, "check bounded order");
  require_permutation(suffixes);
  const std::vector<std::uint32_t> bits = host::separator_bits(text);
  const RecordEnds is_end{bits.empty() ? nullptr : bits.data(), text.size()};
  require_right(
      "bounded order", 1, suffixes.size(),
      [&](std::uint64_t i) {
        return !is_before(text, is_end, suffixes[i - 1], suffixes[i], letters);
      },
      [&](std::uint64_t i) { return wrong_order(suffixes[i], suffixes[i - 1]); });
  report_progress(context, "check bounded order", suffixes.size(), suffixes.size());
}

SORTIE_FOR_BOTH_POSITIONS(bound_order);
SORTIE_FOR_BOTH_POSITIONS(check_bounded_order);

}  // namespace sortie::suffix_array
