// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "core/cuda/device_context.hpp"
#include "core/cuda/device_phase.hpp"
#include "sortie/device_csr.hpp"

namespace sortie::spgemm::cuda {

/// Copies A and B to the device (once if they are the same object) and returns function(A, B) for
/// views of the copies.
template <class Column, class Value, class Idx, class Function>
auto with_operands_of_width(const DeviceContext& context, const matrices::Csr<Value, Idx>& a,
                            const matrices::Csr<Value, Idx>& b, Function&& function) {
  DevicePhase phase(context, "copy in");
  const auto device_a = to_device<Column>(a, context.stream);
  if (&a == &b) {
    phase.stop();
    return function(view(device_a), view(device_a));
  }
  const auto device_b = to_device<Column>(b, context.stream);
  phase.stop();
  return function(view(device_a), view(device_b));
}

/// The same with the narrowest column type that holds all columns of A and B. The context's device
/// must be current.
template <class Value, class Idx, class Function>
auto with_operands(const DeviceContext& context, const matrices::Csr<Value, Idx>& a,
                   const matrices::Csr<Value, Idx>& b, Function&& function) {
  if constexpr (sizeof(Idx) == sizeof(std::int64_t)) {
    if (needs_wide_columns(a.cols) || needs_wide_columns(b.cols)) {
      return with_operands_of_width<std::uint64_t>(context, a, b, std::forward<Function>(function));
    }
  }
  return with_operands_of_width<std::uint32_t>(context, a, b, std::forward<Function>(function));
}

}  // namespace sortie::spgemm::cuda
