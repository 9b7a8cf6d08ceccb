// SPDX-License-Identifier: Apache-2.0
#include "primitives/cuda/cub_radix_sort.cuh"
#include "primitives/key_codec.hpp"

namespace sortie {
namespace {

/// A key that ascends in the order of its encoding by KeyCodec, which cub::DeviceRadixSort applies
/// when it reads and writes keys.
template <class Word, KeyKind Kind, Order Direction>
struct EncodedKey {
  Word bits;
};

}  // namespace
}  // namespace sortie

/// CUB's documented extension point for key types. Unlike those of floating-point numbers, -0.0
/// precedes +0.0.
template <class Word, sortie::KeyKind Kind, sortie::Order Direction>
struct cub::NumericTraits<sortie::EncodedKey<Word, Kind, Direction>>
    : cub::BaseTraits<cub::NOT_A_NUMBER, false, Word, sortie::EncodedKey<Word, Kind, Direction>> {
  using UnsignedBits = Word;
  static __host__ __device__ __forceinline__ Word TwiddleIn(Word key) {
    return sortie::KeyCodec<Word>(Kind, Direction).encoded(key);
  }
  static __host__ __device__ __forceinline__ Word TwiddleOut(Word word) {
    return sortie::KeyCodec<Word>(Kind, Direction).decoded(word);
  }
  static constexpr Word LOWEST_KEY = sortie::KeyCodec<Word>(Kind, Direction).decoded(Word{0});
  static constexpr Word MAX_KEY =
      sortie::KeyCodec<Word>(Kind, Direction).decoded(static_cast<Word>(~Word{0}));
};

namespace sortie {
namespace {

/// Sorts pairs of 4-byte keys and values, fewer than 2^32.
/// Buffers: RadixBuffers or const RadixArrays.
template <class Buffers>
cudaError_t sort_pairs_of_kind(void* temp_storage, std::size_t& temp_storage_bytes,
                               Buffers& buffers, std::uint64_t n, KeyKind kind, Order order,
                               int begin_bit, int end_bit, cudaStream_t stream) {
  const auto sort = [&]<KeyKind Kind, Order Direction>() {
    return cub_sort_counted<EncodedKey<std::uint32_t, Kind, Direction>, std::uint32_t>(
        temp_storage, temp_storage_bytes, buffers, static_cast<std::uint32_t>(n), begin_bit,
        end_bit, stream);
  };
  const auto with_order = [&]<KeyKind Kind>() {
    return order == Order::ascending ? sort.template operator()<Kind, Order::ascending>()
                                     : sort.template operator()<Kind, Order::descending>();
  };
  if (kind == KeyKind::unsigned_integer)
    return sort.template operator()<KeyKind::unsigned_integer, Order::descending>();
  return kind == KeyKind::signed_integer
             ? with_order.template operator()<KeyKind::signed_integer>()
             : with_order.template operator()<KeyKind::floating_point>();
}

/// Buffers: RadixBuffers or const RadixArrays.
template <class Buffers>
cudaError_t sort_of_kind(void* temp_storage, std::size_t& temp_storage_bytes, Buffers& buffers,
                         std::uint64_t n, int key_bytes, KeyKind kind, Order order, int value_bytes,
                         int begin_bit, int end_bit, cudaStream_t stream) {
  const auto sort = [&]<class Word, KeyKind Kind, Order Direction>() {
    return with_value_bytes(value_bytes, [&]<class Value>(Value) {
      return cub_sort<EncodedKey<Word, Kind, Direction>, Value>(
          temp_storage, temp_storage_bytes, buffers, n, begin_bit, end_bit, stream);
    });
  };
  const auto with_order = [&]<class Word, KeyKind Kind>() {
    return order == Order::ascending ? sort.template operator()<Word, Kind, Order::ascending>()
                                     : sort.template operator()<Word, Kind, Order::descending>();
  };
  if (kind == KeyKind::unsigned_integer && order == Order::ascending)
    return device_radix_sort(temp_storage, temp_storage_bytes, buffers, n, key_bytes, value_bytes,
                             begin_bit, end_bit, stream);
  if (key_bytes == 4)
    return sort_pairs_of_kind(temp_storage, temp_storage_bytes, buffers, n, kind, order, begin_bit,
                              end_bit, stream);
  if (key_bytes == 1)
    return kind == KeyKind::unsigned_integer
               ? sort.template
                 operator()<std::uint8_t, KeyKind::unsigned_integer, Order::descending>()
               : with_order.template operator()<std::uint8_t, KeyKind::signed_integer>();
  if (kind == KeyKind::unsigned_integer)
    return sort.template operator()<std::uint16_t, KeyKind::unsigned_integer, Order::descending>();
  return kind == KeyKind::signed_integer
             ? with_order.template operator()<std::uint16_t, KeyKind::signed_integer>()
             : with_order.template operator()<std::uint16_t, KeyKind::floating_point>();
}

}  // namespace

cudaError_t encoded_radix_sort(void* temp_storage, std::size_t& temp_storage_bytes,
                               const RadixArrays& arrays, std::uint64_t n, int key_bytes,
                               KeyKind kind, Order order, int value_bytes, int begin_bit,
                               int end_bit, cudaStream_t stream) {
  return sort_of_kind(temp_storage, temp_storage_bytes, arrays, n, key_bytes, kind, order,
                      value_bytes, begin_bit, end_bit, stream);
}

cudaError_t encoded_radix_sort(void* temp_storage, std::size_t& temp_storage_bytes,
                               RadixBuffers& buffers, std::uint64_t n, int key_bytes, KeyKind kind,
                               Order order, int value_bytes, int begin_bit, int end_bit,
                               cudaStream_t stream) {
  return sort_of_kind(temp_storage, temp_storage_bytes, buffers, n, key_bytes, kind, order,
                      value_bytes, begin_bit, end_bit, stream);
}

}  // namespace sortie
