// SPDX-License-Identifier: Apache-2.0
#include "core/phase_timer.hpp"

#include <sys/resource.h>

namespace sortie {

namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

double process_cpu_seconds() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

double PhaseTimer::stop() {
  const double seconds = seconds_between(start_, std::chrono::steady_clock::now());
  if (!stopped_ && report_ != nullptr) report_->add_phase(name_, seconds, bytes_);
  stopped_ = true;
  return seconds;
}

}  // namespace sortie
