#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

/// The kernels of a Relay.

namespace sortie::multisort {

/// Bytes that lie in a row in a relay's buffer and shall lie in a row on another device. Both
/// addresses leave the same rest by 16.
struct RelayRun {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t bytes = 0;
};

/// What is on its way from one buffer of a relay; in device memory.
struct RelayList {
  RelayRun* runs = nullptr;         ///< one a group for keys, then one a group for values
  std::uint32_t* blocks = nullptr;  ///< copy blocks in the runs before each; at last, in all
};

/// Groups whose items go by way of a relay, for one array of the items.
struct RelayArray {
  int item_bytes = 0;  ///< 0: there are no values
  /// Address that the source's first item of each group shall come to; 0: it goes straight.
  const std::uint64_t* destinations = nullptr;
  std::uint64_t* places = nullptr;  ///< as MoveArguments::key_places, value_places
  std::uint64_t buffer = 0;         ///< address of the relay's buffer
};

struct RelaySlice {
  const std::uint64_t* rows_before = nullptr;  ///< items of each group before the slice
  const std::uint64_t* rows_behind = nullptr;  ///< and before the next one
  RelayArray keys;
  RelayArray values;
  RelayList list;
};

/// Gives the groups of a slice their room in the buffer, and lists what will have to be copied.
cudaError_t place_slice(const RelaySlice& slice, cudaStream_t stream);

/// Copies what is listed. \param runs  most_groups, twice that with values
/// \param ways  so many parts of the list, of equal size, are copied side by side
cudaError_t copy_slice(const RelayList& list, std::uint32_t runs, std::uint32_t ways,
                       cudaStream_t stream);

}  // namespace sortie::multisort
