// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <cstdint>

#include "core/host_memory.hpp"
#include "sortie/context.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm::host {

/// Usable bytes of work space: the context's budget, else half of the free memory, which leaves the
/// other half for the result.
[[nodiscard]] inline std::uint64_t work_space_budget(const HostContext& context) {
  return context.memory_budget != 0 ? context.memory_budget : host_memory_available() / 2;
}

/// The error for a row whose products do not fit the budget. \param row  from 0
[[nodiscard]] inline Error row_out_of_memory(std::int64_t row, std::int64_t products,
                                             std::uint64_t bytes, std::uint64_t budget) {
  return out_of_memory_error(fmt::format("the {} products of row {} of C", products, row + 1),
                             bytes, budget);
}

}  // namespace sortie::spgemm::host
