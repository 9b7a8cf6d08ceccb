// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/arguments.cuh"
#include "sortie/device_segmented_sort.hpp"

/// Conversion of a request into kernel arguments, for every policy.
namespace sortie::segsort {

/// Most segments per pass: segment indices have 32 bits, so more segments take several passes.
inline constexpr std::int64_t segments_per_pass = std::int64_t{1} << 31;

/// Returns false for negative counts, bits outside of the key, and unsupported widths.
inline bool is_valid(const DeviceRequest& request) {
  const int bits = key_bits(request.key_type);
  const bool is_unsigned = request.key_type == KeyType::u32 || request.key_type == KeyType::u64;
  const int end_bit = request.end_bit < 0 ? bits : request.end_bit;
  if (bits != 32 && bits != 64) return false;
  if (request.num_items < 0 || request.num_segments < 0) return false;
  if (request.begin_bit < 0 || request.begin_bit > end_bit || end_bit > bits) return false;
  if (!is_unsigned && (request.begin_bit != 0 || end_bit != bits)) return false;
  if (request.value_bytes != 0 && request.value_bytes != 4 && request.value_bytes != 8)
    return false;
  if (request.ranges != nullptr && end_bit - request.begin_bit != bits) return false;
  return request.offset_bytes == 4 || request.offset_bytes == 8;
}

/// Buffers for a second copy of keys and values; unused if the input may be overwritten.
struct Scratch {
  void* keys = nullptr;
  void* values = nullptr;
};

/// Arguments of the pass over `segments` segments from first_segment on.
template <class Word>
Arguments<Word> arguments_of(const DeviceRequest& request, const Scratch& scratch,
                             std::int64_t first_segment, std::int64_t segments) {
  Arguments<Word> arguments{};
  arguments.keys_in = static_cast<const Word*>(request.keys_in);
  arguments.keys_out = static_cast<Word*>(request.keys_out);
  arguments.values_in = request.values_in;
  arguments.values_out = request.values_out;
  arguments.value_bytes = request.value_bytes;
  if (request.input_is_scratch) {
    arguments.keys_scratch = const_cast<Word*>(arguments.keys_in);
    arguments.values_scratch = const_cast<void*>(request.values_in);
  } else {
    arguments.keys_scratch = static_cast<Word*>(scratch.keys);
    arguments.values_scratch = scratch.values;
  }
  const bool wide = request.offset_bytes == 8;
  const std::int64_t skipped = first_segment * request.offset_bytes;
  arguments.begin_offsets =
      DeviceOffsets{static_cast<const char*>(request.begin_offsets) + skipped, wide};
  arguments.end_offsets =
      DeviceOffsets{static_cast<const char*>(request.end_offsets) + skipped, wide};
  arguments.num_segments = static_cast<std::uint64_t>(segments);
  arguments.device_num_segments = request.device_num_segments;
  arguments.first_segment = static_cast<std::uint64_t>(first_segment);
  arguments.ranges = request.ranges == nullptr ? nullptr : request.ranges + first_segment;
  arguments.codec =
      BitRangeCodec<Word>::make(request.key_type, request.order, request.begin_bit,
                                request.end_bit < 0 ? key_bits(request.key_type) : request.end_bit);
  return arguments;
}

}  // namespace sortie::segsort
