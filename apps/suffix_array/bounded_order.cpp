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
#include "sortie/run_report.hpp"
#include "sortie/segmented_sort.hpp"

namespace sortie::suffix_array {
namespace {

/// Ranges of neighbouring entries that agree in a given number of letters.
template <class Pos>
struct Segments {
  std::vector<Pos> begins;
  std::vector<Pos> ends;

  [[nodiscard]] std::uint64_t bytes() const { return 2 * begins.size() * sizeof(Pos); }
};

template <Position Pos>
Segments<Pos> segments_of(std::span<const Pos> lcp, std::uint64_t letters) {
  Segments<Pos> segments;
  for (std::uint64_t i = 1; i < lcp.size(); ++i) {
    if (lcp[i] < letters) continue;
    const std::uint64_t begin = i - 1;
    while (i < lcp.size() && lcp[i] >= letters) ++i;
    segments.begins.push_back(static_cast<Pos>(begin));
    segments.ends.push_back(static_cast<Pos>(i));
  }
  return segments;
}

template <Position Pos>
void require_permutation(std::span<const Pos> suffixes) {
  std::vector<bool> seen(suffixes.size());
  for (std::uint64_t i = 0; i < suffixes.size(); ++i) {
    const std::uint64_t position = suffixes[i];
    if (position < suffixes.size() && !seen[position]) {
      seen[position] = true;
      continue;
    }
    throw Error(ErrorKind::check,
                fmt::format("bounded order, entry {}: found position {}, expected each position "
                            "below {} once",
                            i, position, suffixes.size()));
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
  const Segments<Pos> segments = segments_of<Pos>(lcp, letters);
  Context sorting = context;
  sorting.report = nullptr;  // the sort counts as part of this phase
  if (context.memory_budget != 0 && resolve_backend(context) == Backend::host) {
    HostMemoryBudget budget(context);
    budget.require("bounded order", segments.bytes());
    budget.hold(segments.bytes());
    sorting.memory_budget = std::max<std::uint64_t>(1, budget.left());
  }
  segmented_sort(sorting, suffixes, std::span<const Pos>(segments.begins),
                 std::span<const Pos>(segments.ends));
  for (Pos& entry : lcp) {
    if (entry > letters) entry = static_cast<Pos>(letters);
  }
}

template <Position Pos>
void check_bounded_order(const HostContext& context, const TextView& text,
                         std::span<const Pos> suffixes, std::uint64_t letters) {
  if (suffixes.size() != text.size()) {
    throw Error(ErrorKind::check,
                fmt::format("bounded order: found {} entries, expected {}, one for each symbol",
                            suffixes.size(), text.size()));
  }
  require_memory(context, "check of the bounded order",
                 text.size() / 8 * (text.separators.empty() ? 1 : 2));
  start_host_runtime(context.threads);
  report_progress(context, "check bounded order", 0, suffixes.size());
  const PhaseTimer timer(context, "check bounded order");
  require_permutation(suffixes);
  const std::vector<std::uint32_t> bits = host::separator_bits(text);
  const RecordEnds is_end{bits.empty() ? nullptr : bits.data(), text.size()};
  const Pos* entries = suffixes.data();
  const std::uint64_t fault = first_index(1, suffixes.size(), [&](std::uint64_t i) {
    return !is_before(text, is_end, entries[i - 1], entries[i], letters);
  });
  if (fault == no_index) {
    report_progress(context, "check bounded order", suffixes.size(), suffixes.size());
    return;
  }
  throw Error(ErrorKind::check,
              fmt::format("bounded order, entry {}: found position {} after position {}, expected "
                          "the smaller suffix first",
                          fault, suffixes[fault], suffixes[fault - 1]));
}

template decltype(bound_order<std::uint32_t>) bound_order<std::uint32_t>;
template decltype(bound_order<std::uint64_t>) bound_order<std::uint64_t>;
template decltype(check_bounded_order<std::uint32_t>) check_bounded_order<std::uint32_t>;
template decltype(check_bounded_order<std::uint64_t>) check_bounded_order<std::uint64_t>;

}  // namespace sortie::suffix_array
