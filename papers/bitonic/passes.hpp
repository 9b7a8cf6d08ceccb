// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace sortie::papers::bitonic_network {

/// How a bitonic sorting network is cut into passes over memory (Capannini, Silvestri, Baraglia:
/// Sorting on GPUs for large scale datasets, 2011, section 5).
///
/// The network has ceil(log2 n) stages. Stage s sorts every block of 2^s items, whose halves are
/// sorted already: its first step compares item i of a block with item 2^s - 1 - i, and later steps
/// compare items at distances 2^(s-2), ..., 2, 1. Every comparison puts the smaller item at the
/// lower place. Items beyond the end of the array, taken as larger than any other, would never
/// move; comparisons with them are omitted, so the length need not be a power of two.
///
/// A pass reads and writes every item once, and does as many steps as a tile of 2^log_tile items
/// allows. A tile is a Gamma-partition made k-coalesced: 2^steps rows at the distance of the pass's
/// last step, of 2^(log_tile - steps) neighbouring columns.

/// Shape of a tile. The defaults are those of 4-byte keys without values on a GPU.
struct BitonicTile {
  int log_items = 14;
  int log_items_a_thread = 5;  ///< a pass does at least this many steps
  int log_least_columns = 4;   ///< least neighbouring items that still fill memory transactions
};

/// Steps of one stage that are done in one pass.
struct BitonicPass {
  int stage = 0;              ///< blocks of 2^stage items are being sorted
  bool begins_stage = false;  ///< its first step is the stage's, which mirrors places
  int steps = 0;  ///< with the distances 2^(log_distance + steps - 1) ... 2^log_distance
  int log_distance = 0;
};

struct BitonicPlan {
  int first_stages = 0;  ///< the first pass, which sorts tiles, does stages 1 to first_stages
  std::vector<BitonicPass> passes;  ///< the later passes, in order

  /// How often every item is read and written. \pre there is an item
  [[nodiscard]] std::uint64_t passes_over_memory() const { return 1 + passes.size(); }
};

/// The passes for `n` items. \pre tile.log_items >= tile.log_items_a_thread +
/// tile.log_least_columns
[[nodiscard]] BitonicPlan plan_bitonic_passes(std::uint64_t n, const BitonicTile& tile);

/// Number of tiles of a pass over n items; some may be empty.
[[nodiscard]] std::uint64_t tiles_of_pass(const BitonicPass& pass, std::uint64_t n,
                                          const BitonicTile& tile);

/// Memory transactions of all passes in the K-model (section 4.3): loads and stores of up to
/// `segment` neighbouring keys each.
[[nodiscard]] std::uint64_t memory_transactions(const BitonicPlan& plan, std::uint64_t n,
                                                const BitonicTile& tile,
                                                std::uint64_t segment = 32);

}  // namespace sortie::papers::bitonic_network
