// SPDX-License-Identifier: Apache-2.0
#include "apps/spgemm/cuda/semiring/device_rows.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>

#include "apps/spgemm/cuda/device_product.hpp"
#include "apps/spgemm/cuda/semiring/filter_rows.cuh"
#include "apps/spgemm/semiring.hpp"
#include "apps/spgemm/semiring_backends.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_top_k.hpp"

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
      return DeviceTopK::Keys(
          scratch, bytes, static_cast<const std::uint64_t*>(keys.data()), sorted.data(), entries,
          std::min(*filter.keep_top, entries),
          DeviceTopKSegments<std::int64_t>{rows, row_ptr, row_ptr + 1, row_ptr, entries}, {},
          stream);
    });
  }
  mark_kept_kernel<<<blocks_for(rows, structure_warps), structure_threads, 0, stream>>>(
      rows, row_ptr, keys.data(), sorted.data(), filter.keep_top.value_or(0),
      least_key<Value>(filter.drop_below), flags);
  check_cuda(cudaGetLastError());
}

namespace {

/// Entries of a word of flags.
constexpr std::int64_t word_bits = 32;

/// Entries of a block, which is a tile: each warp has the flags of 32 words.
constexpr std::int64_t tile_words = element_threads;
constexpr std::int64_t tile_entries = tile_words * word_bits;

/// Makes the bits of entries and counts those before each word of a tile and before each tile. The
/// last block to end adds up the tiles.
/// \param before_tile  0 for each tile, for all, and for the number of blocks that have ended
template <class Flag>
__global__ void __launch_bounds__(element_threads)
    rank_flags_kernel(const Flag* flags, std::int64_t entries, std::uint32_t* words,
                      std::uint16_t* before_word, unsigned long long* before_tile,
                      std::int64_t* found) {
  __shared__ std::uint32_t warp_sums[element_threads / 32];
  __shared__ bool is_last;
  const std::int64_t first = blockIdx.x * tile_entries + threadIdx.x / 32 * (32 * word_bits);
  std::uint32_t own = 0;  // lane l: word l of the warp
#pragma unroll 8
  for (unsigned int word = 0; word < 32; ++word) {
    const std::int64_t i = first + word * word_bits + lane();
    const std::uint32_t bits = __ballot_sync(full_warp, i < entries && flags[i] != 0);
    if (lane() == word) own = bits;
  }
  const BlockPrefix<std::uint32_t> sum =
      prefix_sum_in_block<element_threads / 32>(lanes_of(own), warp_sums);
  const std::int64_t at = global_thread();
  words[at] = own;
  before_word[at] = static_cast<std::uint16_t>(sum.before);

  unsigned long long* const ended = before_tile + gridDim.x + 1;
  if (threadIdx.x == 0) {
    before_tile[blockIdx.x] = sum.total;
    __threadfence();
    is_last = atomicAdd(ended, 1ull) + 1 == gridDim.x;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  __shared__ unsigned long long wide_sums[element_threads / 32];
  unsigned long long before = 0;
  for (unsigned int tiles = 0; tiles < gridDim.x; tiles += element_threads) {
    const unsigned int tile = tiles + threadIdx.x;
    const unsigned long long count = tile < gridDim.x ? __ldcg(before_tile + tile) : 0;
    const BlockPrefix<unsigned long long> of_tiles =
        prefix_sum_in_block<element_threads / 32>(count, wide_sums);
    if (tile < gridDim.x) before_tile[tile] = before + of_tiles.before;
    before += of_tiles.total;
  }
  if (threadIdx.x == 0) *found = static_cast<std::int64_t>(before);
}

struct KeptRows {
  std::int64_t rows;
  const std::int64_t* row_ptr;
  const std::uint32_t* col_idx;
  std::int64_t entries;
  const std::uint32_t* words;
  const std::uint16_t* before_word;
  const std::int64_t* before_tile;

  /// The number of entries before this one that are kept.
  __device__ __forceinline__ std::int64_t place_of(std::int64_t entry) const {
    const std::uint32_t below = (1u << entry % word_bits) - 1;
    const std::int64_t word = entry / word_bits;
    return before_tile[word / tile_words] + before_word[word] + lanes_of(words[word] & below);
  }
};

/// One thread for each entry, and for each offset of a row.
template <class From, class ValueOf, class Value>
__global__ void __launch_bounds__(element_threads)
    write_kept_kernel(KeptRows kept, const From* from, ValueOf value_of, std::int64_t* c_row_ptr,
                      std::uint32_t* c_col_idx, Value* c_values) {
  const std::int64_t i = global_thread();
  if (i <= kept.rows) c_row_ptr[i] = kept.place_of(kept.row_ptr[i]);
  if (i >= kept.entries || (kept.words[i / word_bits] >> i % word_bits & 1u) == 0) return;
  const std::int64_t place = kept.place_of(i);
  c_col_idx[place] = kept.col_idx[i];
  if (from != nullptr) c_values[place] = value_of(from[i]);
}

}  // namespace

template <class Flag>
KeptEntries::KeptEntries(const Flag* flags, std::int64_t entries, cudaStream_t stream)
    : entries_(entries), mailbox_(stream), stream_(stream) {
  // The place of the entry after the last one is asked for, too.
  const std::int64_t tiles = entries / tile_entries + 1;
  const auto carve = [&](std::byte* base) {
    StorageCarver carver(base);
    before_tile_ = carver.take<std::int64_t>(tiles + 2);
    words_ = carver.take<std::uint32_t>(tiles * tile_words);
    before_word_ = carver.take<std::uint16_t>(tiles * tile_words);
    return carver.used();
  };
  storage_ = DeviceBuffer<std::byte>(carve(nullptr), stream);
  carve(storage_.data());
  check_cuda(cudaMemsetAsync(before_tile_ + tiles + 1, 0, sizeof(std::int64_t), stream));
  rank_flags_kernel<<<static_cast<unsigned int>(tiles), element_threads, 0, stream>>>(
      flags, entries, words_, before_word_, reinterpret_cast<unsigned long long*>(before_tile_),
      mailbox_.on_device());
  check_cuda(cudaGetLastError());
  mailbox_.mark();
}

template <class Value, class From, class ValueOf>
void KeptEntries::write_rows(std::int64_t rows, const std::int64_t* row_ptr,
                             const std::uint32_t* col_idx, const From* from,
                             const ValueOf& value_of, DeviceCsr<Value>& c) {
  c.rows = rows;
  c.row_ptr = DeviceBuffer<std::int64_t>(rows + 1, stream_);
  const std::int64_t left = count();
  c.col_idx = DeviceBuffer<std::uint32_t>(left, stream_);
  c.values = DeviceBuffer<Value>(from == nullptr ? 0 : left, stream_);
  const std::int64_t items = std::max(entries_, rows + 1);
  write_kept_kernel<<<blocks_for(items), element_threads, 0, stream_>>>(
      KeptRows{rows, row_ptr, col_idx, entries_, words_, before_word_, before_tile_}, from,
      value_of, c.row_ptr.data(), c.col_idx.data(), c.values.data());
  check_cuda(cudaGetLastError());
}

template <class Value>
struct SameValue {
  __device__ Value operator()(Value value) const { return value; }
};
template <class Value, class Number>
struct ValueOfNumber {
  bool ones;
  __device__ Value operator()(Number number) const {
    return from_number<Value>(ones ? Number{1} : number);
  }
};

template <class Value>
void KeptEntries::write(std::int64_t rows, const std::int64_t* row_ptr,
                        const std::uint32_t* col_idx, const Value* values, DeviceCsr<Value>& c) {
  write_rows(rows, row_ptr, col_idx, values, SameValue<Value>{}, c);
}
template <class Value, class Number>
void KeptEntries::write_numbers(std::int64_t rows, const std::int64_t* row_ptr,
                                const std::uint32_t* col_idx, const Number* numbers, bool ones,
                                DeviceCsr<Value>& c) {
  write_rows(rows, row_ptr, col_idx, numbers, ValueOfNumber<Value, Number>{ones}, c);
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

template KeptEntries::KeptEntries(const std::uint8_t*, std::int64_t, cudaStream_t);
template KeptEntries::KeptEntries(const std::uint32_t*, std::int64_t, cudaStream_t);

#define INSTANTIATE(Value)                                                                        \
  template void mark_kept(std::int64_t, const std::int64_t*, std::int64_t, const Value*,          \
                          const RowFilter&, std::uint8_t*, cudaStream_t);                         \
  template void KeptEntries::write(std::int64_t, const std::int64_t*, const std::uint32_t*,       \
                                   const Value*, DeviceCsr<Value>&);                              \
  template void KeptEntries::write_numbers(std::int64_t, const std::int64_t*,                     \
                                           const std::uint32_t*, const std::uint8_t*, bool,       \
                                           DeviceCsr<Value>&);                                    \
  template void KeptEntries::write_numbers(std::int64_t, const std::int64_t*,                     \
                                           const std::uint32_t*, const std::uint32_t*, bool,      \
                                           DeviceCsr<Value>&);                                    \
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
