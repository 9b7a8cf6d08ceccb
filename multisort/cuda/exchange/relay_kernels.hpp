// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

/// The kernels of a Relay.

namespace sortie::multisort {

/// A contiguous copy from a relay's buffer to another device. Both addresses are congruent modulo
/// 16.
struct RelayRun {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t bytes = 0;
};

/// The copies from one buffer of a relay; in device memory.
struct RelayList {
  RelayRun* runs = nullptr;  ///< one per group for keys, then one per group for values
  std::uint32_t* blocks =
      nullptr;  ///< exclusive prefix sums of copy blocks per run; then the total
};

/// The relayed groups, for one array (keys or values).
struct RelayArray {
  int item_bytes = 0;  ///< 0: there are no values
  /// Destination of the source's first item of each group; 0: the group is not relayed.
  const std::uint64_t* destinations = nullptr;
  std::uint64_t* places = nullptr;  ///< MoveArguments::key_places or value_places
  std::uint64_t buffer = 0;         ///< address of the relay's buffer
};

struct RelaySlice {
  const std::uint64_t* rows_before = nullptr;  ///< items of each group before the slice
  const std::uint64_t* rows_behind = nullptr;  ///< the same before the next slice
  RelayArray keys;
  RelayArray values;
  RelayList list;
};

/// Assigns space in the buffer to the groups of a slice, and lists the copies.
cudaError_t place_slice(const RelaySlice& slice, cudaStream_t stream);

/// Does the listed copies. \param runs  most_groups, twice that with values
/// \param ways  number of equal parts of the list that are copied concurrently
cudaError_t copy_slice(const RelayList& list, std::uint32_t runs, std::uint32_t ways,
                       cudaStream_t stream);

}  // namespace sortie::multisort
