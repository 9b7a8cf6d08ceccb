#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/apps/bench/sort_bench.hpp"
#include "sortie/multisort/key_types.hpp"

/// Input of the sort's benchmark, made on the GPU that holds it, and what is looked at of its
/// result.
namespace sortie::bench {

/// A stretch of the array, in the memory of the current device.
struct SortStretch {
  void* keys = nullptr;
  void* values = nullptr;
  std::uint64_t begin = 0;  ///< of the stretch, in the array
  std::uint64_t size = 0;
};

/// Writes keys, and the number of each item as its value.
void fill_stretch(const SortStretch& stretch, const SortCase& sort_case, std::uint64_t items,
                  multisort::KeyType key, int value_bytes, std::uint64_t seed, cudaStream_t stream);

struct StretchCheck {
  std::uint64_t checksum = 0;      ///< sum of a mix of each key and value
  std::uint64_t out_of_order = 0;  ///< neighbours whose keys descend
  std::uint64_t not_stable = 0;    ///< neighbours of equal keys whose values descend
  std::uint64_t first_key = 0;     ///< encoded: ascending in the order asked for
  std::uint64_t last_key = 0;
};

/// Looks at a stretch. Waits for the stream.
[[nodiscard]] StretchCheck check_stretch(const SortStretch& stretch, multisort::KeyType key,
                                         int value_bytes, cudaStream_t stream);

}  // namespace sortie::bench
