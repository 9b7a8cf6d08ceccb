// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <span>

#include "core/cuda/device_pool.hpp"
#include "segsort/cuda/array_values.cuh"
#include "segsort/cuda/device_request.hpp"

/// Segmented sorts that DeviceRequest does not cover: of positions, and of values that are gathered by
/// them.
namespace sortie::segsort {
namespace {

/// \return whether 4 bytes number the items; ~0 marks positions that the sort does not write
bool has_narrow_positions(std::int64_t items) {
  return items < std::int64_t{~std::uint32_t{0}};
}

/// Sorts pairs of a key and its position from the arrays of `request` and of `numbers`, which are
/// filled here, to request.values_out.
/// \pre the storage suffices
template <class Position>
cudaError_t sort_numbered(void* storage, std::size_t bytes, const DeviceRequest& request,
                          Position* numbers, cudaStream_t stream) {
  if (request.num_items == 0) return cudaSuccess;
  const cudaError_t status =
      number_items(numbers, static_cast<std::uint64_t>(request.num_items), stream);
  return status == cudaSuccess ? sort_on_device(storage, bytes, request, stream) : status;
}

/// | array              | elements | for                                      |
/// |--------------------|----------|------------------------------------------|
/// | numbers, positions | items    | values of the sort, in and out           |
/// | the sort's storage | bytes    |                                          |
template <class Position>
cudaError_t sort_and_gather_by(void* temp_storage, std::size_t& temp_storage_bytes,
                               const DeviceRequest& request, std::span<const DeviceValues> values,
                               cudaStream_t stream) {
  const auto n = static_cast<std::uint64_t>(request.num_items);
  StorageCarver carver(temp_storage);
  auto* const numbers = carver.take<Position>(n);
  auto* const positions = carver.take<Position>(n);
  DeviceRequest pairs = request;
  pairs.value_bytes = static_cast<int>(sizeof(Position));
  pairs.values_in = numbers;
  pairs.values_out = positions;
  std::size_t sort_bytes = 0;
  cudaError_t status = sort_on_device(nullptr, sort_bytes, pairs, stream);
  if (status != cudaSuccess) return status;
  void* const storage = carver.take<char>(sort_bytes);
  if (temp_storage == nullptr) {
    temp_storage_bytes = carver.used();
    return cudaSuccess;
  }
  if (temp_storage_bytes < carver.used()) return cudaErrorInvalidValue;
  // Positions outside of all segments remain `no_position`.
  status = cudaMemsetAsync(positions, 0xff, n * sizeof(Position), stream);
  if (status == cudaSuccess) status = sort_numbered(storage, sort_bytes, pairs, numbers, stream);
  for (const DeviceValues& array : values)
    if (status == cudaSuccess && n != 0)
      status = gather<true>(array.in, array.out, positions, array.bytes, n, stream);
  return status;
}

template <class Position>
cudaError_t sort_positions_of(void* temp_storage, std::size_t& temp_storage_bytes,
                              const DeviceRequest& request, cudaStream_t stream) {
  const auto n = static_cast<std::uint64_t>(request.num_items);
  StorageCarver carver(temp_storage);
  DeviceRequest pairs = request;
  auto* const numbers = carver.take<Position>(n);
  pairs.values_in = numbers;
  pairs.keys_out = carver.take<char>(n * static_cast<std::uint64_t>(key_bytes(request.key_type)));
  std::size_t sort_bytes = 0;
  const cudaError_t status = sort_on_device(nullptr, sort_bytes, pairs, stream);
  if (status != cudaSuccess) return status;
  void* const storage = carver.take<char>(sort_bytes);
  if (temp_storage == nullptr) {
    temp_storage_bytes = carver.used();
    return cudaSuccess;
  }
  if (temp_storage_bytes < carver.used()) return cudaErrorInvalidValue;
  return sort_numbered(storage, sort_bytes, pairs, numbers, stream);
}

}  // namespace

cudaError_t sort_and_gather_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                                      const DeviceRequest& request,
                                      std::span<const DeviceValues> values, cudaStream_t stream) {
  if (request.num_items < 0) return cudaErrorInvalidValue;
  return has_narrow_positions(request.num_items)
             ? sort_and_gather_by<std::uint32_t>(temp_storage, temp_storage_bytes, request, values,
                                                 stream)
             : sort_and_gather_by<std::uint64_t>(temp_storage, temp_storage_bytes, request, values,
                                                 stream);
}

cudaError_t sort_positions_on_device(void* temp_storage, std::size_t& temp_storage_bytes,
                                     const DeviceRequest& request, cudaStream_t stream) {
  if (request.num_items < 0 || (request.value_bytes == 4 && request.num_items >> 32 != 0))
    return cudaErrorInvalidValue;
  return request.value_bytes == 4
             ? sort_positions_of<std::uint32_t>(temp_storage, temp_storage_bytes, request, stream)
             : sort_positions_of<std::uint64_t>(temp_storage, temp_storage_bytes, request, stream);
}

}  // namespace sortie::segsort
