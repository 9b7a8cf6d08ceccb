// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sortie/context.hpp"

namespace sortie {

/// Makes a CUDA device current for a scope and restores the previous one afterwards.
class CurrentDevice {
 public:
  /// \throws Error (device)
  explicit CurrentDevice(int ordinal);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int previous_ = 0;
};

/// Makes the device of a context current for a scope and restores the previous one afterwards.
struct DeviceScope : CurrentDevice {
  /// \throws Error (unavailable) without CUDA or without this device; (device)
  explicit DeviceScope(const Context& context);
};

/// Bytes of workspace that device code may use: the context's budget, at most the memory that is
/// free on the current device (pool memory that is reserved but unused counts as free).
[[nodiscard]] std::uint64_t device_memory_budget(const HostContext& context);
/// Bytes free on the current device, unused pool memory included.
[[nodiscard]] std::uint64_t device_memory_free();

}  // namespace sortie
