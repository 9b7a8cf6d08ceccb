// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "segsort/cuda/array_decision.cuh"
#include "segsort/cuda/radix_passes.cuh"
#include "segsort/cuda/work_lists.cuh"

/// Sort of an array whose keys are spread over many magnitudes, as those of a density of 1/x: equal
/// ranges of keys would hold most items in the first. A pass as of a sort by digits divides the items
/// by octave_digit(), into quarters of octaves, in which keys are spread more evenly. Each that
/// exceeds a tile is then partitioned by ranges (partition.cuh).
namespace sortie::segsort::octaves {

/// The keys of quarters of octaves.
struct Quarter {
  std::uint64_t base;
  std::uint64_t span;

  __device__ explicit Quarter(std::uint32_t digit) {
    const std::uint32_t shift = digit < 8 ? 0 : digit / 4 - 1;
    base = std::uint64_t{digit < 8 ? digit : 4 + digit % 4} << shift;
    span = (std::uint64_t{1} << shift) - 1;
  }
};

/// Whether an array may be sorted by octaves: keys of 4 bytes take no longer by their digits.
template <class Word>
__host__ __device__ bool can_use_octaves(DigitUse use, const BitRangeCodec<Word>& codec) {
  return sizeof(Word) == 8 && (use == DigitUse::uneven || use == DigitUse::buckets) &&
         codec.ignored_bits == 0;
}

template <class Word>
struct OctaveKeys {
  static_assert(sizeof(Word) == 8);
  const BitRangeCodec<Word>& codec;

  __device__ __forceinline__ static std::uint32_t digit(Word word, int) {
    return radix::octave_digit(word);
  }
  __device__ __forceinline__ Word encode(Word key) const { return radix::word_of(codec, key); }
  __device__ __forceinline__ Word decode(Word word) const {
    return codec.plain ? word : codec.decode(word);
  }
  template <class Function>
  __device__ __forceinline__ void choose(const Function& function) const {
    function(*this);
  }
};

/// A portion of the pass: moves the items to the output.
template <class Word, int ValueBytes>
__global__ void __launch_bounds__(radix::radix_shape<Word, ValueBytes>.threads,
                                  radix::radix_shape<Word, ValueBytes>.resident_blocks)
    octave_pass_kernel(Arguments<Word> arguments, const ArrayDecision* decision,
                       radix::Passes* passes, radix::Status* statuses, radix::Portion portion) {
  wait_for_preceding_kernels();
  if (!decision->is_due(ArrayMethod::octaves)) return;
  radix::move_portion<radix::PassShared<Word, ValueBytes>>(
      arguments, statuses, radix::pass_of(arguments, passes, portion),
      OctaveKeys<Word>{arguments.codec}, radix::StartsOfPass{passes->starts[0]});
}

/// Lists the quarters, which are in the output, for the kernels of a sort by ranges. Items of one key
/// are in their places.
///
///   thread d  has digit d
///
/// \pre one block of `digits` threads; the last tile has replaced the starts by the ends
template <class Lists>
__global__ void __launch_bounds__(radix::digits)
    list_octaves_kernel(Lists lists, const ArrayDecision* decision, const radix::Passes* passes) {
  wait_for_preceding_kernels();
  if (!decision->is_due(ArrayMethod::octaves)) return;
  const std::uint32_t digit = threadIdx.x;
  // The last tile counts the words that fill it up among those of the last digit in use.
  const std::uint64_t all = passes->starts[0][radix::digits - 1];
  const std::uint64_t begin =
      digit == 0 ? 0 : min(std::uint64_t{passes->starts[0][digit - 1]}, all);
  const std::uint64_t length = min(std::uint64_t{passes->starts[0][digit]}, all) - begin;
  const Quarter keys(digit);
  if (length <= 1 || keys.span == 0) return;
  const Part part{begin, length, keys.base, keys.span, Buffer::output, 0};
  if (length > longest_single_block_partition) {
    lists.shared_parts[0][atomicAdd(&lists.counters->shared_parts[0], 1)].part = part;
  } else if (length > lists.longest()) {
    lists.parts[atomicAdd(&lists.counters->parts, 1)] = part;
  } else {
    lists.add_group(Group(begin, static_cast<std::uint32_t>(length), Buffer::output));
  }
}

}  // namespace sortie::segsort::octaves
