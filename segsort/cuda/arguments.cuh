// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "primitives/cuda/hardware.cuh"
#include "primitives/key_codec.hpp"
#include "segsort/cuda/device_request.hpp"

namespace sortie::segsort {

/// A KeyCodec for sorts that compare only some bits of the keys.
///
/// Words are rotated so that the compared bits are the highest. An unstable sort compares whole
/// words, since keys that agree in the compared bits may be in any order. A stable sort compares
/// `word & compare_mask`.
template <class Word>
struct BitRangeCodec {
  static_assert(std::is_unsigned_v<Word>);
  static constexpr int bits = KeyCodec<Word>::bits;

  KeyCodec<Word> codec;
  Word compare_mask = ~Word{0};
  int ignored_bits = 0;  ///< low bits that compare_mask clears
  int rotation = 0;
  bool plain = true;  ///< keys need no encoding: unsigned, ascending, all bits

  __host__ __device__ static BitRangeCodec make(KeyType type, Order order, int begin_bit,
                                                int end_bit) {
    return make(kind_of(type), order, begin_bit, end_bit);
  }
  __host__ __device__ static BitRangeCodec make(KeyKind kind, Order order, int begin_bit,
                                                int end_bit) {
    BitRangeCodec made;
    made.codec = KeyCodec<Word>(kind, order);
    made.rotation = bits - end_bit;
    made.ignored_bits = bits - (end_bit - begin_bit);
    made.plain = made.codec.is_identity() && end_bit - begin_bit == bits;
    made.compare_mask =
        end_bit == begin_bit ? Word{0} : static_cast<Word>(~Word{0} << made.ignored_bits);
    return made;
  }

  __device__ Word encode(Word key) const { return rotate_left(codec.encoded(key), rotation); }
  __device__ Word decode(Word word) const {
    return codec.decoded(rotate_left(word, bits - rotation));
  }

 private:
  __device__ static Word rotate_left(Word word, int count) {
    count &= bits - 1;
    return static_cast<Word>((word << count) | (word >> ((bits - count) & (bits - 1))));
  }
};

/// Prefetches `bytes` bytes cooperatively; the caller is thread `thread` of `threads`.
__device__ __forceinline__ void prefetch_lines(const void* from, std::uint64_t bytes,
                                               unsigned int thread, unsigned int threads) {
  constexpr std::uint64_t line = 128;
  for (std::uint64_t i = thread * line; i < bytes; i += threads * line)
    prefetch_line(static_cast<const char*>(from) + i);
}
template <int ValueBytes, class Word>
__device__ __forceinline__ void prefetch_items(const Word* keys, const void* values,
                                               std::uint64_t begin, std::uint64_t length,
                                               unsigned int thread, unsigned int threads) {
  prefetch_lines(keys + begin, length * sizeof(Word), thread, threads);
  if constexpr (ValueBytes != 0)
    prefetch_lines(static_cast<const char*>(values) + begin * ValueBytes, length * ValueBytes,
                   thread, threads);
}

/// Offsets of 32 or 64 bits; the branch on their width is uniform over the grid.
struct DeviceOffsets {
  const void* data;
  bool wide;

  __device__ std::uint64_t operator[](std::uint64_t i) const {
    return wide ? static_cast<const std::uint64_t*>(data)[i]
                : static_cast<const std::uint32_t*>(data)[i];
  }
  /// Prefetches up to 512 offsets from `begin` on, of `all`. Called by the whole warp.
  __device__ void prefetch(std::uint64_t begin, std::uint64_t count, std::uint64_t all) const {
    const std::uint64_t in_line = wide ? 16 : 32;
    const std::uint64_t i = begin + threadIdx.x % 32 * in_line;
    if (i < min(begin + count, all))
      prefetch_line(static_cast<const char*>(data) + i * (wide ? 8 : 4));
  }
};

struct SegmentExtent {
  std::uint64_t begin;
  std::uint64_t length;
};

/// Offsets of a segment as passed by the caller. A segment that ends before it begins is empty.
struct SegmentOffsets {
  std::uint64_t begin;
  std::uint64_t end;

  [[nodiscard]] __device__ SegmentExtent extent() const {
    return {begin, end > begin ? end - begin : 0};
  }
};

/// Array that holds the items of a part of a long segment.
enum class Buffer : std::uint32_t { input, output, scratch };

/// Arguments of every kernel: the arrays of the caller, with keys as words of their width.
template <class WordType>
struct Arguments {
  using Word = WordType;
  using Stored = WordType;  ///< a key as it is in memory
  const Word* keys_in;
  Word* keys_out;
  Word* keys_scratch;
  const void* values_in;
  void* values_out;
  void* values_scratch;
  int value_bytes;
  DeviceOffsets begin_offsets;
  DeviceOffsets end_offsets;
  std::uint64_t num_segments;  ///< of this pass; upper bound if device_num_segments is set
  const std::int64_t* device_num_segments;  ///< of all passes; null: num_segments is exact
  std::uint64_t first_segment;              ///< of this pass
  const SegmentRange* ranges;               ///< key ranges of this pass's segments; null: unknown
  BitRangeCodec<Word> codec;

  /// Segments of this pass.
  [[nodiscard]] __device__ std::uint64_t segments() const {
    if (device_num_segments == nullptr) return num_segments;
    const std::int64_t rest = *device_num_segments - static_cast<std::int64_t>(first_segment);
    return min(static_cast<std::uint64_t>(max(rest, std::int64_t{0})), num_segments);
  }

  [[nodiscard]] __device__ SegmentOffsets offsets(std::uint64_t segment) const {
    return {begin_offsets[segment], end_offsets[segment]};
  }
  /// Prefetches the offsets of up to 512 segments. Called by a warp.
  __device__ void prefetch_offsets(std::uint64_t first, std::uint64_t count,
                                   std::uint64_t all) const {
    begin_offsets.prefetch(first, count, all);
  }
  [[nodiscard]] __device__ const BitRangeCodec<Word>& tile_codec() const { return codec; }

  [[nodiscard]] __device__ const Word* keys_of(Buffer buffer) const {
    return buffer == Buffer::input ? keys_in : buffer == Buffer::output ? keys_out : keys_scratch;
  }
  [[nodiscard]] __device__ const void* values_of(Buffer buffer) const {
    return buffer == Buffer::input    ? values_in
           : buffer == Buffer::output ? values_out
                                      : values_scratch;
  }
};

template <class Word>
__device__ SegmentExtent extent(const Arguments<Word>& arguments, std::uint64_t segment) {
  return arguments.offsets(segment).extent();
}

/// Most segments per pass: segment indices have 32 bits, so more segments take several passes.
inline constexpr std::int64_t segments_per_pass = std::int64_t{1} << 31;

/// Buffers for a second copy of keys and values; unused if the input may be overwritten.
struct Scratch {
  void* keys = nullptr;
  void* values = nullptr;
};

/// Arguments of the pass over `segments` segments from first_segment on.
template <class Word>
Arguments<Word> arguments_of(const DeviceRequest& request, Scratch scratch,
                             std::int64_t first_segment, std::int64_t segments) {
  if (request.input_is_scratch) scratch.keys = const_cast<void*>(request.keys_in);
  if (request.input_is_scratch || request.value_input_is_scratch)
    scratch.values = const_cast<void*>(request.values_in);
  const auto offsets = [&](const void* all) {
    return DeviceOffsets{static_cast<const char*>(all) + first_segment * request.offset_bytes,
                         request.offset_bytes == 8};
  };
  const int end_bit = request.end_bit < 0 ? key_bits(request.key_type) : request.end_bit;
  return {.keys_in = static_cast<const Word*>(request.keys_in),
          .keys_out = static_cast<Word*>(request.keys_out),
          .keys_scratch = static_cast<Word*>(scratch.keys),
          .values_in = request.values_in,
          .values_out = request.values_out,
          .values_scratch = scratch.values,
          .value_bytes = request.value_bytes,
          .begin_offsets = offsets(request.begin_offsets),
          .end_offsets = offsets(request.end_offsets),
          .num_segments = static_cast<std::uint64_t>(segments),
          .device_num_segments = request.device_num_segments,
          .first_segment = static_cast<std::uint64_t>(first_segment),
          .ranges = request.ranges == nullptr ? nullptr : request.ranges + first_segment,
          .codec = BitRangeCodec<Word>::make(request.key_type, request.order, request.begin_bit,
                                             end_bit)};
}

}  // namespace sortie::segsort
