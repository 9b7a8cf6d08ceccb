// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "bindings/c/context.hpp"
#include "bindings/c/types.hpp"
#include "sortie/csr.hpp"
#include "sortie/sortie.h"

/// A matrix that the library owns, in host or device memory.
struct sortie_csr {
  sortie_csr() = default;
  sortie_csr(const sortie_csr&) = delete;
  sortie_csr& operator=(const sortie_csr&) = delete;
  virtual ~sortie_csr() = default;

  [[nodiscard]] virtual sortie_csr_view view() const = 0;
  /// Copies the arrays, with indices of the given sizes, which they fit. Null arrays are left out.
  virtual void copy(CUstream_st* stream, std::size_t row_ptr_bytes, void* row_ptr,
                    std::size_t col_idx_bytes, void* col_idx, void* values) const = 0;
};

/// A product for new values.
struct sortie_plan {
  sortie_plan() = default;
  sortie_plan(const sortie_plan&) = delete;
  sortie_plan& operator=(const sortie_plan&) = delete;
  virtual ~sortie_plan() = default;

  std::int64_t a_nnz = 0;
  std::int64_t b_nnz = 0;

  [[nodiscard]] virtual sortie_csr_view view() const = 0;
  virtual void multiply(const sortie::Context& context, const void* a_values, const void* b_values,
                        void* c_values) = 0;
};

/// Sparse matrices of the C interface.
namespace sortie::c {

/// A matrix of host memory.
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] std::unique_ptr<sortie_csr> to_matrix(matrices::Csr<Value, Idx> matrix);

/// A copy of the caller's matrix in host memory, checked, with ascending columns in every row:
/// duplicates are added up.
/// \param name  of the argument, for errors
/// \throws Error (input) offsets that do not ascend from 0 to nnz, or a column out of range
template <matrices::Scalar Value, matrices::Index Idx>
[[nodiscard]] matrices::Csr<Value, Idx> to_csr(std::string_view name, const sortie_csr_view& view);

/// \throws Error (usage) null pointers, negative sizes, types that are not those of a matrix
void check_view(std::string_view name, const sortie_csr_view* view);
/// \throws Error (usage) operands of different types or memory, (input) shapes that do not conform
void check_operands(const sortie_csr_view* a, const sortie_csr_view* b);

/// On the context's device, in the order of `stream`. \throws Error (unavailable) without CUDA
[[nodiscard]] std::unique_ptr<sortie_csr> multiply_on_device(const Context& context,
                                                             const sortie_csr_view& a,
                                                             const sortie_csr_view& b,
                                                             CUstream_st* stream);
[[nodiscard]] std::unique_ptr<sortie_plan> plan_on_device(const Context& context,
                                                          const sortie_csr_view& a,
                                                          const sortie_csr_view& b,
                                                          CUstream_st* stream);

}  // namespace sortie::c
