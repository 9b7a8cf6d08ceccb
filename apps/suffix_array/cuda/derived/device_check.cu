// SPDX-License-Identifier: Apache-2.0

// The check of a suffix array in device memory: its inverse, then every entry against the previous
// one. Burkhardt, Karkkainen (CPM 2003), section 8.

#include <algorithm>
#include <string>

#include "apps/suffix_array/cuda/sizes.hpp"
#include "apps/suffix_array/cuda/text/pack.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_suffix_array.hpp"
#include "sortie/error.hpp"

namespace sortie::suffix_array::cuda {
namespace {

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

  const MarkedText marked = mark_separators(text, stream);
  DeviceBuffer<Index> slots(size, stream);
  DeviceBuffer<unsigned long long> first_fault(1, stream);  // the lowest wrong entry
  check_cuda(cudaMemsetAsync(first_fault.data(), 0xff, first_fault.bytes(), stream));
  const auto invert = [suffixes = suffixes.data(), size, slots = slots.data(),
                       fault = first_fault.data()] __device__(Index slot) {
    const Index position = suffixes[slot];
    if (position < size) {
      slots[position] = slot;
    } else {
      atomicMin(fault, static_cast<unsigned long long>(slot));
    }
  };
  for_each_item<Index>(size, invert, stream);
  require_no_fault(first_fault, size);
  // Compares each entry with the previous one: all positions are in the text now.
  // The slots of positions that do not occur stay uninitialised. The check fails whatever they
  // contain, because another position then occurs twice.
  const auto compare_neighbours = [text = static_cast<const TextReader&>(marked),
                                   separators = text.separators.size(), suffixes = suffixes.data(),
                                   slots = slots.data(),
                                   fault = first_fault.data()] __device__(Index slot) {
    // The first symbol as a number: ends of records sort before letters.
    const auto first_symbol = [&](std::uint64_t position) {
      return text.is_letter(position) ? 1 + text.symbols[position] : 0;
    };
    // The rank of the bare end of the text lies after all separators, which hold the first slots.
    const auto rank = [&](std::uint64_t position) {
      return position == text.size ? 2 * separators : 2 * std::uint64_t{slots[position]} + 1;
    };
    const auto in_order = [&](std::uint64_t left, std::uint64_t right) {
      const int left_symbol = first_symbol(left);
      const int right_symbol = first_symbol(right);
      if (left_symbol != right_symbol) return left_symbol < right_symbol;
      return left_symbol == 0 ? left < right : rank(left + 1) < rank(right + 1);
    };
    const Index position = suffixes[slot];
    // If a position occurs twice, its inverse is only one of its slots.
    const bool once = slots[position] == slot;
    if (!once || (slot > 0 && !in_order(suffixes[slot - 1], position))) {
      atomicMin(fault, static_cast<unsigned long long>(slot));
    }
  };
  for_each_item<Index>(size, compare_neighbours, stream);
  require_no_fault(first_fault, size);
}

SORTIE_INSTANTIATE_FOR_POSITIONS(check_on_device);

}  // namespace sortie::suffix_array::cuda
