// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "apps/suffix_array/host/first_fault.hpp"
#include "core/host_memory.hpp"
#include "sortie/context.hpp"
#include "sortie/error.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// Checks `bytes` of host memory against the context's budget or, without a budget, against the
/// free memory. \throws Error (out_of_memory) the work needs more
inline void require_memory(const HostContext& context, std::string_view what, std::uint64_t bytes) {
  const std::uint64_t limit =
      context.memory_budget != 0 ? context.memory_budget : host_memory_available();
  if (bytes > limit) throw out_of_memory_error(what, bytes, limit);
}

/// Checks the entries of a suffix array. \pre the host runtime is started
/// \throws Error (usage) an entry is not below `size`
template <Position Pos>
void require_positions(std::string_view what, std::span<const Pos> suffixes, std::uint64_t size) {
  const Pos* entries = suffixes.data();
  const std::uint64_t fault =
      first_fault(0, suffixes.size(), [=](std::uint64_t i) { return entries[i] >= size; });
  if (fault == no_fault) return;
  throw Error(ErrorKind::usage,
              fmt::format("{}, entry {} of the suffix array: found position {}, expected one below "
                          "{}",
                          what, fault, suffixes[fault], size));
}

}  // namespace sortie::suffix_array::host
