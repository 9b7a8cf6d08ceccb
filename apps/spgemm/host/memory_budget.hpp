#pragma once

#include <fmt/core.h>

#include <cstdint>

#include "sortie/core/context.hpp"
#include "sortie/core/error.hpp"
#include "sortie/core/host_memory.hpp"

namespace sortie::spgemm::host {

/// Bytes of work space that may be taken: the context's budget, else half of what is free, so that
/// the result finds room beside it.
[[nodiscard]] inline std::uint64_t work_space_budget(const Context& context) {
  return context.memory_budget != 0 ? context.memory_budget : host_memory_available() / 2;
}

/// The error for a row whose products do not fit the budget. \param row  from 0
[[nodiscard]] inline Error row_out_of_memory(std::int64_t row, std::int64_t products,
                                             std::uint64_t bytes, std::uint64_t budget) {
  return out_of_memory_error(fmt::format("the {} products of row {} of C", products, row + 1),
                             bytes, budget);
}

}  // namespace sortie::spgemm::host
