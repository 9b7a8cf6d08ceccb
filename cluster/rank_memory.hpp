// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "sortie/cluster.hpp"
#include "sortie/context.hpp"

namespace sortie::cluster {

/// Bytes that a rank needs, and what the others need, to say how many ranks are enough.
struct RankNeed {
  std::uint64_t bytes = 0;    ///< of this rank
  std::uint64_t divided = 0;  ///< of all ranks, which more ranks would divide; 0: not known
  std::uint64_t fixed = 0;    ///< on each rank besides, on any number of ranks; counted in `bytes`
};

/// The host memory that a rank may take in a call: the memory budget of its context, or an equal
/// part of what was free on its machine before any rank of the call allocated. It is measured once:
/// what the other ranks take later does not make it smaller.
class RankMemory {
 public:
  /// Collective, phase "measure memory": no rank goes on before all have measured.
  /// \pre no rank allocates for the call before it
  RankMemory(Ranks& ranks, const HostContext& context) : RankMemory(ranks, &context, nullptr) {}
  /// The same. On CUDA, the budget is of device memory, and not used here.
  RankMemory(Ranks& ranks, const Context& context) : RankMemory(ranks, &context, &context) {}

  /// Bytes that can still be taken.
  [[nodiscard]] std::uint64_t left() const { return limit_ > held_ ? limit_ - held_ : 0; }
  /// Counts memory that this rank holds from now on, or has freed.
  void hold(std::uint64_t bytes) { held_ += bytes; }
  void release(std::uint64_t bytes) { held_ -= bytes; }

  /// \throws Error (out_of_memory) less than `need.bytes` is left: names the bytes wanted and free,
  ///         and the least number of ranks that are enough, if it is known
  void require(std::string_view what, const RankNeed& need) const;
  /// require(), then hold().
  void take(std::string_view what, const RankNeed& need) {
    require(what, need);
    hold(need.bytes);
  }
  /// The same as require() for bytes that other ranks ask for. No budget of this rank limits them,
  /// only the memory of its machine.
  void require_for_others(std::string_view what, std::uint64_t bytes) const;

 private:
  RankMemory(Ranks& ranks, const HostContext* host, const Context* context);

  std::uint64_t ranks_;
  std::uint64_t free_ = 0;   ///< this rank's part of the free memory
  std::uint64_t limit_ = 0;  ///< the budget, or free_
  std::uint64_t held_ = 0;
};

}  // namespace sortie::cluster
