// SPDX-License-Identifier: Apache-2.0
#include "core/cuda/append_to_host.hpp"

#include <array>
#include <cstdint>

#include "core/cuda/check.hpp"
#include "core/cuda/pinned_buffer.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie {
namespace {

/// Large enough to keep the bus busy while the host processes the other chunk, small enough that
/// locking the pages (about 1 ms for both buffers) pays off after a few chunks.
constexpr std::size_t chunk_bytes = std::size_t{4} << 20;

/// A page-locked buffer for one chunk, and the event that marks the end of the copy.
class Chunk {
 public:
  explicit Chunk(std::size_t bytes) : buffer_(bytes) {}

  void fetch(const std::byte* device, std::size_t bytes, cudaStream_t stream) {
    check_cuda(cudaMemcpyAsync(buffer_.data(), device, bytes, cudaMemcpyDeviceToHost, stream));
    check_cuda(cudaEventRecord(arrived_.get(), stream));
    size_ = bytes;
  }

  [[nodiscard]] std::span<const std::byte> wait() const {
    check_cuda(cudaEventSynchronize(arrived_.get()));
    return {buffer_.data(), size_};
  }

 private:
  PinnedBuffer<std::byte> buffer_;
  CudaEvent arrived_ = make_event();
  std::size_t size_ = 0;
};

}  // namespace

struct ChunkCopier::Buffers {
  explicit Buffers(std::size_t max_bytes)
      : chunks{Chunk(std::min(max_bytes, chunk_bytes)),
               Chunk(max_bytes > chunk_bytes ? chunk_bytes : 0)} {}
  std::array<Chunk, 2> chunks;
};

ChunkCopier::ChunkCopier(std::size_t max_bytes) : buffers_(std::make_unique<Buffers>(max_bytes)) {}
ChunkCopier::~ChunkCopier() = default;

void ChunkCopier::copy(const void* device, std::size_t bytes, cudaStream_t stream,
                       const ChunkSink& sink) {
  const std::byte* const source = static_cast<const std::byte*>(device);
  const std::size_t chunks = (bytes + chunk_bytes - 1) / chunk_bytes;
  if (chunks == 0) return;
  std::array<Chunk, 2>& buffers = buffers_->chunks;
  const auto fetch = [&](std::size_t i) {
    const std::size_t begin = i * chunk_bytes;
    buffers[i % 2].fetch(source + begin, std::min(chunk_bytes, bytes - begin), stream);
  };
  try {
    fetch(0);
    for (std::size_t i = 0; i < chunks; ++i) {
      if (i + 1 < chunks) fetch(i + 1);
      sink(buffers[i % 2].wait());
    }
  } catch (...) {
    // A copy may still be writing to a buffer that is about to be freed.
    static_cast<void>(cudaStreamSynchronize(stream));
    throw;
  }
}

void copy_in_chunks(const void* device, std::size_t bytes, cudaStream_t stream,
                    const ChunkSink& sink) {
  if (bytes != 0) ChunkCopier(bytes).copy(device, bytes, stream, sink);
}

}  // namespace sortie
