// The LCP array on the threads of the host, by the permuted LCP array: the entries in text order.
//
// 1. phi     For every position, the position before it in the suffix array.
// 2. permute In text order, each entry is at least the one before less one, so that every letter is
//            compared about once. Threads take stretches of the text; only the first entry of a
//            stretch starts from nothing.
// 3. gather  The entries in the order of the suffix array.
//
// Memory for n symbols: phi, which becomes the permuted array, and the result.
#include <algorithm>

#include "sortie/apps/suffix_array/backends.hpp"
#include "sortie/apps/suffix_array/host/arrays.hpp"
#include "sortie/apps/suffix_array/host/common_letters.hpp"
#include "sortie/apps/suffix_array/host/first_fault.hpp"
#include "sortie/apps/suffix_array/host/parallel.hpp"
#include "sortie/apps/suffix_array/host/preconditions.hpp"
#include "sortie/apps/suffix_array/host/work_space.hpp"
#include "sortie/core/host_runtime.hpp"
#include "sortie/core/run_report.hpp"

namespace sortie::suffix_array::host {
namespace {

/// Stretches a thread: enough that threads end together, few because a stretch within a long repeat
/// compares all of it once more.
constexpr std::uint64_t stretches_a_thread = 8;
/// Shorter stretches would compare more for their first entries than for all others.
constexpr std::uint64_t least_stretch = 1 << 14;

/// Turns phi into the permuted LCP array between two positions.
template <Position Pos>
void permute_stretch(const TextView& text, std::uint64_t first, std::uint64_t begin,
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
      // Beyond the limit only if `suffixes` is no suffix array.
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
  PhaseTimer timer(context, "lcp", size * (1 + 3 * sizeof(Pos)));
  const Pos* entries = suffixes.data();
  const auto array = allocate<Pos>(size);
  Pos* const permuted = array.get();
  // A position that no entry names, in what is no permutation, keeps this.
  Kokkos::parallel_for("clear_phi", IndexRange(0, size),
                       [=](std::uint64_t position) { permuted[position] = 0; });
  Kokkos::parallel_for("phi", IndexRange(1, size),
                       [=](std::uint64_t i) { permuted[entries[i]] = entries[i - 1]; });

  const std::uint64_t threads =
      static_cast<std::uint64_t>(Kokkos::DefaultHostExecutionSpace().concurrency());
  const std::uint64_t stretch = std::max(least_stretch, size / (threads * stretches_a_thread) + 1);
  for_each_task((size + stretch - 1) / stretch, [&](std::uint64_t task) {
    permute_stretch(text, entries[0], task * stretch, std::min(size, (task + 1) * stretch),
                    permuted);
  });

  std::vector<Pos> lcp = allocate_vector<Pos>(size);
  Pos* const result = lcp.data();
  Kokkos::parallel_for("gather_lcp", IndexRange(0, size),
                       [=](std::uint64_t i) { result[i] = permuted[entries[i]]; });
  return lcp;
}

template std::vector<std::uint32_t> lcp_array(const Context&, const TextView&,
                                              std::span<const std::uint32_t>);
template std::vector<std::uint64_t> lcp_array(const Context&, const TextView&,
                                              std::span<const std::uint64_t>);

}  // namespace sortie::suffix_array::host
