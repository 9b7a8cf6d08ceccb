#include "sortie/core/cuda/append_to_host.hpp"

#include <array>
#include <cstdint>

#include "sortie/core/cuda/check.hpp"
#include "sortie/core/cuda/device_buffer.cuh"

namespace sortie {
namespace {

/// Large enough to keep the bus busy while the host takes the other piece, small enough that
/// locking the pages (about 1 ms for both) pays from a few pieces on.
constexpr std::size_t piece_bytes = std::size_t{4} << 20;

/// A page-locked piece and the event that tells when it has arrived.
class Piece {
 public:
  explicit Piece(std::size_t bytes) : buffer_(bytes) {
    check_cuda(cudaEventCreateWithFlags(&arrived_, cudaEventDisableTiming));
  }
  ~Piece() { static_cast<void>(cudaEventDestroy(arrived_)); }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  void fetch(const std::byte* device, std::size_t bytes, cudaStream_t stream) {
    check_cuda(cudaMemcpyAsync(buffer_.data(), device, bytes, cudaMemcpyDeviceToHost, stream));
    check_cuda(cudaEventRecord(arrived_, stream));
    size_ = bytes;
  }

  [[nodiscard]] std::span<const std::byte> wait() const {
    check_cuda(cudaEventSynchronize(arrived_));
    return {buffer_.data(), size_};
  }

 private:
  PinnedBuffer<std::byte> buffer_;
  cudaEvent_t arrived_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace

struct PieceCopier::Buffers {
  explicit Buffers(std::size_t most_bytes)
      : pieces{Piece(std::min(most_bytes, piece_bytes)),
               Piece(most_bytes > piece_bytes ? piece_bytes : 0)} {}
  std::array<Piece, 2> pieces;
};

PieceCopier::PieceCopier(std::size_t most_bytes)
    : buffers_(std::make_unique<Buffers>(most_bytes)) {}
PieceCopier::~PieceCopier() = default;

void PieceCopier::copy(const void* device, std::size_t bytes, cudaStream_t stream,
                       const PieceSink& sink) {
  const std::byte* const source = static_cast<const std::byte*>(device);
  const std::size_t pieces = (bytes + piece_bytes - 1) / piece_bytes;
  if (pieces == 0) return;
  std::array<Piece, 2>& buffers = buffers_->pieces;
  const auto fetch = [&](std::size_t i) {
    const std::size_t begin = i * piece_bytes;
    buffers[i % 2].fetch(source + begin, std::min(piece_bytes, bytes - begin), stream);
  };
  try {
    fetch(0);
    for (std::size_t i = 0; i < pieces; ++i) {
      if (i + 1 < pieces) fetch(i + 1);
      sink(buffers[i % 2].wait());
    }
  } catch (...) {
    // A copy may still be writing to a buffer that is about to go.
    static_cast<void>(cudaStreamSynchronize(stream));
    throw;
  }
}

void copy_in_pieces(const void* device, std::size_t bytes, cudaStream_t stream,
                    const PieceSink& sink) {
  if (bytes != 0) PieceCopier(bytes).copy(device, bytes, stream, sink);
}

}  // namespace sortie
