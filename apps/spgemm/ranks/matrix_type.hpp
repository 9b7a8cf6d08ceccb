// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "sortie/csr.hpp"

/// What code for matrices with and without values asks of the type.
namespace sortie::cluster {

/// Whether a matrix type, Csr or Pattern, has values.
template <class Matrix>
inline constexpr bool has_values = requires(Matrix matrix) {
  matrix.values;
};

/// Bytes of an entry.
template <class Matrix>
inline constexpr std::size_t entry_bytes = sizeof(typename Matrix::index_type);
template <matrices::Scalar Value, matrices::Index Idx>
inline constexpr std::size_t entry_bytes<matrices::Csr<Value, Idx>> = sizeof(Idx) + sizeof(Value);

}  // namespace sortie::cluster

/// Calls `INSTANTIATE(Value, Idx)` for every type with values, and `INSTANTIATE_PATTERN(Idx)`.
#define SORTIE_RANKS_FOR_EACH_TYPE(INSTANTIATE, INSTANTIATE_PATTERN) \
  INSTANTIATE(float, std::int32_t)                                   \
  INSTANTIATE(float, std::int64_t)                                   \
  INSTANTIATE(double, std::int32_t)                                  \
  INSTANTIATE(double, std::int64_t)                                  \
  INSTANTIATE(std::complex<double>, std::int32_t)                    \
  INSTANTIATE(std::complex<double>, std::int64_t)                    \
  INSTANTIATE_PATTERN(std::int32_t)                                  \
  INSTANTIATE_PATTERN(std::int64_t)
