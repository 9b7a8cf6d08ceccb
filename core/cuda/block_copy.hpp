// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/uninitialised_vector.hpp"
#include "sortie/device_buffer.hpp"

/// Copies between pageable host memory and the current device through page-locked blocks:
///
///     thread 0   fill block 0 | bus | fill block 0 | bus | ...
///     thread 1   fill block 1 | bus | fill block 1 | bus | ...
///
/// A plain copy of pageable memory is staged by the driver on one thread: 5.5 GB/s on the host of an
/// H100. Copies of page-locked memory, and of less than two blocks, are plain.
///
/// They are ordered after the work that is on `stream` now, and before later work on it. The host
/// waits for them. Memory: transfer_threads() page-locked blocks of TransferBlock::bytes.
namespace sortie {

/// \param threads  that may copy
/// \throws Error (out_of_memory, device)
void copy_to_device_in_blocks(void* device, std::span<const std::byte> host, cudaStream_t stream,
                              int threads);
void copy_to_host_in_blocks(std::span<std::byte> host, const void* device, cudaStream_t stream,
                            int threads);

/// A copy of an array on the device. \throws Error (out_of_memory, device)
template <class T>
[[nodiscard]] DeviceBuffer<T> copied_to_device(std::span<const T> host, cudaStream_t stream,
                                               int threads) {
  DeviceBuffer<T> device(host.size(), stream);
  copy_to_device_in_blocks(device.data(), std::as_bytes(host), stream, threads);
  return device;
}

/// Appends `count` items of device memory to a host vector. Several threads take the page faults of
/// new memory, which is not zeroed.
/// \tparam To  has the size of From, and the same representation for the values that occur
/// \throws Error (device): the new items are then unspecified; std::bad_alloc
template <class To, class From>
void append_to_host(const From* device, std::size_t count, std::vector<To>& host,
                    cudaStream_t stream, int threads) {
  static_assert(sizeof(To) == sizeof(From));
  if (count == 0) return;
  const std::size_t before = host.size();
  // Exact for the first call, doubling for repeated calls.
  if (before + count > host.capacity())
    host.reserve(before == 0 ? count : std::max(before + count, 2 * host.capacity()));
  advise_large_pages(host.data() + before, count * sizeof(To));
#if SORTIE_CAN_SET_VECTOR_SIZE
  set_vector_size(host, static_cast<std::int64_t>(before + count));
#else
  host.resize(before + count);
#endif
  copy_to_host_in_blocks(std::as_writable_bytes(std::span(host).subspan(before)), device, stream,
                         threads);
}

}  // namespace sortie
