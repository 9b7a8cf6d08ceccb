// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cstddef>

#include "primitives/cuda/hardware.cuh"
#include "primitives/cuda/warp.cuh"
#include "segsort/cuda/arguments.cuh"
#include "segsort/cuda/array_decision.cuh"
#include "segsort/cuda/radix_digits.cuh"

/// Counts of the digits of all keys of an array, and which passes over digits are necessary.
namespace sortie::segsort::radix {

/// Statuses have so many bits for a number of items, and 5 for a code: a table serves
/// portions_of_table portions before it must be cleared.
inline constexpr int status_code_shift = 27;
inline constexpr std::uint32_t portions_of_table = 15;
inline constexpr unsigned int count_threads = 512;
inline constexpr int count_items = 8;

/// In temporary storage; all 0 at the begin of a sort.
struct Passes {
  std::uint32_t order[most_passes];  ///< which of the counted digits each pass sorts by
  std::uint32_t count;               ///< of passes
  std::uint32_t blocks_done;
  /// Of each portion of each pass, the first tile that no block has taken. Cleared with the table
  /// of statuses.
  std::uint32_t next_tile[portions_of_table];
  /// Number, later first position of each digit: a row for each counted digit, the lowest first; see
  /// StartsOfPass. Rows that are not needed have no storage.
  alignas(8) std::uint32_t starts[2 * most_passes * digits];
};

/// Whether first positions need more than 32 bits.
__host__ __device__ constexpr bool has_wide_starts(std::uint64_t items) {
  return items >> 32 != 0;
}
/// Bytes of `Passes` with so many rows, for an array.
constexpr std::uint64_t passes_bytes(int rows, std::uint64_t items) {
  return offsetof(Passes, starts) +
         static_cast<std::uint64_t>(rows) * digits * (has_wide_starts(items) ? 8 : 4);
}

/// Where the items of each digit begin in the output of a pass. The last tile of a portion replaces
/// them by those of the next one.
class StartsOfPass {
 public:
  __device__ StartsOfPass(Passes* passes, unsigned int row, bool is_wide)
      : starts_(passes->starts + row * digits * (is_wide ? 2 : 1)), is_wide_(is_wide) {}

  [[nodiscard]] __device__ std::uint64_t load(unsigned int digit) const {
    return is_wide_ ? wide()[digit] : starts_[digit];
  }
  __device__ void store(unsigned int digit, std::uint64_t next) const {
    if (is_wide_) {
      wide()[digit] = next;
    } else {
      starts_[digit] = static_cast<std::uint32_t>(next);
    }
  }
  __device__ void add(unsigned int digit, unsigned int count) const {
    if (is_wide_) {
      atomicAdd(&wide()[digit], static_cast<unsigned long long>(count));
    } else {
      atomicAdd(&starts_[digit], count);
    }
  }

 private:
  [[nodiscard]] __device__ unsigned long long* wide() const {
    return reinterpret_cast<unsigned long long*>(starts_);
  }

  std::uint32_t* starts_;
  bool is_wide_;
};

/// What a tile has published of a digit: the number of its items in it, or in all tiles of the
/// portion up to it, below a code that tells which, and of which portion. Earlier ones have lower
/// codes.
using Status = std::uint32_t;
static_assert(2 * portions_of_table < 1u << (32 - status_code_shift));
/// Sorts that move more items at once have statuses of 64 bits.
template <class AnyStatus>
inline constexpr int code_shift_of = sizeof(AnyStatus) == sizeof(Status) ? status_code_shift : 56;

/// Whether `passes` passes would not end in the output. Of DoubleBuffers, the input is also the output or
/// the scratch buffer, and the first pass must write to the other buffer.
template <class Word>
__device__ __forceinline__ bool has_wrong_parity(const Arguments<Word>& arguments,
                                                 std::uint32_t passes) {
  return (arguments.keys_in == arguments.keys_out && passes % 2 != 0) ||
         (arguments.keys_in == arguments.keys_scratch && passes % 2 == 0);
}

/// Counts the digits [first_pass, used_passes) of the keys in tiles of Threads * count_items, a grid
/// apart; thread t holds keys r Threads + t of a tile. Called by a block; ends with a barrier.
/// \param by_magnitudes  counts the digits of magnitudes, in place of the two last ones
/// \param counts  in shared memory, two copies of counters of each digit of each pass, for even and
///                odd lanes
/// \param examine  called with the keys of each tile and the place of the first
template <unsigned int Threads, class Word, class Examine>
__device__ __forceinline__ void count_digits_of_tiles(const Arguments<Word>& arguments,
                                                      unsigned int* counts, int first_pass,
                                                      int used_passes, bool by_magnitudes,
                                                      std::uint64_t length,
                                                      const Examine& examine) {
  constexpr unsigned int counters = all_passes<Word> * digits;
  const unsigned int thread = threadIdx.x;
  for (unsigned int i = thread; i < 2 * counters; i += Threads) counts[i] = 0;
  __syncthreads();
  const BitRangeCodec<Word> codec = arguments.codec;
  unsigned int* const own = counts + thread % 2 * counters;
  constexpr int bits = static_cast<int>(sizeof(Word)) * 8;
  const bool counts_all = codec.plain && first_pass == 0;
  const auto count = [&](Word key) {
    if constexpr (sizeof(Word) >= 4) {
      if (by_magnitudes) {
        const std::uint32_t whole = magnitude(word_of(codec, key));
        atomicAdd(&own[(all_passes<Word> - 2) * digits + whole % digits], 1);
        atomicAdd(&own[(all_passes<Word> - 1) * digits + whole / digits], 1);
        return;
      }
    }
    if (counts_all) {
#pragma unroll
      for (int p = 0; p < all_passes<Word>; ++p)
        atomicAdd(
            &own[p * digits + static_cast<unsigned int>(key >> p * digit_bits & (digits - 1))], 1);
      return;
    }
    auto word = static_cast<Word>(word_of(codec, key) >> (codec.ignored_bits & (bits - 1)));
#pragma unroll
    for (int p = 0; p < all_passes<Word>; ++p) {
      if (p >= first_pass && p < used_passes)
        atomicAdd(&own[p * digits + static_cast<unsigned int>(word & (digits - 1))], 1);
      word = static_cast<Word>(std::uint64_t{word} >> digit_bits);
    }
  };
  constexpr std::uint64_t tile = Threads * count_items;
  for (std::uint64_t begin = blockIdx.x * tile; begin < length; begin += gridDim.x * tile) {
    Word keys[count_items];
#pragma unroll
    for (int r = 0; r < count_items; ++r)
      keys[r] = arguments.keys_in[min(begin + r * Threads + thread, length - 1)];
    examine(keys, begin + thread);
#pragma unroll
    for (int r = 0; r < count_items; ++r)
      if (begin + r * Threads + thread < length) count(keys[r]);
  }
  __syncthreads();
}

/// Of narrow keys, the first segment may be sorted in place of a whole array: moves the arrays to its
/// items, and shortens a range of `length` items from `begin` on to those that the segment has. Does
/// nothing without offsets, and for longer keys.
template <class Word>
__device__ __forceinline__ void restrict_to_segment(Arguments<Word>& arguments, std::uint64_t begin,
                                                    std::uint64_t& length) {
  if constexpr (sizeof(Word) < 4) {
    if (arguments.begin_offsets.data == nullptr) return;
    const SegmentExtent segment =
        arguments.segments() == 0 ? SegmentExtent{0, 0} : arguments.offsets(0).extent();
    length = segment.length > begin ? min(length, segment.length - begin) : 0;
    arguments.keys_in += segment.begin;
    arguments.keys_out += segment.begin;
    const auto value_bytes = static_cast<std::uint64_t>(arguments.value_bytes);
    arguments.values_in =
        static_cast<const char*>(arguments.values_in) + segment.begin * value_bytes;
    arguments.values_out = static_cast<char*>(arguments.values_out) + segment.begin * value_bytes;
  }
}

/// Clears the table of statuses, and the numbers of tiles that have been taken, for further portions.
template <class Word>
__global__ void __launch_bounds__(count_threads)
    clear_statuses_kernel(const ArrayDecision* decision, ArrayMethod method, Passes* passes,
                          Status* statuses, std::uint64_t words) {
  wait_for_preceding_kernels();
  if (decision != nullptr && !decision->takes_kernels_of(method)) return;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * count_threads + threadIdx.x;
  for (std::uint64_t i = first; i < words; i += std::uint64_t{gridDim.x} * count_threads)
    statuses[i] = 0;
  if (first < portions_of_table) passes->next_tile[first] = 0;
}

/// Counts all digits of all keys that `method` sorts by, clears the table of statuses, and decides,
/// in the block that ends last, which passes are necessary.
/// \param decision  of this and the next kernels, whether there is anything to do; null: there is
/// \param list_counters  cleared for a sort by all digits, whose statuses take the place of lists
template <class Word>
__global__ void __launch_bounds__(count_threads)
    count_digits_kernel(Arguments<Word> arguments, const ArrayDecision* decision,
                        ArrayMethod method, Passes* passes, Status* statuses, std::uint64_t words,
                        std::uint32_t* list_counters, unsigned int list_counter_words,
                        std::uint64_t length) {
  constexpr unsigned int counters = all_passes<Word> * digits;
  __shared__ unsigned int counts[2 * counters];
  __shared__ std::uint64_t sums[count_threads / 32];
  __shared__ bool is_last;
  wait_for_preceding_kernels();
  if (decision != nullptr && !decision->takes_kernels_of(method)) return;
  const bool by_magnitudes = method == ArrayMethod::buckets && decision != nullptr &&
                             decision->is_due(ArrayMethod::magnitudes);
  const unsigned int thread = threadIdx.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * count_threads + thread; i < words;
       i += std::uint64_t{gridDim.x} * count_threads)
    statuses[i] = 0;
  if (blockIdx.x == 0 && method == ArrayMethod::digits)
    for (unsigned int i = thread; i < list_counter_words; i += count_threads) list_counters[i] = 0;
  const bool is_wide = has_wide_starts(length);
  restrict_to_segment(arguments, 0, length);
  const int used_passes = passes_of(arguments.codec);
  const int first_pass = method == ArrayMethod::buckets ? used_passes - bucket_passes : 0;
  count_digits_of_tiles<count_threads>(arguments, counts, first_pass, used_passes, by_magnitudes,
                                       length, [](const auto&, std::uint64_t) {});
  const auto counted = static_cast<unsigned int>(used_passes - first_pass);
  for (unsigned int i = thread; i < counted * digits; i += count_threads) {
    const unsigned int* const count = counts + static_cast<unsigned int>(first_pass) * digits + i;
    const unsigned int sum = count[0] + count[counters];
    if (sum != 0) StartsOfPass(passes, i / digits, is_wide).add(i % digits, sum);
  }
  __threadfence();
  __syncthreads();
  if (thread == 0) is_last = atomicAdd(&passes->blocks_done, 1) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  std::uint32_t necessary = 0;
  std::uint32_t others = 0;  // bit p: pass p is not necessary
  for (unsigned int p = 0; p < counted; ++p) {
    const StartsOfPass starts(passes, p, is_wide);
    const std::uint64_t amount = thread < digits ? starts.load(thread) : 0;
    const bool agrees = __syncthreads_or(amount == length ? 1 : 0) != 0;
    const std::uint64_t before = prefix_sum_in_block<count_threads / 32>(amount, sums).before;
    if (thread < digits) starts.store(thread, before);
    if (!agrees && thread == 0) passes->order[necessary] = p;
    if (!agrees) ++necessary;
    if (agrees) others |= 1u << p;
  }
  if (thread != 0) return;
  // Without a pass nothing would be written; the order of equal words is kept by any.
  for (; others != 0 && (necessary == 0 || has_wrong_parity(arguments, necessary));
       others &= others - 1)
    passes->order[necessary++] = static_cast<std::uint32_t>(first_lane(others));
  passes->count = max(necessary, 1u);
}

}  // namespace sortie::segsort::radix
