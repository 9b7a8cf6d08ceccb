// SPDX-License-Identifier: Apache-2.0
#include "cluster/rank_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/host_memory.hpp"
#include "sortie/error.hpp"

namespace sortie::cluster {
namespace {

/// The least number of ranks that are enough, more than there are; 0: none is.
std::uint64_t enough_ranks(const RankNeed& need, std::uint64_t left, std::uint64_t ranks) {
  if (left <= need.fixed) return 0;
  const std::uint64_t share = left - need.fixed;
  return std::max(ranks + 1, need.divided / share + (need.divided % share != 0 ? 1 : 0));
}

}  // namespace

RankMemory::RankMemory(Ranks& ranks, const HostContext* host, const Context* context)
    : ranks_(static_cast<std::uint64_t>(ranks.size())) {
  ranks.together("measure memory", [&] {
    free_ = host_memory_available() / static_cast<std::uint64_t>(ranks.ranks_on_machine());
    const bool has_budget = host->memory_budget != 0 &&
                            (context == nullptr || resolve_backend(*context) == Backend::host);
    limit_ = has_budget ? host->memory_budget : free_;
  });
}

void RankMemory::require(std::string_view what, const RankNeed& need) const {
  const std::uint64_t left_now = left();
  if (need.bytes <= left_now) return;
  const Error error = out_of_memory_error(what, need.bytes, left_now);
  if (need.divided == 0) throw error;
  const std::uint64_t enough = enough_ranks(need, left_now, ranks_);
  throw Error(error.kind(),
              enough == 0
                  ? fmt::format("{}; more ranks do not need less each", error.what())
                  : fmt::format("{}; with as much memory each, at least {} ranks are enough",
                                error.what(), enough));
}

void RankMemory::require_for_others(std::string_view what, std::uint64_t bytes) const {
  const std::uint64_t left_now = free_ > held_ ? free_ - held_ : 0;
  if (bytes > left_now) throw out_of_memory_error(what, bytes, left_now);
}

}  // namespace sortie::cluster
