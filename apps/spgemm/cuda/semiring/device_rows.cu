// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/semiring/device_rows.hpp"

#include <complex>
#include <cstdint>

#include "apps/spgemm/cuda/device_product.hpp"
#include "apps/spgemm/cuda/semiring/filter_rows.cuh"
#include "apps/spgemm/semiring.hpp"
#include "apps/spgemm/semiring_backends.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_segmented_sort.hpp"

namespace sortie::spgemm::cuda {

void mark_outside(std::int64_t rows, const StructureRows& structure, const StructureRows& mask,
                  std::uint8_t* flags, cudaStream_t stream) {
  if (rows == 0) return;
  mark_outside_kernel<<<blocks_for(rows, structure_warps), structure_threads, 0, stream>>>(
      rows, structure, mask, flags);
  check_cuda(cudaGetLastError());
}

template <class Value>
void mark_kept(std::int64_t rows, const std::int64_t* row_ptr, std::int64_t entries,
               const Value* values, const RowFilter& filter, std::uint8_t* flags,
               cudaStream_t stream) {
  if (entries == 0) return;
  DeviceBuffer<std::uint64_t> keys(entries, stream);
  std::uint64_t* const to = keys.data();
  for_each_item<std::int64_t>(
      entries, [=] __device__(std::int64_t i) { to[i] = magnitude_key(values[i]); }, stream);
  DeviceBuffer<std::uint64_t> sorted;
  if (filter.keep_top) {
    sorted = DeviceBuffer<std::uint64_t>(entries, stream);
    call_with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
      return DeviceSegmentedSort::SortKeysDescending(
          scratch, bytes, static_cast<const std::uint64_t*>(keys.data()), sorted.data(), entries,
          rows, row_ptr, row_ptr + 1, stream);
    });
  }
  mark_kept_kernel<<<blocks_for(rows, structure_warps), structure_threads, 0, stream>>>(
      rows, row_ptr, keys.data(), sorted.data(), filter.keep_top.value_or(0),
      least_key<Value>(filter.drop_below), flags);
  check_cuda(cudaGetLastError());
}

namespace {

/// Not in the constructor, which nvcc does not let have a lambda.
void copy_flags(const std::uint8_t* flags, std::int64_t entries, std::int64_t* to,
                cudaStream_t stream) {
  for_each_item<std::int64_t>(
      entries + 1, [=] __device__(std::int64_t i) { to[i] = i < entries ? flags[i] : 0; }, stream);
}

}  // namespace

KeptEntries::KeptEntries(const std::uint8_t* flags, std::int64_t entries, cudaStream_t stream)
    : flags_(flags), entries_(entries), positions_(entries + 1, stream), stream_(stream) {
  copy_flags(flags, entries, positions_.data(), stream);
  exclusive_sum(positions_.data(), entries + 1, stream);
  check_cuda(cudaMemcpyAsync(&count_, positions_.data() + entries, sizeof count_,
                             cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
}

DeviceBuffer<std::int64_t> KeptEntries::offsets(const std::int64_t* row_ptr,
                                                std::int64_t rows) const {
  DeviceBuffer<std::int64_t> offsets(rows + 1, stream_);
  std::int64_t* const to = offsets.data();
  const std::int64_t* const positions = positions_.data();
  for_each_item<std::int64_t>(
      rows + 1, [=] __device__(std::int64_t row) { to[row] = positions[row_ptr[row]]; }, stream_);
  return offsets;
}

template <class T>
DeviceBuffer<T> KeptEntries::items(const T* from) const {
  DeviceBuffer<T> items(count_, stream_);
  T* const to = items.data();
  const std::int64_t* const positions = positions_.data();
  const std::uint8_t* const flags = flags_;
  for_each_item<std::int64_t>(
      entries_,
      [=] __device__(std::int64_t i) {
        if (flags[i] != 0) to[positions[i]] = from[i];
      },
      stream_);
  return items;
}

template <class Value>
DeviceBuffer<std::uint8_t> truths(const Value* values, std::int64_t count, cudaStream_t stream) {
  DeviceBuffer<std::uint8_t> result(count, stream);
  std::uint8_t* const to = result.data();
  for_each_item<std::int64_t>(
      count, [=] __device__(std::int64_t i) { to[i] = truth(values[i]); }, stream);
  return result;
}

template <class Value, class Number>
void write_entries_of(const Number* numbers, std::int64_t count, bool ones, Value* to,
                      cudaStream_t stream) {
  for_each_item<std::int64_t>(
      count,
      [=] __device__(std::int64_t i) { to[i] = from_number<Value>(ones ? Number{1} : numbers[i]); },
      stream);
}

template <class From, class To>
void convert_values(const From* from, std::int64_t count, To* to, cudaStream_t stream) {
  for_each_item<std::int64_t>(
      count, [=] __device__(std::int64_t i) { to[i] = static_cast<To>(from[i]); }, stream);
}

template <class Value>
DeviceBuffer<Value> ones(std::int64_t count, cudaStream_t stream) {
  DeviceBuffer<Value> result(count, stream);
  write_entries_of<Value, std::uint8_t>(nullptr, count, true, result.data(), stream);
  return result;
}

template DeviceBuffer<std::uint32_t> KeptEntries::items(const std::uint32_t*) const;

#define INSTANTIATE(Value)                                                                        \
  template void mark_kept(std::int64_t, const std::int64_t*, std::int64_t, const Value*,          \
                          const RowFilter&, std::uint8_t*, cudaStream_t);                         \
  template DeviceBuffer<Value> KeptEntries::items(const Value*) const;                            \
  template DeviceBuffer<std::uint8_t> truths(const Value*, std::int64_t, cudaStream_t);           \
  template void write_entries_of(const std::uint32_t*, std::int64_t, bool, Value*, cudaStream_t); \
  template void write_entries_of(const std::uint8_t*, std::int64_t, bool, Value*, cudaStream_t);  \
  template DeviceBuffer<Value> ones<Value>(std::int64_t, cudaStream_t);
SORTIE_SEMIRING_FOR_EACH_VALUE(INSTANTIATE)
#undef INSTANTIATE
#define INSTANTIATE(Value)                                                                      \
  template void convert_values<Value, float>(const Value*, std::int64_t, float*, cudaStream_t); \
  template void convert_values<float, Value>(const float*, std::int64_t, Value*, cudaStream_t);
SORTIE_SEMIRING_FOR_EACH_FLOAT16(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm::cuda
