#pragma once

#include <cstdint>
#include <string_view>

#include "sortie/core/context.hpp"
#include "sortie/core/error.hpp"
#include "sortie/core/host_memory.hpp"

namespace sortie::suffix_array::host {

/// Refuses work that needs more host memory than the context's budget or, without one, than is
/// free. \throws Error (out_of_memory)
inline void require_memory(const Context& context, std::string_view what, std::uint64_t bytes) {
  const std::uint64_t limit =
      context.memory_budget != 0 ? context.memory_budget : host_memory_available();
  if (bytes > limit) throw out_of_memory_error(what, bytes, limit);
}

}  // namespace sortie::suffix_array::host
