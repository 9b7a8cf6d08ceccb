#pragma once

#include <cstdint>
#include <utility>

#include "sortie/apps/spgemm/cuda/device_csr.cuh"
#include "sortie/apps/spgemm/cuda/device_phase.hpp"
#include "sortie/core/cuda/device_scope.hpp"

namespace sortie::spgemm::cuda {

/// Copies A and B to the device (once when they are the same object) and returns
/// function(A, B) for the copies.
template <class Column, class Value, class Idx, class Function>
auto with_operands_of_width(const Context& context, const matrices::Csr<Value, Idx>& a,
                            const matrices::Csr<Value, Idx>& b, Function&& function) {
  DevicePhase phase(context, "copy in");
  const auto device_a = to_device<Column>(a, context.stream);
  if (&a == &b) {
    phase.stop();
    return function(device_a, device_a);
  }
  const auto device_b = to_device<Column>(b, context.stream);
  phase.stop();
  return function(device_a, device_b);
}

/// The same with the narrower columns that hold all of A and B, on the context's device.
template <class Value, class Idx, class Function>
auto with_operands(const Context& context, const matrices::Csr<Value, Idx>& a,
                   const matrices::Csr<Value, Idx>& b, Function&& function) {
  const DeviceScope scope(context);
  if constexpr (sizeof(Idx) == sizeof(std::int64_t)) {
    if (needs_wide_columns(a.cols) || needs_wide_columns(b.cols)) {
      return with_operands_of_width<std::uint64_t>(context, a, b, std::forward<Function>(function));
    }
  }
  return with_operands_of_width<std::uint32_t>(context, a, b, std::forward<Function>(function));
}

}  // namespace sortie::spgemm::cuda
