#include "sortie/apps/bench/cuda/segsort_peers.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include <type_traits>

namespace sortie::bench {
namespace {

using segsort::DeviceRequest;

struct NoValue {};

/// Calls `function` with typed zero values of the request's key and value types. (The host's
/// key_dispatch.hpp formats messages with fmt, which nvcc cannot compile.)
template <class Function>
cudaError_t dispatch(const DeviceRequest& request, Function function) {
  const auto with_value = [&]<class Key>(Key key) {
    if (request.value_bytes == 0) return function(key, NoValue{});
    if (request.value_bytes == 4) return function(key, std::uint32_t{});
    if (request.value_bytes == 8) return function(key, std::uint64_t{});
    return cudaErrorNotSupported;
  };
  if (request.key_type == KeyType::u32) return with_value(std::uint32_t{});
  if (request.key_type == KeyType::u64) return with_value(std::uint64_t{});
  return cudaErrorNotSupported;
}

template <class T>
const T* in(const void* data) {
  return static_cast<const T*>(data);
}
template <class T>
T* out(void* data) {
  return static_cast<T*>(data);
}

}  // namespace

bool has_cub_peers(const DeviceRequest& request) {
  return request.offset_bytes == 4 &&
         (request.key_type == KeyType::u32 || request.key_type == KeyType::u64);
}

cudaError_t cub_segmented_sort(void* temporary, std::size_t& bytes, const DeviceRequest& request,
                               cudaStream_t stream) {
  if (!has_cub_peers(request)) return cudaErrorNotSupported;
  return dispatch(request, [&]<class Key, class Value>(Key, Value) {
    const auto* begin = in<std::uint32_t>(request.begin_offsets);
    const auto* end = in<std::uint32_t>(request.end_offsets);
    if constexpr (std::is_same_v<Value, NoValue>) {
      return cub::DeviceSegmentedSort::SortKeys(temporary, bytes, in<Key>(request.keys_in),
                                                out<Key>(request.keys_out), request.num_items,
                                                request.num_segments, begin, end, stream);
    } else {
      return cub::DeviceSegmentedSort::SortPairs(
          temporary, bytes, in<Key>(request.keys_in), out<Key>(request.keys_out),
          in<Value>(request.values_in), out<Value>(request.values_out), request.num_items,
          request.num_segments, begin, end, stream);
    }
  });
}

cudaError_t cub_radix_sort(void* temporary, std::size_t& bytes, const DeviceRequest& request,
                           cudaStream_t stream) {
  if (!has_cub_peers(request)) return cudaErrorNotSupported;
  return dispatch(request, [&]<class Key, class Value>(Key, Value) {
    constexpr int key_bits = static_cast<int>(sizeof(Key)) * 8;
    if constexpr (std::is_same_v<Value, NoValue>) {
      return cub::DeviceRadixSort::SortKeys(temporary, bytes, in<Key>(request.keys_in),
                                            out<Key>(request.keys_out), request.num_items, 0,
                                            key_bits, stream);
    } else {
      return cub::DeviceRadixSort::SortPairs(
          temporary, bytes, in<Key>(request.keys_in), out<Key>(request.keys_out),
          in<Value>(request.values_in), out<Value>(request.values_out), request.num_items, 0,
          key_bits, stream);
    }
  });
}

}  // namespace sortie::bench
