// SPDX-License-Identifier: Apache-2.0

// Suffix arrays, and what is derived from them, in device memory.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "bindings/c/cuda/element_kernels.hpp"
#include "bindings/c/suffixes.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_suffix_array.hpp"

namespace sortie::c {
namespace {

using suffix_array::PatternView;
using suffix_array::cuda::DeviceText;

/// Frees a buffer while its device is current.
template <class T>
struct OwnedBuffer {
  DeviceBuffer<T> buffer;
  int device = 0;

  OwnedBuffer(DeviceBuffer<T> memory, int ordinal) : buffer(std::move(memory)), device(ordinal) {}
  OwnedBuffer(const OwnedBuffer&) = delete;
  OwnedBuffer& operator=(const OwnedBuffer&) = delete;
  ~OwnedBuffer() {
    release_on_device(device, [this] { buffer.reset(); });
  }
};

template <class T>
sortie_array* to_device_array(DeviceBuffer<T> buffer, const Context& context) {
  auto owner = std::make_shared<OwnedBuffer<T>>(std::move(buffer), context.device);
  T* const data = owner->buffer.data();
  const std::uint64_t size = owner->buffer.size();
  return new sortie_array{{data, size, type_of<T>, SORTIE_DEVICE_MEMORY, context.device},
                          std::move(owner)};
}

DeviceText device_view_of(const sortie_text& text) {
  return {std::span(text.symbols, text.size), std::span(text.separators, text.separator_count)};
}

template <class Position>
std::span<const Position> device_suffixes_of(const Indexed& indexed) {
  return {static_cast<const Position*>(indexed.suffixes), indexed.text.size};
}

/// Calls function(T{}) for the position type of an indexed text.
template <class Function>
auto with_positions(const Indexed& indexed, const Function& function) {
  return with_position_type(indexed.position_type, function);
}

/// The letters of patterns end where the last one does, which only the device knows.
PatternView device_view_of(const sortie_patterns& patterns, CUstream_st* stream) {
  if (patterns.count == 0) return {};
  std::uint64_t letters = 0;
  check_cuda(cudaMemcpyAsync(&letters, patterns.begins + patterns.count, sizeof(letters),
                             cudaMemcpyDeviceToHost, stream));
  check_cuda(cudaStreamSynchronize(stream));
  return {std::span(patterns.letters, letters), std::span(patterns.begins, patterns.count + 1)};
}

}  // namespace

sortie_array* DeviceSuffixes::build(const sortie_text& text, sortie_type position_type) const {
  const DeviceScope device(context);
  return with_position_type(position_type, [&]<class Position>(Position) {
    return to_device_array(
        suffix_array::cuda::build_on_device<Position>(context, device_view_of(text), stream),
        context);
  });
}

sortie_array* DeviceSuffixes::inverse(sortie_type position_type, const void* suffixes,
                                      std::uint64_t size) const {
  const DeviceScope device(context);
  return with_position_type(position_type, [&]<class Position>(Position) {
    const std::span items(static_cast<const Position*>(suffixes), size);
    return to_device_array(suffix_array::cuda::inverse_on_device<Position>(context, items, stream),
                           context);
  });
}

sortie_array* DeviceSuffixes::lcp(const Indexed& indexed) const {
  const DeviceScope device(context);
  return with_positions(indexed, [&]<class Position>(Position) {
    return to_device_array(
        suffix_array::cuda::lcp_on_device<Position>(context, device_view_of(indexed.text),
                                                    device_suffixes_of<Position>(indexed), stream),
        context);
  });
}

sortie_array* DeviceSuffixes::bwt(const Indexed& indexed) const {
  const DeviceScope device(context);
  return with_positions(indexed, [&]<class Position>(Position) {
    return to_device_array(
        suffix_array::cuda::burrows_wheeler_on_device<Position>(
            context, device_view_of(indexed.text), device_suffixes_of<Position>(indexed), stream),
        context);
  });
}

void DeviceSuffixes::check(const Indexed& indexed) const {
  const DeviceScope device(context);
  with_positions(indexed, [&]<class Position>(Position) {
    suffix_array::cuda::check_on_device<Position>(context, device_view_of(indexed.text),
                                                  device_suffixes_of<Position>(indexed), stream);
  });
}

void DeviceSuffixes::find(const Indexed& indexed, const sortie_patterns& patterns,
                          std::uint64_t* begins, std::uint64_t* ends) const {
  const DeviceScope device(context);
  with_positions(indexed, [&]<class Position>(Position) {
    const auto ranges = suffix_array::cuda::find_on_device<Position>(
        context, device_view_of(indexed.text), device_suffixes_of<Position>(indexed),
        device_view_of(patterns, stream), stream);
    split_ranges(ranges.data(), begins, ends, ranges.size(), stream);
  });
}

sortie_array* DeviceSuffixes::locate(const Indexed& indexed, const sortie_patterns& patterns,
                                     std::uint64_t most, std::uint64_t* begins) const {
  const DeviceScope device(context);
  return with_positions(indexed, [&]<class Position>(Position) {
    auto found = suffix_array::cuda::locate_on_device<Position>(
        context, device_view_of(indexed.text), device_suffixes_of<Position>(indexed),
        device_view_of(patterns, stream), most, stream);
    if (found.begins.size() == 0) {
      check_cuda(cudaMemsetAsync(begins, 0, sizeof(std::uint64_t), stream));
    } else {
      check_cuda(cudaMemcpyAsync(begins, found.begins.data(), found.begins.bytes(),
                                 cudaMemcpyDeviceToDevice, stream));
    }
    return to_device_array(std::move(found.positions), context);
  });
}

}  // namespace sortie::c
