// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/pinned_memory.hpp"
#include "core/host_memory.hpp"

namespace sortie {

/// Receives consecutive chunks of device memory as they arrive on the host.
using ChunkSink = std::function<void(std::span<const std::byte>)>;

/// Brings device memory to the host in chunks through page-locked buffers, which later copies reuse:
/// while the caller takes one chunk, the next is on the bus. One copy at a time.
class ChunkCopier {
 public:
  /// \param max_bytes  size of the largest copy; if it has less than two chunks, the buffers are
  ///                   smaller accordingly
  /// \throws Error (out_of_memory, device)
  explicit ChunkCopier(std::size_t max_bytes);

  /// Waits for the stream. Chunk sizes are multiples of 16 bytes, except for the last.
  /// \throws Error (device), or what `sink` throws
  void copy(const void* device, std::size_t bytes, cudaStream_t stream, const ChunkSink& sink);

 private:
  /// A page-locked buffer, and the event that marks the end of the copy to it.
  struct Chunk {
    PinnedBuffer<std::byte> buffer;
    CudaEvent arrived = make_event();
  };
  std::array<Chunk, 2> chunks_;
};

/// Appends `count` items of device memory to a host vector and waits for the stream.
///
/// A plain copy to a resized vector takes three slow steps in sequence on one thread: the page
/// faults of new memory, its zeroing, and a copy that the driver stages. On the host of an H200,
/// 366 MB took 150 ms this way. Here several threads touch the new pages, the memory is not zeroed,
/// and processing overlaps with the bus transfer.
/// \tparam To  has the size of From, and the same representation for the values that occur
/// Extra memory: 8 MiB, page-locked.
template <class To, class From>
void append_to_host(const From* device, std::size_t count, std::vector<To>& host,
                    cudaStream_t stream) {
  static_assert(sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<To>);
  if (count == 0) return;
  const std::size_t bytes = count * sizeof(To);
  const std::size_t wanted = host.size() + count;
  if (wanted > host.capacity()) {
    // Exact for the first call, doubling for repeated calls.
    host.reserve(host.empty() ? wanted : std::max(wanted, 2 * host.capacity()));
    touch_new_memory(host.data() + host.size(), bytes);
  }
  ChunkCopier(bytes).copy(device, bytes, stream, [&](std::span<const std::byte> chunk) {
    const To* const items = reinterpret_cast<const To*>(chunk.data());
    host.insert(host.end(), items, items + chunk.size() / sizeof(To));
  });
}

}  // namespace sortie
