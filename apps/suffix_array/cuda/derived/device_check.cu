// SPDX-License-Identifier: Apache-2.0

// The check of a suffix array in device memory: its inverse, then every entry against the previous
// one. Burkhardt, Karkkainen (CPM 2003), section 8.

#include <algorithm>
#include <string>

#include "apps/suffix_array/cuda/sizes.hpp"
#include "apps/suffix_array/cuda/text/pack.hpp"
#include "apps/suffix_array/cuda/text/text_chunk.cuh"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_suffix_array.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

/// Records the lowest wrong entry.
__device__ void report_fault(unsigned long long* first_fault, std::uint64_t slot) {
  atomicMin(first_fault, static_cast<unsigned long long>(slot));
}

/// Compares each entry with the previous one. \pre all positions are in the text
template <class Index>
struct CompareNeighbours {
  TextReader text;
  std::uint64_t separators;
  const Index* suffixes;
  const Index* slots;
  unsigned long long* first_fault;

  /// The first symbol as a number: ends of records sort before letters.
  __device__ int first_symbol(std::uint64_t position) const {
    return text.is_letter(position) ? 1 + text.symbols[position] : 0;
  }
  /// The rank of a suffix; that of the bare end of the text lies after all separators, which hold
  /// the first slots.
  __device__ std::uint64_t rank(std::uint64_t position) const {
    return position == text.size ? 2 * separators : 2 * std::uint64_t{slots[position]} + 1;
  }
  __device__ bool in_order(std::uint64_t left, std::uint64_t right) const {
    const int left_symbol = first_symbol(left);
    const int right_symbol = first_symbol(right);
    if (left_symbol != right_symbol) return left_symbol < right_symbol;
    if (left_symbol == 0) return left < right;
    return rank(left + 1) < rank(right + 1);
  }

  __device__ void operator()(Index slot) const {
    const Index position = suffixes[slot];
    // If a position occurs twice, its inverse is only one of its slots.
    const bool once = slots[position] == slot;
    if (!once || (slot > 0 && !in_order(suffixes[slot - 1], position))) {
      report_fault(first_fault, slot);
    }
  }
};

void require_no_fault(const DeviceBuffer<unsigned long long>& first_fault, std::uint64_t size) {
  unsigned long long fault = 0;
  first_fault.copy_to({&fault, 1});
  check_cuda(cudaStreamSynchronize(first_fault.stream()));
  if (fault >= size) return;
  throw Error(ErrorKind::check, "suffix array, entry " + std::to_string(fault) +
                                    ": found a position that is outside the text, occurs twice, "
                                    "or whose suffix is less than the previous one");
}

}  // namespace

template <Position Index>
void check_on_device(const Context& context, const DeviceText& text,
                     std::span<const Index> suffixes, CUstream_st* stream) {
  const DeviceCall call(context, stream);
  const std::uint64_t size = text.symbols.size();
  if (suffixes.size() != size) {
    throw Error(ErrorKind::check, "suffix array: found " + std::to_string(suffixes.size()) +
                                      " entries, expected " + std::to_string(size));
  }
  if (size == 0) return;
  require(call, "the check of a suffix array", size * sizeof(Index) + size / 8);

  const DeviceBuffer<std::uint32_t> separator_bits = mark_separators(text, stream);
  DeviceBuffer<Index> slots(size, stream);
  DeviceBuffer<unsigned long long> first_fault(1, stream);
  check_cuda(cudaMemsetAsync(first_fault.data(), 0xff, first_fault.bytes(), stream));
  for_each_item<Index>(
      size,
      [suffixes = suffixes.data(), size, slots = slots.data(),
       fault = first_fault.data()] __device__(Index slot) {
        const Index position = suffixes[slot];
        if (position < size) {
          slots[position] = slot;
        } else {
          report_fault(fault, slot);
        }
      },
      stream);
  require_no_fault(first_fault, size);
  // The slots of positions that do not occur stay uninitialised. The check fails whatever they
  // contain, because another position then occurs twice.
  for_each_item<Index>(size,
                       CompareNeighbours<Index>{{text.symbols.data(), separator_bits.data(), size},
                                                text.separators.size(),
                                                suffixes.data(),
                                                slots.data(),
                                                first_fault.data()},
                       stream);
  require_no_fault(first_fault, size);
}

SORTIE_INSTANTIATE_FOR_POSITIONS(check_on_device);

}  // namespace sortie::suffix_array::cuda
