// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/host_memory.hpp"
#include "sortie/cluster.hpp"
#include "sortie/context.hpp"

namespace sortie::cluster {

/// Bytes that this rank may take: its memory budget, or its share of what is free on its machine.
[[nodiscard]] inline std::uint64_t rank_memory(const Ranks& ranks, const HostContext& context) {
  if (context.memory_budget != 0) return context.memory_budget;
  return host_memory_available() / static_cast<std::uint64_t>(ranks.ranks_on_machine());
}

/// \throws Error (out_of_memory) this rank's share of the free memory is less than `bytes`
/// \param total  what all ranks need, if it is divided among them: the message then says how many
///               ranks would do; else 0
inline void require_rank_memory(const Ranks& ranks, std::string_view what, std::uint64_t bytes,
                                std::uint64_t total = 0) {
  const std::uint64_t free = rank_memory(ranks, {});
  if (bytes <= free) return;
  const Error error = out_of_memory_error(what, bytes, free);
  if (total == 0) throw error;
  const std::uint64_t least = total / std::max<std::uint64_t>(1, free) + 1;
  throw Error(error.kind(),
              fmt::format("{}; at least {} ranks of this memory would do", error.what(), least));
}

}  // namespace sortie::cluster
