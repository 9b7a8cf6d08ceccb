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
#include <algorithm>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/host/arrays.hpp"
#include "apps/suffix_array/host/common_letters.hpp"
#include "apps/suffix_array/host/preconditions.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/run_report.hpp"

namespace sortie::suffix_array::host {
namespace {

/// Ranges per thread: enough for load balance, few because a range within a long repeat compares
/// all of the repeat once more.
constexpr std::uint64_t ranges_a_thread = 8;
/// Shorter ranges would compare more letters for their first entries than for all others.
constexpr std::uint64_t least_range = 1 << 14;

/// Replaces phi by the permuted LCP array between two positions.
template <Position Pos>
void permute_range(const TextView& text, std::uint64_t first, std::uint64_t begin,
                   std::uint64_t end, Pos* phi) {
  std::uint64_t common = 0;
  std::uint64_t record_end = begin < end ? end_of_record(text, begin) : 0;
  for (std::uint64_t position = begin; position < end; ++position) {
    if (position > record_end) record_end = end_of_record(text, position);
    if (position == first) {
      common = 0;
    } else {
      const std::uint64_t before = phi[position];
      const std::uint64_t limit =
          std::min(record_end - position, end_of_record(text, before) - before);
      // `common` exceeds the limit only if `suffixes` is not a suffix array.
      common = common_letters(text, before, position, std::min(common, limit), limit);
    }
    phi[position] = static_cast<Pos>(common);
    if (common > 0) --common;
  }
}

}  // namespace

template <Position Pos>
std::vector<Pos> lcp_array(const Context& context, const TextView& text,
                           std::span<const Pos> suffixes) {
  const std::uint64_t size = text.size();
  require_memory(context, "LCP array", 2 * size * sizeof(Pos));
  start_host_runtime(context.threads);
  require_positions("LCP array", suffixes, size);
  report_progress(context, "lcp", 0, size);
  PhaseTimer timer(context, "lcp", size * (1 + 3 * sizeof(Pos)));
  const Pos* entries = suffixes.data();
  const auto array = allocate<Pos>(size);
  Pos* const permuted = array.get();
  // Positions that occur in no entry (`suffixes` is not a permutation then) keep this value.
  for_each_index(0, size, [=](std::uint64_t position) { permuted[position] = 0; });
  for_each_index(1, size, [=](std::uint64_t i) { permuted[entries[i]] = entries[i - 1]; });

  const std::uint64_t range =
      std::max(least_range, size / (worker_threads() * ranges_a_thread) + 1);
  for_each_range(size, range, [&](std::uint64_t begin, std::uint64_t end) {
    permute_range(text, entries[0], begin, end, permuted);
  });

  std::vector<Pos> lcp = allocate_vector<Pos>(size);
  Pos* const result = lcp.data();
  for_each_index(0, size, [=](std::uint64_t i) { result[i] = permuted[entries[i]]; });
  report_progress(context, "lcp", size, size);
  return lcp;
}

template decltype(lcp_array<std::uint32_t>) lcp_array<std::uint32_t>;
template decltype(lcp_array<std::uint64_t>) lcp_array<std::uint64_t>;

}  // namespace sortie::suffix_array::host
