// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "apps/kmer_count/packed_runs.hpp"
#include "sortie/context.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/kmer_count.hpp"

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
///   | k-mers, then  | 8 m     | all of the pass                                 |
///   |   those kept  |         |                                                 |
///   | sorted, then  | 8 m     | all of the pass                                 |
///   |   distinct    |         |                                                 |
///   | counts        | 4 m     | all of the pass                                 |
///   | counts kept   | 4 d     | all of the pass, if any are left out            |
class DeviceCounts {
 public:
  /// Plans the passes; for more than one, it scans all blocks.
  /// \param context  its threads copy the blocks to the device
  /// \param runs     must outlive this object, and not change
  /// \param kmers    in all blocks
  /// \throws Error (out_of_memory) the memory is not enough for the k-mers that agree in their
  ///         first 8 letters; (unavailable, device)
  DeviceCounts(const Context& context, int k, bool canonical, std::uint64_t kmers,
               const RunBlocks& runs);
  ~DeviceCounts();
  DeviceCounts(const DeviceCounts&) = delete;
  DeviceCounts& operator=(const DeviceCounts&) = delete;

  [[nodiscard]] std::size_t passes() const { return ranges_.size(); }
  /// Sorts and counts the k-mers of a pass, and keeps those whose count is in range.
  /// \param left_out  receives how many k-mers have each other count, unmerged
  /// \return distinct k-mers that are kept
  std::uint64_t count(std::size_t pass, CountRange kept, CountHistogram& left_out);
  /// Copies kept k-mers of the pass and their counts, from number `first` on.
  /// \param kmers, counts  of the same size
  void copy(std::uint64_t first, std::span<std::uint64_t> kmers,
            std::span<std::uint32_t> counts) const;

 private:
  struct KmerRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t most_items = 0;
  };

  template <class Take>
  void scan(const Take& take) const;
  void plan(std::uint64_t most_items);
  std::uint64_t keep(std::uint64_t distinct, CountRange kept, DeviceBuffer<std::uint64_t> unused,
                     CountHistogram& left_out);

  Context context_;
  int threads_;
  int k_;
  bool canonical_;
  const RunBlocks& runs_;
  std::vector<KmerRange> ranges_;
  DeviceBuffer<std::uint64_t> distinct_;
  DeviceBuffer<std::uint32_t> counts_;
};

}  // namespace sortie::kmers
