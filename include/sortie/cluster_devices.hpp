// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

#include "sortie/cluster.hpp"
#include "sortie/context.hpp"
#include "sortie/export.hpp"

namespace sortie::cluster {

/// Runs `job` on ranks of this process, one for each CUDA device of a list: a thread each, with a
/// context whose backend is CUDA and whose device is that of the rank. Returns when all have ended.
///
///     run_on_devices(context, spread_over_gpus(context, 0), [&](Ranks& ranks, const Context& own) {
///       const auto share = build_suffix_array<std::uint32_t>(ranks, own, text);
///       ...
///     });
///
/// Devices work at the same time. Parallel work of the host runs on the calling thread, for one rank
/// at a time, with all host threads. Exchanges are copies in host memory.
///
/// \param context  threads; memory budget of each GPU; report and progress, which rank 0 gets: the
///                 others have none. Report: figures "devices", their number, and "gpus", the number
///                 of different GPUs
/// \param devices  CUDA devices, as spread_over_gpus() lists them. One may occur several times: these
///                 ranks share its memory
/// \throws Error (usage) no devices; (unavailable) no such device; else as run_in_process()
SORTIE_API void run_on_devices(const Context& context, std::span<const int> devices,
                               const std::function<void(Ranks&, const Context&)>& job);

}  // namespace sortie::cluster
