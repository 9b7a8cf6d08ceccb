// SPDX-License-Identifier: Apache-2.0

// Sorts of device memory by DeviceSegmentedSort's implementation; a whole array is one segment.

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

#include "bindings/c/cuda/element_kernels.hpp"
#include "bindings/c/sorting.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/cuda/device_pool.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_segmented_sort.hpp"

namespace sortie::c {
namespace {

using Bytes = DeviceBuffer<std::byte>;

/// Keys and values of 0, 4 or 8 bytes that are sorted from one array to another.
struct Move {
  const void* keys_in = nullptr;
  void* keys_out = nullptr;
  KeyType type = KeyType::u32;
  int end_bit = -1;
  const void* values_in = nullptr;
  void* values_out = nullptr;
  int value_bytes = 0;
  bool input_is_scratch = false;
};

/// Whether keys are sorted as integers of 4 bytes.
bool is_widened(KeyType type) {
  return key_bytes(type) < 4 && kind_of(type) != KeyKind::floating_point;
}

/// One sort of device memory. Its buffers are freed in the order of the stream.
class DeviceSort {
 public:
  DeviceSort(const Context& context, const SortCall& call, CUstream_st* stream)
      : context_(context), call_(call), stream_(stream) {}

  void sort() {
    const bool by_positions =
        call_.value_bytes != 0 && call_.value_bytes != 4 && call_.value_bytes != 8;
    if (by_positions) {
      return call_.size < least_wide_size ? sort_by_positions<std::uint32_t>()
                                          : sort_by_positions<std::uint64_t>();
    }
    Move move;
    move.value_bytes = static_cast<int>(call_.value_bytes);
    move.values_in = call_.values;
    move.values_out = call_.sorted_values;
    Bytes values;
    if (call_.is_in_place()) {
      values = copy_of(call_.values, call_.size * call_.value_bytes);
      move.values_in = values.data();
    } else {
      keep_outside(call_.values, call_.sorted_values, call_.value_bytes);
    }
    sort_keys(move);
  }

  void argsort(sortie_type position_type, void* positions) {
    if (call_.size >= least_wide_size) return argsort_to(static_cast<std::uint64_t*>(positions));
    if (sortie_type_bytes(position_type) == sizeof(std::uint32_t))
      return argsort_to(static_cast<std::uint32_t*>(positions));
    DeviceBuffer<std::uint32_t> narrow = buffer<std::uint32_t>(call_.size);
    argsort_to(narrow.data());
    widen_positions(narrow.data(), static_cast<std::uint64_t*>(positions), call_.size, stream_);
  }

 private:
  template <class T>
  DeviceBuffer<T> buffer(std::uint64_t size) {
    taken_ += size * sizeof(T);
    if (context_.memory_budget != 0 && taken_ > context_.memory_budget)
      throw out_of_memory_error("a sort of device memory", taken_, context_.memory_budget);
    return DeviceBuffer<T>(size, stream_);
  }

  Bytes copy_of(const void* data, std::uint64_t bytes) {
    Bytes copy = buffer<std::byte>(bytes);
    copy_on_device(data, copy.data(), bytes);
    return copy;
  }

  void copy_on_device(const void* from, void* to, std::uint64_t bytes) {
    if (bytes != 0) check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_));
  }

  /// Copies the elements outside of all segments, which a sort does not write.
  void keep_outside(const void* from, void* to, std::uint64_t element_bytes) {
    if (call_.segments == nullptr || element_bytes == 0) return;
    const sortie_segments& segments = *call_.segments;
    const auto offset_bytes = sortie_type_bytes(segments.offset_type);
    const bool are_consecutive =
        segments.ends == static_cast<const std::byte*>(segments.begins) + offset_bytes;
    if (are_consecutive && segments.count != 0) {
      copy_outside(segments.begins, static_cast<int>(offset_bytes), segments.count, from, to,
                   call_.size, element_bytes, stream_);
    } else {
      copy_on_device(from, to, call_.size * element_bytes);
    }
  }

  /// Positions of all elements that are moved with the keys, to `positions`.
  template <class Position>
  void argsort_to(Position* positions) {
    DeviceBuffer<Position> unsorted = buffer<Position>(call_.size);
    fill_positions(unsorted.data(), call_.size, stream_);
    if (call_.segments != nullptr) fill_positions(positions, call_.size, stream_);
    Bytes sorted_keys =
        buffer<std::byte>(is_widened(key_type(call_.type)) ? 0 : call_.size * call_.key_size());
    Move move;
    move.keys_out = sorted_keys.data();
    move.values_in = unsorted.data();
    move.values_out = positions;
    move.value_bytes = sizeof(Position);
    sort_keys(move);
  }

  template <class Position>
  void sort_by_positions() {
    DeviceBuffer<Position> unsorted = buffer<Position>(call_.size);
    DeviceBuffer<Position> positions = buffer<Position>(call_.size);
    fill_positions(unsorted.data(), call_.size, stream_);
    if (call_.segments != nullptr) fill_positions(positions.data(), call_.size, stream_);
    Bytes copy;
    const void* values = call_.values;
    if (call_.is_in_place()) {
      copy = copy_of(values, call_.size * call_.value_bytes);
      values = copy.data();
    }
    Move move;
    move.values_in = unsorted.data();
    move.values_out = positions.data();
    move.value_bytes = sizeof(Position);
    sort_keys(move);
    gather(values, positions.data(), call_.sorted_values, call_.size, call_.value_bytes, stream_);
  }

  /// Sorts the keys of the call; `move` says what moves with them. Sorted keys go to move.keys_out
  /// or, if it is null, to the array of the call, if there is one.
  void sort_keys(Move move) {
    move.type = key_type(call_.type);
    if (is_widened(move.type)) return sort_narrow_keys(move);
    move.keys_in = call_.keys;
    Bytes keys;
    if (move.keys_out == nullptr) {
      move.keys_out = call_.sorted_keys;
      if (call_.is_in_place()) {
        keys = copy_of(call_.keys, call_.size * call_.key_size());
        move.keys_in = keys.data();
        // The values are copies, too, or positions of this call.
        move.input_is_scratch = true;
      } else {
        keep_outside(call_.keys, call_.sorted_keys, call_.key_size());
      }
    }
    run(move);
  }

  void sort_narrow_keys(Move move) {
    const KeyType type = move.type;
    DeviceBuffer<std::uint32_t> unsorted = buffer<std::uint32_t>(call_.size);
    DeviceBuffer<std::uint32_t> sorted = buffer<std::uint32_t>(call_.size);
    widen_keys(type, call_.keys, unsorted.data(), call_.size, stream_);
    if (call_.segments != nullptr) copy_on_device(unsorted.data(), sorted.data(), unsorted.bytes());
    move.keys_in = unsorted.data();
    move.keys_out = sorted.data();
    move.type = KeyType::u32;
    move.end_bit = key_bits(type);
    run(move);
    if (call_.sorted_keys != nullptr)
      narrow_keys(type, sorted.data(), call_.sorted_keys, call_.size, stream_);
  }

  void run(const Move& move) {
    segsort::DeviceRequest request;
    request.key_type = move.type;
    request.value_bytes = move.value_bytes;
    request.keys_in = move.keys_in;
    request.keys_out = move.keys_out;
    request.values_in = move.values_in;
    request.values_out = move.values_out;
    request.input_is_scratch = move.input_is_scratch;
    request.num_items = static_cast<std::int64_t>(call_.size);
    request.order = call_.descends() ? Order::descending : Order::ascending;
    request.stable = true;
    request.end_bit = move.end_bit;
    DeviceBuffer<std::uint64_t> whole;
    if (call_.segments == nullptr) {
      whole = buffer<std::uint64_t>(2);
      // Zero and `size`, by a kernel: a copy from pageable memory would wait for the stream.
      set_range(whole.data(), call_.size, stream_);
      request.offset_bytes = sizeof(std::uint64_t);
      request.num_segments = 1;
      request.begin_offsets = whole.data();
      request.end_offsets = whole.data() + 1;
    } else {
      request.offset_bytes = static_cast<int>(sortie_type_bytes(call_.segments->offset_type));
      request.num_segments = static_cast<std::int64_t>(call_.segments->count);
      request.begin_offsets = call_.segments->begins;
      request.end_offsets = call_.segments->ends;
    }
    std::size_t bytes = 0;
    check_cuda(segsort::sort_on_device(nullptr, bytes, request, stream_));
    Bytes storage = buffer<std::byte>(bytes);
    check_cuda(segsort::sort_on_device(storage.data(), bytes, request, stream_));
  }

  const Context& context_;
  const SortCall& call_;
  cudaStream_t stream_;
  std::uint64_t taken_ = 0;  ///< bytes of device memory
};

}  // namespace

void sort_on_device(const Context& context, const SortCall& call, CUstream_st* stream) {
  const DeviceScope device(context);
  if (call.size != 0) DeviceSort(context, call, stream).sort();
}

void argsort_on_device(const Context& context, const ArgsortCall& argsort, CUstream_st* stream) {
  const DeviceScope device(context);
  if (argsort.size == 0) return;
  const SortCall call = argsort.of_keys();
  DeviceSort(context, call, stream).argsort(argsort.position_type, argsort.positions);
}

}  // namespace sortie::c
