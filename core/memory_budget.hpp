// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "core/host_memory.hpp"
#include "sortie/context.hpp"
#include "sortie/error.hpp"

namespace sortie {

/// The host memory that a call may take: the memory budget of its context, or all free memory.
class HostMemoryBudget {
 public:
  HostMemoryBudget() = default;
  explicit HostMemoryBudget(const HostContext& context) : budget_(context.memory_budget) {}

  /// Bytes that can be taken now. What is held already does not count as free memory.
  [[nodiscard]] std::uint64_t left() const {
    if (budget_ == 0) return host_memory_available();
    return budget_ > held_ ? budget_ - held_ : 0;
  }
  /// \throws Error (out_of_memory) fewer than `bytes` are left; `what` needs them
  void require(std::string_view what, std::uint64_t bytes) const {
    if (const std::uint64_t free = left(); bytes > free)
      throw out_of_memory_error(what, bytes, free);
  }
  /// Counts memory that the call keeps.
  void hold(std::uint64_t bytes) { held_ += bytes; }

 private:
  std::uint64_t budget_ = 0;
  std::uint64_t held_ = 0;
};

/// Checks before an allocation that it is within the budget of a context, or the free memory.
/// \throws Error (out_of_memory) naming `what`
inline void require_memory(const HostContext& context, std::string_view what, std::uint64_t bytes) {
  HostMemoryBudget(context).require(what, bytes);
}

}  // namespace sortie
