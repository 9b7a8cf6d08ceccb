// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "cluster/device_exchange.hpp"
#include "cluster/device_share.hpp"
#include "core/device_lifetime.hpp"
#include "sortie/cluster_devices.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::cluster {
namespace {

std::size_t different(std::span<const int> devices) {
  return std::set<int>(devices.begin(), devices.end()).size();
}

}  // namespace

void run_on_devices(const Context& context, std::span<const int> devices,
                    const std::function<void(Ranks&, const Context&)>& job) {
  if (devices.empty()) throw Error(ErrorKind::usage, "found no devices, expected one at least");
  std::vector<Context> contexts(devices.size(), context);
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    Context& own = contexts[rank];
    own.backend = Backend::cuda;
    own.device = devices[rank];
    static_cast<void>(resolve_backend(own));
    if (rank == 0) continue;
    own.report = nullptr;
    own.progress = {};
  }
  if (context.report != nullptr) {
    context.report->set("devices", std::uint64_t{devices.size()});
    context.report->set("gpus", std::uint64_t{different(devices)});
  }
  run_in_process(static_cast<int>(devices.size()), true, [&](Ranks& ranks) {
    const Context& own = contexts[static_cast<std::size_t>(ranks.rank())];
    ranks.on_devices("start device", [&] { start_device(own.device, copy_threads(ranks, own)); });
    job(ranks, own);
  });
}

bool on_cuda(Ranks& ranks, const Context& context) {
  bool is_cuda = false;
  ranks.together("find device", [&] { is_cuda = resolve_backend(context) == Backend::cuda; });
  const std::uint64_t count = ranks.sum(is_cuda ? 1 : 0);
  ranks.together("compare backends", [&] {
    if (count == 0 || count == static_cast<std::uint64_t>(ranks.size())) return;
    throw Error(ErrorKind::usage,
                fmt::format("found the backend {} on this rank, expected that of all {} ranks",
                            name(is_cuda ? Backend::cuda : Backend::host), ranks.size()));
  });
  return is_cuda;
}

DeviceShare share_device(Ranks& ranks, const Context& context) {
  DeviceIdentity identity{};
  DeviceShare share;
  ranks.on_devices("measure device memory", [&] {
    identity = device_identity(context.device);
    share.bytes = free_device_memory(context.device);
  });
  const std::vector<DeviceIdentity> all = ranks.gather(identity);
  share.first = static_cast<int>(std::ranges::find(all, identity) - all.begin());
  share.ranks = static_cast<int>(std::ranges::count(all, identity));
  if (context.memory_budget != 0) share.bytes = std::min(share.bytes, context.memory_budget);
  share.bytes /= static_cast<std::uint64_t>(share.ranks);
  return share;
}

#ifndef SORTIE_HAVE_CUDA
std::string nccl_description() {
  return "none: this build has no CUDA";
}

void start_devices(std::span<const int>, int, std::uint64_t) {}
#endif

std::string describe_devices(std::span<const int> devices) {
  const std::size_t gpus = different(devices);
  const std::string of_gpus = fmt::format("{} {}", gpus, gpus == 1 ? "GPU" : "GPUs");
  if (gpus == devices.size()) return of_gpus;
  return fmt::format("{} logical devices on {}", devices.size(), of_gpus);
}

}  // namespace sortie::cluster
