// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "multisort/cuda/device_group.hpp"
#include "multisort/cuda/exchange/host_link.hpp"
#include "multisort/cuda/radix/partition_kernels.hpp"
#include "primitives/payload.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/sort.hpp"

/// Sorts host memory that the GPUs need not hold, chunk by chunk.
namespace sortie::multisort {

/// Items [begin, begin + size) of host memory.
struct ItemRange {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};

/// Copies chunks to a GPU, sorts them there, and copies them back, one after the other.
class GpuWorker {
 public:
  /// \param most  items per chunk
  GpuWorker(int ordinal, const Request& request, std::uint64_t most);

  /// Concatenates ranges of `from` on the device, sorts them, and writes them to `to` from `begin`
  /// on.
  /// \param come_encoded, go_encoded  whether keys are encoded before and after
  void run(const RawItems& from, const std::vector<ItemRange>& ranges, bool come_encoded,
           const RawItems& to, std::uint64_t begin, bool go_encoded);

 private:
  void copy(const RawItems& host, std::uint64_t host_begin, std::uint64_t begin, std::uint64_t size,
            bool to_device);

  DeviceGroup group_;
  const Request& request_;
  KeyOrder order_;
  const PartitionKernels& kernels_;
  HostLink link_;
  DeviceBuffer<std::byte> keys_;
  DeviceBuffer<std::byte> values_;
};

/// An array in host memory, cut into chunks that GPUs sort.
///
/// A worker is a thread with its own streams and memory for one chunk, so one chunk is sorted while
/// others are copied. Chunks have equal sizes, as large as the worker's share of the memory allows.
class ChunkedArray {
 public:
  /// Reports the figure "sorted_chunks". \param ordinals  CUDA device of each logical device
  /// \pre request.num_items > 0 \throws Error (out_of_memory) no chunk fits
  ChunkedArray(const Context& context, const std::vector<int>& ordinals, const Request& request);

  [[nodiscard]] const std::vector<std::uint64_t>& sizes() const { return sizes_; }
  [[nodiscard]] const std::vector<std::uint64_t>& begins() const { return begins_; }
  [[nodiscard]] const RawItems& items() const { return array_; }

  /// Sorts each chunk into `runs`, with encoded keys. Phase "sort chunks". Stable with values.
  void sort_chunks(const RawItems& runs) const;

  void run_workers(const std::function<void(GpuWorker&, std::size_t)>& body) const;

 private:
  const Context& context_;
  const std::vector<int>& ordinals_;
  const Request& request_;
  RawItems array_;
  std::vector<std::uint64_t> sizes_;
  std::vector<std::uint64_t> begins_;
};

/// Sorts host memory beyond GPU memory. The GPUs sort chunks; exact splits cut all sorted chunks
/// into parts of a chunk's size, which the GPUs sort again. This takes twice the copies, but the
/// host does not merge, which it does at a fraction of the bus speed. Stable with values.
///
/// Host memory: one copy of keys and values, allocated before anything is sorted; none if a single
/// chunk suffices. Report: phases "sort chunks", "sort parts"; figure "sorted_chunks".
/// \throws Error (out_of_memory) for a chunk on a GPU, or for the copy
void sort_twice_in_chunks(const Context& context, const std::vector<int>& ordinals,
                          const Request& request);

/// The least memory that a logical device may take: logical devices share their GPU's budget.
[[nodiscard]] std::uint64_t budget_of_device(const Context& context,
                                             const std::vector<int>& ordinals);

/// Upper bound of the bytes on a GPU for a radix sort of `items` items there, the items included.
[[nodiscard]] std::uint64_t radix_sort_bytes(std::uint64_t items, int item_bytes);

}  // namespace sortie::multisort
