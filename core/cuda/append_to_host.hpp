#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "sortie/core/large_pages.hpp"

namespace sortie {

/// Called with consecutive pieces of device memory as they arrive on the host.
using PieceSink = std::function<void(std::span<const std::byte>)>;

/// Brings device memory to the host in pieces through page-locked buffers: while the caller takes
/// one piece, the next is on the bus. Piece sizes are multiples of 16 bytes, except for the last.
/// Waits for the stream. \throws Error (out_of_memory, device)
void copy_in_pieces(const void* device, std::size_t bytes, cudaStream_t stream,
                    const PieceSink& sink);

/// The same for many copies: the page-locked buffers are made once. One copy at a time.
class PieceCopier {
 public:
  /// \param most_bytes  of a copy; with fewer than two pieces, the buffers are as small
  explicit PieceCopier(std::size_t most_bytes);
  ~PieceCopier();
  PieceCopier(const PieceCopier&) = delete;
  PieceCopier& operator=(const PieceCopier&) = delete;

  /// See copy_in_pieces().
  void copy(const void* device, std::size_t bytes, cudaStream_t stream, const PieceSink& sink);

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

/// Appends `count` items of device memory to a host vector and waits for the stream.
///
/// A plain copy to a vector that was resized before takes three slow steps one after another on one
/// thread: the page faults of new memory, its zeroing, and a copy that the driver stages. On the
/// machine of an H200, 366 MB took 150 ms so. Here the new pages are touched by several threads,
/// are never zeroed, and the bus works meanwhile. \tparam To  as many bytes as From, and the same
/// bits for the values that occur Extra memory: 8 MiB page-locked.
template <class To, class From>
void append_to_host(const From* device, std::size_t count, std::vector<To>& host,
                    cudaStream_t stream) {
  static_assert(sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<To>);
  const std::size_t wanted = host.size() + count;
  if (wanted > host.capacity()) {
    // Exact for a single piece of work, doubling for one that comes in many.
    host.reserve(host.empty() ? wanted : std::max(wanted, 2 * host.capacity()));
    touch_new_memory(host.data() + host.size(), count * sizeof(To));
  }
  copy_in_pieces(device, count * sizeof(To), stream, [&](std::span<const std::byte> piece) {
    const To* const items = reinterpret_cast<const To*>(piece.data());
    host.insert(host.end(), items, items + piece.size() / sizeof(To));
  });
}

}  // namespace sortie
