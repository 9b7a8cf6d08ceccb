#pragma once

#include <complex>
#include <cstdint>

namespace sortie::spgemm::cuda {

/// What travels with the sort key of a product: the product itself where it fits the 8 bytes that
/// the sorts move, else its number among the products of the chunk.
template <class Value>
struct Payload {
  using Type = Value;
  static constexpr bool is_number = false;
};

template <>
struct Payload<std::complex<double>> {
  using Type = std::uint32_t;
  static constexpr bool is_number = true;
};

template <class Value>
using PayloadType = typename Payload<Value>::Type;

/// How a sort key is made of the row (counted from the chunk's first one) and the column of a
/// product: the column alone, or (row << column_bits | column).
struct KeyLayout {
  int column_bits = 0;  ///< 0: the key is the column alone

  [[nodiscard]] constexpr bool holds_row() const { return column_bits != 0; }
};

}  // namespace sortie::spgemm::cuda
