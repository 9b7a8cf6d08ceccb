#pragma once

#include "sortie/core/context.hpp"

namespace sortie {

/// Makes a context's device current for a scope and restores the previous one after it. Raises the
/// release threshold of the device's memory pool, so that repeated calls reuse memory.
class DeviceScope {
 public:
  /// \throws Error (unavailable, device)
  explicit DeviceScope(const Context& context);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int previous_ = 0;
};

/// Bytes of work space that device code may take: the context's budget, and never more than what is
/// free on the current device (pool memory that is reserved but unused counts as free).
[[nodiscard]] std::uint64_t device_memory_budget(const Context& context);

/// Bytes free on the current device, unused pool memory included.
[[nodiscard]] std::uint64_t device_memory_free();

}  // namespace sortie
