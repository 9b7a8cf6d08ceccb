#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace sortie::multisort {

/// Items on one device and room for as many; sorting flips them instead of copying.
struct RadixBuffers {
  void* keys = nullptr;
  void* other_keys = nullptr;
  void* values = nullptr;
  void* other_values = nullptr;

  void flip() {
    void* const sorted_keys = other_keys;
    other_keys = keys;
    keys = sorted_keys;
    void* const sorted_values = other_values;
    other_values = values;
    values = sorted_values;
  }
};

/// CUB's radix sort of one device, ascending and stable, type erased: of keys that segsort does not
/// take (1 and 2 bytes), of RMG's buckets, and the peer that the benchmarks measure.
///
/// Two-phase call: with `temp_storage` null only the bytes wanted are written. Afterwards
/// `buffers.keys` and `buffers.values` are where the result is.
/// \param key_bytes    keys are unsigned integers of 1, 2, 4 or 8 bytes
/// \param value_bytes  0, 4 or 8
/// \param begin_bit, end_bit  bits that are compared
cudaError_t device_radix_sort(void* temp_storage, std::size_t& temp_storage_bytes,
                              RadixBuffers& buffers, std::uint64_t n, int key_bytes,
                              int value_bytes, int begin_bit, int end_bit, cudaStream_t stream);

}  // namespace sortie::multisort
