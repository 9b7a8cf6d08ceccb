// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <bit>
#include <cstdint>

#include "core/cuda/check.hpp"
#include "primitives/cuda/launch.cuh"
#include "sortie/device_buffer.hpp"
#include "sortie/device_suffix_array.hpp"

/// A text as a string of numbers, whose suffixes compare as TextView says and are all different.
namespace sortie::suffix_array::cuda::dc3 {

using Words = DeviceBuffer<std::uint32_t>;

/// Zeros after a string, read by the triples at its end.
constexpr std::uint64_t padding = 3;

// Thread p marks the letter at position p.
struct MarkLetter {
  const std::uint8_t* symbols;
  std::uint32_t* occurs;

  __device__ void operator()(std::uint64_t p) const { occurs[symbols[p]] = 1; }
};

// Thread p numbers the letter at position p; separators are numbered afterwards.
struct NumberLetter {
  const std::uint8_t* symbols;
  const std::uint32_t* numbers;
  std::uint32_t* string;

  __device__ void operator()(std::uint64_t p) const { string[p] = numbers[symbols[p]]; }
};

struct NumberSeparator {
  const std::uint64_t* separators;
  std::uint32_t* string;

  __device__ void operator()(std::uint64_t i) const {
    string[separators[i]] = static_cast<std::uint32_t>(i) + 1;
  }
};

/// The text as a string of numbers, the last of which is its end.
struct NumberedText {
  Words string;
  std::uint32_t size = 0;
  int bits = 0;
};

inline NumberedText number_text(const DeviceText& text, cudaStream_t stream) {
  const std::uint64_t size = text.symbols.size();
  const std::uint64_t separators = text.separators.size();
  constexpr std::size_t letters = 256;
  Words numbers(letters, stream);
  check_cuda(cudaMemsetAsync(numbers.data(), 0, numbers.bytes(), stream));
  for_each_item<std::uint64_t>(size, MarkLetter{text.symbols.data(), numbers.data()}, stream);
  std::array<std::uint32_t, letters> on_host{};
  numbers.copy_to(on_host);
  check_cuda(cudaStreamSynchronize(stream));
  const auto end = static_cast<std::uint32_t>(separators + 1);
  std::uint32_t last = end;
  for (std::uint32_t& number : on_host) number = number != 0 ? ++last : 0;
  numbers.copy_from(on_host);

  NumberedText result{Words(size + 1 + padding, stream), static_cast<std::uint32_t>(size + 1),
                      static_cast<int>(std::bit_width(last))};
  std::uint32_t* string = result.string.data();
  for_each_item<std::uint64_t>(size, NumberLetter{text.symbols.data(), numbers.data(), string},
                               stream);
  for_each_item<std::uint64_t>(separators, NumberSeparator{text.separators.data(), string}, stream);
  const std::array<std::uint32_t, 1 + padding> tail = {end, 0, 0, 0};
  check_cuda(
      cudaMemcpyAsync(string + size, tail.data(), sizeof(tail), cudaMemcpyHostToDevice, stream));
  check_cuda(cudaStreamSynchronize(stream));  // the copies read this stack frame
  return result;
}

/// The suffix array of a text from that of its numbers. The end of the text sorts after the
/// separators; the result has no entry for it.
inline Words without_end(const Words& order, std::uint64_t separators, cudaStream_t stream) {
  const std::uint64_t size = order.size() - 1;
  Words positions(size, stream);
  check_cuda(cudaMemcpyAsync(positions.data(), order.data(), separators * sizeof(std::uint32_t),
                             cudaMemcpyDeviceToDevice, stream));
  check_cuda(cudaMemcpyAsync(positions.data() + separators, order.data() + separators + 1,
                             (size - separators) * sizeof(std::uint32_t), cudaMemcpyDeviceToDevice,
                             stream));
  return positions;
}

}  // namespace sortie::suffix_array::cuda::dc3
