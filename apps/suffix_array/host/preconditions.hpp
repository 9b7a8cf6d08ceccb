// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "core/host_memory.hpp"
#include "primitives/host/parallel.hpp"
#include "sortie/context.hpp"
#include "sortie/error.hpp"
#include "sortie/suffix_array.hpp"

namespace sortie::suffix_array::host {

/// Checks the entries of a suffix array. \pre the host runtime is started
/// \throws Error (usage) an entry is not below `size`
template <Position Pos>
void require_positions(std::string_view what, std::span<const Pos> suffixes, std::uint64_t size) {
  const Pos* entries = suffixes.data();
  const std::uint64_t fault =
      first_index(0, suffixes.size(), [=](std::uint64_t i) { return entries[i] >= size; });
  if (fault == no_index) return;
  throw Error(ErrorKind::usage,
              fmt::format("{}, entry {} of the suffix array: found position {}, expected one below "
                          "{}",
                          what, fault, suffixes[fault], size));
}

}  // namespace sortie::suffix_array::host
