// SPDX-License-Identifier: Apache-2.0

// The LCP array on the host threads, by the permuted LCP array: the entries in text order.
//
// 1. phi     For every position, the position before it in the suffix array.
// 2. permute In text order, each entry is at least the previous one minus 1, so every letter is
//    compared about once. Each task computes a range of the text; only the first entry of a range
//    has no known prefix.
// 3. gather  The entries in the order of the suffix array.
//
// Memory for n symbols: phi, overwritten by the permuted array, and the result.
//
// The bounded order (program_calls.hpp) follows from the LCP array.
#include "sortie/lcp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/program_calls.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/error.hpp"
#include "sortie/segmented_sort.hpp"

namespace sortie::suffix_array {
namespace {

constexpr std::string_view title = "LCP array";

/// Ranges per thread: enough for load balance, few because a range within a long repeat compares
/// all of the repeat once more.
constexpr std::uint64_t ranges_a_thread = 8;
/// Shorter ranges would compare more letters for their first entries than for all others.
constexpr std::uint64_t least_range = 1 << 14;

/// The end of the record that contains `position`: the first separator at or after it, or the end
/// of the text. O(log separators).
std::uint64_t end_of_record(const TextView& text, std::uint64_t position) {
  const auto end = std::lower_bound(text.separators.begin(), text.separators.end(), position);
  return end == text.separators.end() ? text.size() : *end;
}

/// The number of letters that two suffixes have in common, given that the first `known` agree; at
/// most `limit`, which lies within both records. Compares eight letters at a time.
std::uint64_t common_letters(const TextView& text, std::uint64_t left, std::uint64_t right,
                             std::uint64_t known, std::uint64_t limit) {
  const std::uint8_t* a = text.symbols.data() + left;
  const std::uint8_t* b = text.symbols.data() + right;
  constexpr std::uint64_t step = sizeof(std::uint64_t);
  while (known + step <= limit && std::memcmp(a + known, b + known, step) == 0) known += step;
  while (known < limit && a[known] == b[known]) ++known;
  return known;
}

/// The same from the first letter, up to the end of the shorter record.
std::uint64_t common_letters(const TextView& text, std::uint64_t left, std::uint64_t right) {
  const std::uint64_t limit =
      std::min(end_of_record(text, left) - left, end_of_record(text, right) - right);
  return common_letters(text, left, right, 0, limit);
}

template <Position Pos>
std::vector<Pos> lcp_on_host(const Context& context, const TextView& text,
                             std::span<const Pos> suffixes) {
  const std::uint64_t size = text.size();
  require_memory(context, title, 2 * size * sizeof(Pos));
  start_host_runtime(context.threads);
  require_positions(title, suffixes, size);
  report_progress(context, "lcp", 0, size);
  PhaseTimer timer(context, "lcp", size * (1 + 3 * sizeof(Pos)));
  const Pos* entries = suffixes.data();
  const auto array = allocate_array<Pos>(size);
  Pos* const permuted = array.get();
  // Positions that occur in no entry (`suffixes` is not a permutation then) keep this value.
  for_each_index(0, size, [=](std::uint64_t position) { permuted[position] = 0; });
  for_each_index(1, size, [=](std::uint64_t i) { permuted[entries[i]] = entries[i - 1]; });

  const std::uint64_t range =
      std::max(least_range, size / (worker_threads() * ranges_a_thread) + 1);
  for_each_range(size, range, [=, first = entries[0]](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t common = 0;
    std::uint64_t record_end = end_of_record(text, begin);
    for (std::uint64_t position = begin; position < end; ++position) {
      if (position > record_end) record_end = end_of_record(text, position);
      if (position == first) {
        common = 0;
      } else {
        const std::uint64_t before = permuted[position];
        const std::uint64_t limit =
            std::min(record_end - position, end_of_record(text, before) - before);
        // `common` exceeds the limit only if `suffixes` is not a suffix array.
        common = common_letters(text, before, position, std::min(common, limit), limit);
      }
      permuted[position] = static_cast<Pos>(common);
      if (common > 0) --common;
    }
  });

  std::vector<Pos> lcp = allocate_vector<Pos>(size);
  Pos* const result = lcp.data();
  for_each_index(0, size, [=](std::uint64_t i) { result[i] = permuted[entries[i]]; });
  report_progress(context, "lcp", size, size);
  return lcp;
}

/// Checks one entry, given that all others are right.
template <Position Pos>
struct EntryCheck {
  TextView text;
  const Pos* suffixes;
  const Pos* inverse;
  const Pos* lcp;

  [[nodiscard]] bool are_equal_letters(std::uint64_t left, std::uint64_t right) const {
    return std::max(left, right) < text.size() && text.symbols[left] == text.symbols[right] &&
           end_of_record(text, left) != left && end_of_record(text, right) != right;
  }
  [[nodiscard]] bool is_right(std::uint64_t i) const {
    const std::uint64_t left = suffixes[i - 1];
    const std::uint64_t right = suffixes[i];
    const std::uint64_t common = lcp[i];
    if (common > text.size() - std::max(left, right)) return false;
    if (are_equal_letters(left + common, right + common)) return false;
    if (common == 0) return true;
    // Equal letters before two neighbours: with these letters the suffixes are neighbours again.
    if (left > 0 && right > 0 && are_equal_letters(left - 1, right - 1)) {
      return lcp[inverse[right - 1]] == common + 1;
    }
    return common_letters(text, left, right) == common;
  }
};

/// True when the suffix at `left` precedes that at `right` in bounded order.
bool is_before(const TextView& text, std::uint64_t left, std::uint64_t right,
               std::uint64_t letters) {
  const std::uint64_t left_letters = end_of_record(text, left) - left;
  const std::uint64_t right_letters = end_of_record(text, right) - right;
  const std::uint64_t limit = std::min({left_letters, right_letters, letters});
  const std::uint64_t common = common_letters(text, left, right, 0, limit);
  if (common < limit) return text.symbols[left + common] < text.symbols[right + common];
  if (limit == letters || left_letters == right_letters) return left < right;
  return left_letters < right_letters;
}

}  // namespace

template <Position Pos>
std::vector<Pos> lcp_array(const Context& context, const TextView& text,
                           std::span<const Pos> suffixes) {
  require_same_size(title, text, suffixes.size());
  return device_or_host(
      context, suffixes.empty(), "lcp",
      [&](const auto& here) { return cuda::lcp_array(here, text, suffixes); },
      [&](const Context& here) { return lcp_on_host(here, text, suffixes); });
}

template <Position Pos>
void check_lcp(const HostContext& context, const TextView& text, std::span<const Pos> suffixes,
               std::span<const Pos> lcp) {
  require_same_size(title, text, suffixes.size());
  require_entries(title, lcp.size(), suffixes.size());
  if (lcp.empty()) return;
  if (lcp[0] != 0) throw wrong_entry(title, 0, fmt::format("found {}, expected 0", lcp[0]));
  report_progress(context, "check lcp", 0, lcp.size());
  const PhaseTimer timer(context, "check lcp");
  Context on_host{context, Backend::host};
  on_host.report = nullptr;  // the inverse counts as part of this phase
  on_host.progress = {};
  const std::vector<Pos> inverse = inverse_suffix_array(on_host, suffixes);
  const EntryCheck<Pos> check{text, suffixes.data(), inverse.data(), lcp.data()};
  const std::uint64_t wrong =
      first_index(1, lcp.size(), [=](std::uint64_t i) { return !check.is_right(i); });
  if (wrong == no_index) {
    report_progress(context, "check lcp", lcp.size(), lcp.size());
    return;
  }
  const auto letters = [&](std::uint64_t i) {
    return common_letters(text, suffixes[i - 1], suffixes[i]);
  };
  // If the letters confirm this entry, the entry that it was compared with is wrong.
  std::uint64_t culprit = wrong;
  if (letters(wrong) == lcp[wrong] && suffixes[wrong] > 0) culprit = inverse[suffixes[wrong] - 1];
  if (culprit == 0) culprit = wrong;
  throw wrong_entry(
      title, culprit,
      fmt::format("found {}, but positions {} and {} have {} letters in common", lcp[culprit],
                  suffixes[culprit - 1], suffixes[culprit], letters(culprit)));
}

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
  require_memory(context, "check of the bounded order", text.size() / 8);
  start_host_runtime(context.threads);
  report_progress(context, "check bounded order", 0, suffixes.size());
  const PhaseTimer timer(context, "check bounded order");
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
  require_right(
      "bounded order", 1, suffixes.size(),
      [&](std::uint64_t i) { return !is_before(text, suffixes[i - 1], suffixes[i], letters); },
      [&](std::uint64_t i) { return wrong_order(suffixes[i], suffixes[i - 1]); });
  report_progress(context, "check bounded order", suffixes.size(), suffixes.size());
}

SORTIE_FOR_BOTH_POSITIONS(lcp_array);
SORTIE_FOR_BOTH_POSITIONS(check_lcp);
SORTIE_FOR_BOTH_POSITIONS(bound_order);
SORTIE_FOR_BOTH_POSITIONS(check_bounded_order);

}  // namespace sortie::suffix_array
