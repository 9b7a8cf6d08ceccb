#pragma once

#include <cuda_runtime_api.h>

#include "sortie/multisort/cuda/key_order.cuh"

/// What a merge sort compares by. An order has
/// * encode() and decode(), applied to each key when it is first read and last written;
/// * operator(): whether encoded key a stands before b. Called on the host too, by the selection of
///   borders among devices;
/// * is_identity(): whether encode() changes nothing.
namespace sortie::multisort::merge {

/// Keys of any supported type, as unsigned integers of the same order.
template <class Word>
struct WordOrder {
  OrderedKeys<Word> codec;
  bool is_plain;

  explicit WordOrder(const KeyOrder& order) : codec(order), is_plain(order.plain()) {}

  [[nodiscard]] bool is_identity() const { return is_plain; }
  [[nodiscard]] __device__ Word encode(Word key) const { return codec.encode(key); }
  [[nodiscard]] __device__ Word decode(Word word) const { return codec.decode(word); }
  [[nodiscard]] __host__ __device__ bool operator()(Word a, Word b) const { return a < b; }
};

/// Records by a caller's comparator.
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
