// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sortie/cluster.hpp"
#include "sortie/context.hpp"

struct CUstream_st;  // cudaStream_t is a pointer to it

/// Exchanges between the GPUs of ranks. Only in builds with CUDA, but for nccl_description().
namespace sortie::cluster {

/// Memory of this rank's GPU that is sent to a rank, or that receives from one; which may be itself.
struct DevicePiece {
  int rank = 0;
  std::byte* data = nullptr;
  std::uint64_t bytes = 0;
};

/// Exchanges from GPU to GPU, without host memory between.
///
/// | implementation | for                                            | by                               |
/// |----------------|------------------------------------------------|----------------------------------|
/// | peer copies    | ranks of one process, also several on one GPU  | cudaMemcpyPeerAsync()            |
/// | NCCL           | processes that have a GPU each                 | ncclSend(), ncclRecv() in groups |
class DeviceExchange {
 public:
  virtual ~DeviceExchange() = default;
  DeviceExchange(const DeviceExchange&) = delete;
  DeviceExchange& operator=(const DeviceExchange&) = delete;

  /// "peer copies", or "NCCL 2.28.9"
  [[nodiscard]] virtual std::string name() const = 0;
  /// The device of this rank.
  [[nodiscard]] int device() const { return device_; }
  /// Bytes of the device that the connection may take, also later than it was made.
  [[nodiscard]] virtual std::uint64_t device_bytes() const { return 0; }

  /// Exchanges pieces as Ranks::exchange() does, and counts their bytes there. Collective, phases
  /// "finish pieces" and "exchange pieces". Returns when what this rank sends may be changed, and
  /// what it receives is there.
  /// \param stream  of the device; the pieces sent are ready in its order
  /// \throws Error (device) a copy failed, NCCL could not connect in 60 s, or another rank did not
  ///         answer for 10 s and a second for each GiB
  void exchange(Ranks& ranks, std::span<const DevicePiece> sent,
                std::span<const DevicePiece> received, CUstream_st* stream);

 protected:
  explicit DeviceExchange(int device) : device_(device) {}

  /// Collective: what all ranks must know of the pieces. They are those of move(), with empty ones.
  virtual void announce(Ranks& ranks, std::span<const DevicePiece> sent) = 0;
  /// Moves the pieces of other ranks, none of which is longer than the longest message, and waits.
  virtual void move(std::span<const DevicePiece> sent, std::span<const DevicePiece> received,
                    CUstream_st* stream) = 0;

 private:
  int device_;
};

/// The exchange of the ranks' devices, or why there is none.
struct DeviceTransport {
  std::shared_ptr<DeviceExchange> exchange;
  std::string why_none;  ///< the same on all ranks
};

/// Connects the devices of all ranks. Collective, phases "measure device memory", "find NCCL" and
/// "connect devices". The ranks keep the connection: further calls take no time. NCCL connects in the
/// background, for which the first exchange waits: a call before other work hides that.
/// \pre the context's backend is CUDA on every rank
/// \throws Error (device) NCCL cannot begin to connect the ranks
[[nodiscard]] DeviceTransport connect_devices(Ranks& ranks, const Context& context);

/// Why this process has no NCCL: its build does not know it, or the library is not found. Empty if it
/// has. The library is loaded by the first call, so that Sortie is installed without it.
[[nodiscard]] std::string why_no_nccl();

/// The exchange by NCCL. Collective, phase "connect devices".
/// \pre why_no_nccl() is empty on every rank, and each has a GPU of its own
/// \throws Error (device)
[[nodiscard]] std::shared_ptr<DeviceExchange> connect_by_nccl(Ranks& ranks, int device);

/// The version of the NCCL that this process would use, or why there is none.
[[nodiscard]] std::string nccl_description();

}  // namespace sortie::cluster
