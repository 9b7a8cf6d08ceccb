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
/// | CUDA-aware MPI | processes whose MPI takes memory of GPUs       | Ranks::exchange_messages()       |
class DeviceExchange {
 public:
  virtual ~DeviceExchange() = default;
  DeviceExchange(const DeviceExchange&) = delete;
  DeviceExchange& operator=(const DeviceExchange&) = delete;

  /// "peer copies", "NCCL 2.28.9", or "CUDA-aware Open MPI v5.0.3"
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

  /// Collective: moves the pieces of other ranks, none of which is empty or longer than the longest
  /// message, and waits. Phase "exchange pieces".
  virtual void move(Ranks& ranks, std::span<const DevicePiece> sent,
                    std::span<const DevicePiece> received, CUstream_st* stream) = 0;

 private:
  int device_;
};

/// The exchange of the ranks' devices, or why there is none.
struct DeviceTransport {
  std::shared_ptr<DeviceExchange> exchange;
  std::string why_none;  ///< the same on all ranks
};

/// Connects the devices of all ranks by the first implementation that they allow. Collective,
/// phases "choose exchange", "measure device memory", "find NCCL" and "connect devices". The ranks
/// keep the connection: further calls take no time. NCCL connects in the background, for which the
/// first exchange waits: a call before other work hides that.
///
/// The environment variable SORTIE_EXCHANGE chooses: "auto", "nccl", "mpi" (the user knows that the
/// library is CUDA-aware, whatever it says itself), or "staged", which is none.
/// \pre the context's backend is CUDA on every rank
/// \throws Error (usage) the variable has another value, or not that of rank 0
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
