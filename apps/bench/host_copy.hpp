#pragma once

#include <cstddef>
#include <span>

#include "sortie/apps/bench/bench.hpp"

namespace sortie::bench {

/// Copies with as many threads as the host runtime has: what is fastest that a sort could do.
/// \param to  at least as long as `from`, apart from it
void copy_by_threads(std::span<const std::byte> from, std::span<std::byte> to);

/// The limit of a case: the copy of its keys and values.
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
