// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sortie/context.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie::kmers {

/// Least and most letters of k-mers that a GPU counts: shorter ones are counted in arrays, longer
/// ones do not fit a word.
inline constexpr int least_device_k = 12;
inline constexpr int most_device_k = 32;

/// Counts k-mers on a GPU, in passes of ascending k-mers if the memory is not enough for all.
///
/// Memory of the device for the m k-mers of a pass, of which d are distinct:
///
///   | name          | bytes   | lifetime                                        |
///   |---------------|---------|-------------------------------------------------|
///   | chunks        | 96 MiB  | while packed runs (packed_runs.hpp) are scanned |
///   | k-mers        | 8 m     | until they are counted                          |
///   | sorted, then  | 8 m     | all of the pass                                 |
///   |   distinct    |         |                                                 |
///   | counts        | 4 m     | all of the pass                                 |
class DeviceCounts {
 public:
  /// Calls visit(words) for each block of packed runs, on the calling thread.
  using ForEachBlock =
      std::function<void(const std::function<void(std::span<const std::uint64_t>)>& visit)>;

  /// Plans the passes; for more than one, it scans all blocks.
  /// \param kmers  in all blocks
  /// \throws Error (out_of_memory) the memory is not enough for the k-mers that agree in their
  ///         first 8 letters; (unavailable, device)
  DeviceCounts(const Context& context, int k, bool canonical, std::uint64_t kmers,
               const ForEachBlock& for_each_block);
  ~DeviceCounts();
  DeviceCounts(const DeviceCounts&) = delete;
  DeviceCounts& operator=(const DeviceCounts&) = delete;

  [[nodiscard]] std::size_t passes() const { return ranges_.size(); }
  /// Sorts and counts the k-mers of a pass. \return distinct k-mers
  std::uint64_t count(std::size_t pass, const ForEachBlock& for_each_block);
  /// Copies distinct k-mers of the pass and their counts, from number `first` on, and waits for
  /// them. Several threads may call it, each with a stream of its own.
  /// \param kmers, counts  of the same size, page-locked
  void copy(std::uint64_t first, std::span<std::uint64_t> kmers, std::span<std::uint32_t> counts,
            cudaStream_t stream) const;

 private:
  struct KmerRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t most_items = 0;
  };

  template <class Take>
  void scan(const ForEachBlock& for_each_block, const Take& take) const;
  void plan(std::uint64_t most_items, const ForEachBlock& for_each_block);

  Context context_;
  int k_;
  bool canonical_;
  std::vector<KmerRange> ranges_;
  DeviceBuffer<std::uint64_t> distinct_;
  DeviceBuffer<std::uint32_t> counts_;
};

}  // namespace sortie::kmers
