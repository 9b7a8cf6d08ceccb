// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "sortie/key_types.hpp"

namespace sortie::multisort::bitonic {

/// One array in the memory of the current device.
struct Request {
  void* keys = nullptr;
  void* values = nullptr;
  std::uint64_t n = 0;
  KeyType key_type = KeyType::u32;
  int value_bytes = 0;  ///< 0, 4 or 8
  Order order = Order::ascending;
};

/// The sort of each key width. CMake generates a source file for each.
/// \throws Error (device)
void sort_keys8(const Request& request, cudaStream_t stream);
void sort_keys16(const Request& request, cudaStream_t stream);
void sort_keys32(const Request& request, cudaStream_t stream);
void sort_keys64(const Request& request, cudaStream_t stream);

}  // namespace sortie::multisort::bitonic
