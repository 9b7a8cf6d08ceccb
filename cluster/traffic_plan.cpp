// SPDX-License-Identifier: Apache-2.0
#include "cluster/traffic_plan.hpp"

#include <fmt/format.h>

#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::cluster {

void TrafficPlan::finish(const HostContext& context) const {
  const std::uint64_t counted = ranks_.traffic().exchanged_bytes - counted_before_;
  ranks_.together("check traffic", [&] {
    if (counted == planned_) return;
    throw Error(ErrorKind::check, fmt::format("exchanged bytes: found {} sent, expected {} by plan",
                                              counted, planned_));
  });
  std::uint64_t sums[2] = {planned_, counted};
  ranks_.reduce_all(sums, Reduction::sum);
  const std::uint64_t most = ranks_.greatest(planned_);
  if (context.report == nullptr) return;
  context.report->set("ranks", static_cast<std::uint64_t>(ranks_.size()));
  context.report->set("planned_exchange_bytes", sums[0]);
  context.report->set("exchanged_bytes", sums[1]);
  context.report->set("most_exchange_bytes", most);
}

double imbalance_of(Ranks& ranks, std::uint64_t mine) {
  const std::uint64_t most = ranks.greatest(mine);
  const std::uint64_t all = ranks.sum(mine);
  if (all == 0) return 1;
  return static_cast<double>(most) * ranks.size() / static_cast<double>(all);
}

}  // namespace sortie::cluster
