// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "apps/bench/bench.hpp"
#include "core/host_runtime.hpp"

namespace sortie::bench {

/// Copies with all threads of the host runtime: a lower bound for the time of any sort.
/// \param to  at least as long as `from`, not overlapping it
inline void copy_by_threads(std::span<const std::byte> from, std::span<std::byte> to) {
  const auto threads = static_cast<std::size_t>(std::max(host_threads(), 1));
  const std::size_t share = (from.size() + threads - 1) / threads;
  std::vector<std::jthread> team;
  for (std::size_t begin = 0; begin < from.size(); begin += share) {
    team.emplace_back([=] {
      std::memcpy(to.data() + begin, from.data() + begin, std::min(share, from.size() - begin));
    });
  }
}

/// The limit row of a case: a copy of its keys and values.
/// \tparam Workload  has row(method name), restore(), and input_keys, input_values, keys, values
/// \param work  must outlive the method
template <class Workload>
[[nodiscard]] Method copy_method(Workload& work) {
  Method method;
  method.row = work.row("memcpy");
  method.row.limit = true;
  method.prepare = [&work] { work.restore(); };
  method.run = [&work] {
    copy_by_threads(work.input_keys, work.keys);
    copy_by_threads(work.input_values, work.values);
  };
  method.check = [&work] {
    return work.keys == work.input_keys && work.values == work.input_values;
  };
  return method;
}

}  // namespace sortie::bench
