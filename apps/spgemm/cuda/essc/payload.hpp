// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>

namespace sortie::spgemm::cuda {

/// Payload of the sort: the product itself if it fits the 8 bytes that the sorts move, otherwise
/// its index among the products of the chunk.
template <class Value>
struct Payload {
  using Type = Value;
  static constexpr bool is_index = false;
};

template <>
struct Payload<std::complex<double>> {
  using Type = std::uint32_t;
  static constexpr bool is_index = true;
};

template <class Value>
using PayloadType = typename Payload<Value>::Type;

/// Layout of a sort key: the column of a product alone, or (row << column_bits | column) with the
/// row relative to the first row of the chunk.
struct KeyLayout {
  int column_bits = 0;  ///< 0: the key is the column alone

  [[nodiscard]] constexpr bool holds_row() const { return column_bits != 0; }
};

}  // namespace sortie::spgemm::cuda

/// Calls INSTANTIATE(Value, Column, Key) for every type of products and their sort keys.
#define SORTIE_FOR_EACH_SORTED_PRODUCT(INSTANTIATE)               \
  INSTANTIATE(float, std::uint32_t, std::uint32_t)                \
  INSTANTIATE(float, std::uint32_t, std::uint64_t)                \
  INSTANTIATE(float, std::uint64_t, std::uint64_t)                \
  INSTANTIATE(double, std::uint32_t, std::uint32_t)               \
  INSTANTIATE(double, std::uint32_t, std::uint64_t)               \
  INSTANTIATE(double, std::uint64_t, std::uint64_t)               \
  INSTANTIATE(std::complex<double>, std::uint32_t, std::uint32_t) \
  INSTANTIATE(std::complex<double>, std::uint32_t, std::uint64_t) \
  INSTANTIATE(std::complex<double>, std::uint64_t, std::uint64_t)
