// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "primitives/key_codec.hpp"

/// The orders of a merge sort. An order has
/// * encode() and decode(), applied to each key when it is first read and last written;
/// * operator(): whether encoded key a precedes b. Also called on the host, to find the borders
///   between devices;
/// * is_identity(): whether encode() changes nothing.
namespace sortie::multisort::merge {

/// Keys of any supported type, compared as unsigned integers of the same order.
template <class Word>
struct WordOrder {
  KeyCodec<Word> codec;

  explicit WordOrder(const KeyOrder& order) : codec(order.codec<Word>()) {}

  [[nodiscard]] bool is_identity() const { return codec.is_identity(); }
  [[nodiscard]] __device__ Word encode(Word key) const { return codec.encoded(key); }
  [[nodiscard]] __device__ Word decode(Word word) const { return codec.decoded(word); }
  [[nodiscard]] __host__ __device__ bool operator()(Word a, Word b) const { return a < b; }
};

/// Records, compared by the caller's comparator.
template <class Record, class Before>
struct RecordOrder {
  Before before;

  [[nodiscard]] bool is_identity() const { return true; }
  [[nodiscard]] __device__ Record encode(const Record& record) const { return record; }
  [[nodiscard]] __device__ Record decode(const Record& record) const { return record; }
  [[nodiscard]] __host__ __device__ bool operator()(const Record& a, const Record& b) const {
    return before(a, b);
  }
};

}  // namespace sortie::multisort::merge
