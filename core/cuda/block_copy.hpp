// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

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

}  // namespace sortie
