// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/ranks/traffic_plan.hpp"

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
  std::uint64_t most[2] = {planned_, counted};
  ranks_.reduce_all(sums, Reduction::sum);
  ranks_.reduce_all(most, Reduction::greatest);
  if (context.report == nullptr) return;
  context.report->set("ranks", std::int64_t{ranks_.size()});
  context.report->set("planned_exchange_bytes", sums[0]);
  context.report->set("planned_exchange_bytes_most", most[0]);
  context.report->set("exchanged_bytes", sums[1]);
  context.report->set("exchanged_bytes_most", most[1]);
}

}  // namespace sortie::cluster
