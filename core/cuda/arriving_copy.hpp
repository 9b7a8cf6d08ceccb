// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "core/arriving_array.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/transfer_blocks.hpp"
#include "core/host_memory.hpp"
#include "sortie/device_buffer.hpp"

namespace sortie {

/// A copy of device memory to host memory, from its beginning, while the caller goes on.
///
///     bus       block 0 | block 1 | block 2 | block 3 | ...    to page-locked blocks
///     thread 0           copy 0              copy 3            from there to the array
///     thread 1                     copy 1              copy 4
///     thread 2                               copy 2
///     caller             await(0) work 0 | work 1 | ...
///
/// The memory of the array is not touched before: its page faults are taken by the threads.
/// Memory: `bytes`, and transfer_threads() page-locked blocks of TransferBlock::bytes.
class ArrivingCopy {
 public:
  /// The copy begins after the work that is on `stream` now.
  /// \param device   `bytes` of memory of the current device
  /// \param owner    keeps this memory; released when all of it has been copied
  /// \param threads  that may copy. Where the system has no more threads, the constructor copies.
  /// \throws Error (out_of_memory, device)
  ArrivingCopy(const void* device, std::size_t bytes, std::shared_ptr<const void> owner,
               cudaStream_t stream, int threads);
  ArrivingCopy(const ArrivingCopy&) = delete;
  ArrivingCopy& operator=(const ArrivingCopy&) = delete;
  /// Waits for the end of the copy.
  ~ArrivingCopy() = default;

  [[nodiscard]] const std::byte* data() const { return memory_.get(); }
  /// Waits until bytes [0, end) are in host memory. Once all are, the copy uses the device no more.
  /// Thread-safe. \throws Error (device)
  void await(std::uint64_t end) const;

 private:
  void run() noexcept;

  std::shared_ptr<const void> owner_;
  int device_ = 0;
  HostArray<std::byte> memory_;
  BlockTransfer array_;  ///< to `memory_`
  std::optional<TransferBlocks> blocks_;

  mutable std::mutex mutex_;   ///< guards the next two
  std::uint64_t arrived_ = 0;  ///< bytes in host memory
  std::exception_ptr fault_;
  mutable std::condition_variable changed_;
  std::jthread thread_;  ///< last: its end waits for the thread, which uses the other members
};

/// Copies an array to the host while the caller goes on (see ArrivingCopy). Ordered after the work
/// that is on the buffer's stream now.
/// \tparam To      has the size of From, and the same representation for the values that occur
/// \param threads  that may copy
/// \throws Error (out_of_memory, device)
template <class To, class From>
[[nodiscard]] ArrivingArray<To> arriving(DeviceBuffer<From> buffer, int threads) {
  static_assert(sizeof(To) == sizeof(From));
  if (buffer.size() == 0) return {};
  const std::size_t size = buffer.size();
  auto owner = std::make_shared<DeviceBuffer<From>>(std::move(buffer));
  // Taken before the call, since the order in which arguments are evaluated is not defined.
  const void* const data = owner->data();
  cudaStream_t const stream = owner->stream();
  auto copy =
      std::make_shared<ArrivingCopy>(data, size * sizeof(To), std::move(owner), stream, threads);
  return {{reinterpret_cast<const To*>(copy->data()), size},
          copy,
          [waiting = copy.get()](auto end) { waiting->await(end * sizeof(To)); }};
}

}  // namespace sortie
