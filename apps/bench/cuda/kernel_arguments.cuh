#pragma once

#include <cstdint>

#include "sortie/segsort/cuda/arguments.cuh"
#include "sortie/segsort/device_segmented_sort.hpp"

namespace sortie::bench {

/// What a kernel of the library gets to sort pairs of u32 and u32, where one is started by itself.
inline segsort::Arguments<std::uint32_t> arguments_of(const segsort::DeviceRequest& request) {
  segsort::Arguments<std::uint32_t> arguments{};
  arguments.keys_in = static_cast<const std::uint32_t*>(request.keys_in);
  arguments.keys_out = static_cast<std::uint32_t*>(request.keys_out);
  arguments.values_in = request.values_in;
  arguments.values_out = request.values_out;
  arguments.value_bytes = request.value_bytes;
  arguments.begin_offsets = {request.begin_offsets, request.offset_bytes == 8};
  arguments.end_offsets = {request.end_offsets, request.offset_bytes == 8};
  arguments.num_segments = static_cast<std::uint64_t>(request.num_segments);
  arguments.codec = segsort::KeyCodec<std::uint32_t>::make(KeyType::u32, Order::ascending, 0, 32);
  return arguments;
}

/// True for the one combination of types that these kernels are compiled for.
inline bool has_single_kernels(const segsort::DeviceRequest& request) {
  return request.key_type == KeyType::u32 && request.value_bytes == 4;
}

}  // namespace sortie::bench
