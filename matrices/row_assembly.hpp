// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <span>

#include "core/host_memory.hpp"
#include "sortie/csr.hpp"
#include "sortie/matrix_market.hpp"

/// Internal to matrices: conversion of an entry list to compressed rows.
namespace sortie::matrices::detail {

/// The half-open range begin .. end of an entry list.
struct EntryRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Entries in file order. Slots outside all ranges are unused.
template <Scalar Value, Index Idx>
struct EntryList {
  const Idx* rows = nullptr;
  const Idx* cols = nullptr;
  const Value* values = nullptr;       ///< null: every value is 1
  std::span<const EntryRange> ranges;  ///< ascending; at least one for each requested part
};

/// Value of the mirror image of an entry.
template <Scalar Value>
[[nodiscard]] Value mirrored(Value value, Symmetry symmetry) {
  if (symmetry == Symmetry::skew_symmetric) return -value;
  if constexpr (std::is_same_v<Value, std::complex<double>>) {
    if (symmetry == Symmetry::hermitian) return std::conj(value);
  }
  return value;
}

/// Converts an entry list to compressed rows: a stable counting sort by row, then a stable sort by
/// column of every row that is not in order, then a sum of duplicates in list order.
///
/// Workspace in addition to the list and the result:
///
///   | name       | elements                       | type         | lifetime                      |
///   |------------|--------------------------------|--------------|-------------------------------|
///   | positions  | parts * rows                   | int64        | counting and scattering       |
///   | scratch    | nnz, touched for unsorted rows | (Idx, Value) | sorting, if a row is unsorted |
///   | compressed | nnz without duplicates         | Idx, Value   | summing, if duplicates exist  |
///
/// \param symmetry  if not general, an entry off the diagonal also yields its mirror image
/// \param parts     number of parts, and tasks, of the counting sort. Fewer parts are used if the
///                  positions would take more memory than the entries. The result does not depend
///                  on it.
/// \param budget    bytes that the workspace and the result may take
/// \throws Error (out_of_memory)
/// \pre indices are inside the matrix
/// Complexity: O(entries + rows) plus O(n log n) for every unsorted row of n entries.
template <Scalar Value, Index Idx>
[[nodiscard]] Csr<Value, Idx> assemble_rows(std::int64_t rows, std::int64_t cols,
                                            const EntryList<Value, Idx>& entries, Symmetry symmetry,
                                            int parts, const HostMemoryBudget& budget = {});

/// Divides [0, count) into `parts` ranges of nearly equal size.
[[nodiscard]] std::vector<EntryRange> even_ranges(std::int64_t count, int parts);

}  // namespace sortie::matrices::detail

/// Expands MACRO(Value, Idx) for every pair of value and index type for which
/// the templates are instantiated.
#define SORTIE_MATRICES_FOR_EACH_TYPE(MACRO) \
  MACRO(float, std::int32_t)                 \
  MACRO(float, std::int64_t)                 \
  MACRO(double, std::int32_t)                \
  MACRO(double, std::int64_t)                \
  MACRO(std::complex<double>, std::int32_t)  \
  MACRO(std::complex<double>, std::int64_t)
/// The same of the other types of values, which are only written.
#define SORTIE_MATRICES_FOR_EACH_OTHER_ELEMENT(MACRO) \
  MACRO(std::uint8_t, std::int32_t)                   \
  MACRO(std::uint8_t, std::int64_t)                   \
  MACRO(std::int32_t, std::int32_t)                   \
  MACRO(std::int32_t, std::int64_t)                   \
  MACRO(std::int64_t, std::int32_t)                   \
  MACRO(std::int64_t, std::int64_t)                   \
  MACRO(std::complex<float>, std::int32_t)            \
  MACRO(std::complex<float>, std::int64_t)
