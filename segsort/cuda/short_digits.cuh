// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cooperative_groups.h>

#include <cstdint>

#include "segsort/cuda/radix_passes.cuh"

/// Sort of one short array by the digits of its keys in one kernel, whose blocks take all passes,
/// with grid barriers between them. Below some million items, the launches of a kernel for each pass
/// would take longer than the passes.
namespace sortie::segsort::radix {

/// Shape of a block. Tiles are at least as large as those of cub::DeviceRadixSort, so that the table
/// of statuses takes at most as much storage.
template <class Word, int ValueBytes>
inline constexpr PartitionShape short_shape =
    sizeof(Word) == 1   ? PartitionShape{512, ValueBytes == 8 ? 12 : 14, 2}
    : sizeof(Word) == 2 ? PartitionShape{512, ValueBytes == 0 ? 20 : 12, 2}
    : sizeof(Word) == 4 ? PartitionShape{512,
                                         ValueBytes == 0   ? 15
                                         : ValueBytes == 4 ? 13
                                                           : 11,
                                         2}
                        : PartitionShape{512, ValueBytes == 8 ? 9 : 12, 2};

/// In temporary storage. The kernel clears it.
template <class Word>
struct ShortPasses {
  std::uint32_t counts[all_passes<Word>][digits];  ///< of the items of each digit
  std::uint32_t next_tile[all_passes<Word>];
};

/// Statuses of a table of all digits of all tiles.
template <class Word, int ValueBytes>
constexpr std::uint64_t short_status_words(std::uint64_t items) {
  return ((items - 1) / short_shape<Word, ValueBytes>.tile() + 1) * digits;
}

/// The first position of the items of the thread's digit.
struct StartOfThread {
  std::uint32_t start;

  [[nodiscard]] __device__ std::uint64_t load(int) const { return start; }
  __device__ void store(int, std::uint64_t) const {}
};

/// Sorts an array of less than 2^27 items. The blocks clear the tables, count all digits, and take
/// one pass after the other; digits in which all keys agree take none.
///
///   global memory   counts of all digits; statuses as in a pass of radix_passes.cuh
///   shared memory   the counters, then PassShared
///   thread d        knows the number of items of digit d, and computes where they begin
///
/// \param decision  whether there is anything to do; null: there is
/// \tparam IsPlain  the keys need no encoding
template <class Word, int ValueBytes, bool IsPlain>
__global__ void __launch_bounds__(short_shape<Word, ValueBytes>.threads,
                                  short_shape<Word, ValueBytes>.resident_blocks)
    short_digits_kernel(Arguments<Word> arguments, const ArrayDecision* decision,
                        ShortPasses<Word>* passes, Status* statuses, std::uint32_t words,
                        std::uint32_t length) {
  using Shared = PassShared<Word, ValueBytes, short_shape<Word, ValueBytes>>;
  static_assert(2 * all_passes<Word> * digits * 4 <= sizeof(Shared::area));
  constexpr unsigned int threads = Shared::threads;
  if (decision != nullptr && !decision->is_due(ArrayMethod::digits)) return;
  Shared& shared = *reinterpret_cast<Shared*>(dynamic_shared_memory());
  const auto grid = cooperative_groups::this_grid();
  const unsigned int thread = threadIdx.x;
  const unsigned int first = blockIdx.x * threads + thread;
  const unsigned int all_threads = gridDim.x * threads;
  for (unsigned int i = first; i < sizeof(ShortPasses<Word>) / 4; i += all_threads)
    reinterpret_cast<std::uint32_t*>(passes)[i] = 0;
  for (unsigned int i = first; i < words; i += all_threads) statuses[i] = 0;
  grid.sync();

  const int used_passes = passes_of(arguments.codec);
  auto* const counts = reinterpret_cast<unsigned int*>(shared.area);
  count_digits_of_tiles<threads>(arguments, counts, 0, used_passes, false, length);
  constexpr unsigned int counters = all_passes<Word> * digits;
  for (unsigned int i = thread; i < counters; i += threads) {
    const unsigned int sum = counts[i] + counts[counters + i];
    if (sum != 0) atomicAdd(&passes->counts[i / digits][i % digits], sum);
  }
  grid.sync();

  // Bit p: pass p is necessary.
  unsigned int necessary = 0;
  for (int p = 0; p < used_passes; ++p) {
    const bool agrees =
        __syncthreads_or(thread < digits && passes->counts[p][thread] == length ? 1 : 0) != 0;
    if (!agrees) necessary |= 1u << p;
  }
  // Without a pass nothing would be written; the order of equal words is kept by any.
  if (necessary == 0) necessary = 1;
  const auto count = static_cast<std::uint32_t>(lanes_of(necessary));
  std::uint32_t number = 0;
  for (int p = 0; p < used_passes; ++p) {
    if ((necessary >> p & 1) == 0) continue;
    const std::uint32_t amount = thread < digits ? passes->counts[p][thread] : 0;
    const StartOfThread start{prefix_sum_in_block<Shared::warps>(amount, shared.warp_sums).before};
    const bool to_output = (count - number) % 2 == 1;
    const PortionPass pass{{static_cast<std::uint32_t>(p), number, 0, length},
                           arguments.codec.ignored_bits + digit_bits * p,
                           number == 0 ? Buffer::input
                           : to_output ? Buffer::scratch
                                       : Buffer::output,
                           to_output,
                           &passes->next_tile[p]};
    if constexpr (IsPlain) {
      move_portion<Shared>(arguments, statuses, pass, PlainKeys<Word>{}, start);
    } else {
      move_portion<Shared>(arguments, statuses, pass, EncodedKeys<Word>(arguments.codec), start);
    }
    if (++number < count) grid.sync();
  }
}

}  // namespace sortie::segsort::radix
