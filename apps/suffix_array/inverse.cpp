// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "apps/suffix_array/backends.hpp"
#include "apps/suffix_array/device_or_host.hpp"
#include "apps/suffix_array/host/arrays.hpp"
#include "apps/suffix_array/host/preconditions.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/run_report.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array {

template <Position Pos>
std::vector<Pos> host::invert(const Context& context, std::span<const Pos> suffixes) {
  const std::uint64_t size = suffixes.size();
  require_memory(context, "inverse suffix array", size * sizeof(Pos));
  start_host_runtime(context.threads);
  require_positions("inverse suffix array", suffixes, size);
  report_progress(context, "inverse", 0, size);
  PhaseTimer timer(context, "inverse", 2 * size * sizeof(Pos));
  std::vector<Pos> inverse = allocate_vector<Pos>(size);
  const Pos* entries = suffixes.data();
  Pos* const ranks = inverse.data();
  // Atomic, because an input that is not a permutation may have equal entries.
  for_each_index(0, size, [=](std::uint64_t i) {
    std::atomic_ref<Pos>(ranks[entries[i]]).store(static_cast<Pos>(i), std::memory_order_relaxed);
  });
  report_progress(context, "inverse", size, size);
  return inverse;
}

template <Position Pos>
std::vector<Pos> inverse_suffix_array(const Context& context, std::span<const Pos> suffixes) {
  const Backend backend = resolve_backend(context);
  if (suffixes.empty()) return {};
  return device_or_host(
      context, backend, "inverse", [&] { return cuda::invert(context, suffixes); },
      [&](const Context& here) { return host::invert(here, suffixes); });
}

template decltype(host::invert<std::uint32_t>) host::invert<std::uint32_t>;
template decltype(host::invert<std::uint64_t>) host::invert<std::uint64_t>;
template decltype(inverse_suffix_array<std::uint32_t>) inverse_suffix_array<std::uint32_t>;
template decltype(inverse_suffix_array<std::uint64_t>) inverse_suffix_array<std::uint64_t>;

}  // namespace sortie::suffix_array
