// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "sortie/context.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_csr.hpp"
#include "sortie/export.hpp"

namespace sortie::spgemm::cuda {

/// C = A * B for operands whose values change while their structure stays the same, as in a time
/// loop or in Newton's method. The constructor computes the structure of C; multiply() computes
/// values and may be called any number of times: it does not count entries, does not allocate, and the
/// host does not wait. How it computes them is chosen by the structure:
///
/// * by the second half of Algorithm::pattern, if A and B repeat patterns as device_spgemm.hpp has it,
///   there are 4 M products, and no row is too long for it;
/// * otherwise by lists of the products of each entry of C, which are made if they fit the memory
///   budget and entries have at most 12 products on average;
/// * rows without lists, such as those with entries of thousands of products, by the second half of
///   Algorithm::fused. If C has too many columns for it, all rows have lists, or values are computed
///   as by multiply_values_on_device() (device_semiring_spgemm.hpp), which allocates.
///
/// Every entry is the sum of its products in an order that depends on the structure only. With lists
/// and patterns it is the order of A's entries; by the algorithms' second halves, values are bitwise
/// equal to those of multiply_on_device() with that algorithm.
///
///     SpgemmPlan<double> plan(context, view(a), view(b), stream);
///     DeviceBuffer<double> c_values(plan.nnz(), stream);
///     while (...) plan.multiply(a_values, b_values, c_values.data());
///
/// For float, double and std::complex<double>. All work is ordered on the stream given to the
/// constructor. Every call, including the destructor, makes the context's device current while it
/// runs. Not thread-safe: one host thread at a time.
///
/// Device memory (rows: rows of A, n: products, V: bytes per value; C is never computed in chunks):
///
/// | array                               | bytes                     | lifetime     |
/// |-------------------------------------|---------------------------|--------------|
/// | row_ptr and col_idx of C            | 8 rows, 4 nnz(C)          | plan         |
/// | pattern: classes, tiles of rows     | 7 rows                    | plan         |
/// | lists of products (optional)        | 2 n to 3.5 n              | plan         |
/// | fused: rows by bin                  | 4 rows                    | plan         |
/// | column panels, tasks of large rows  | < n, of rows without list | plan         |
/// | bitmaps of large rows               | <= 2 n, less if less fits | plan         |
/// | products of rows, staging slots     | 12 rows                   | construction |
/// | lists: tiles                        | 32 rows, 16 per entry of C in rows of more than 3000 products | construction |
/// | buffer for bitmaps                  | <= 2 n                    | construction |
/// | values of C                         | V nnz(C)                  | construction |
template <class Value>
class SORTIE_API SpgemmPlan {
 public:
  using Column = std::uint32_t;

  /// Computes the structure of C. The columns result from a first product, which reads the values
  /// of A and B; no values are kept. The host waits for the number of products and for the number
  /// of entries of C.
  ///
  /// The plan keeps the pointers to row_ptr and col_idx of `a` and `b`. Those arrays, and a
  /// BorrowedCsr that owns them, must stay valid and unchanged as long as the plan is used. The
  /// stream, and the context's report if there is one, must outlive the plan.
  ///
  /// \param context  device, memory budget, report; phases "analysis", "counting", "making", "lists"
  /// \param stream   a cudaStream_t of that device; null is the default stream
  /// \pre columns ascend in the rows of A and B
  /// \throws Error (input) a.cols != b.rows
  /// \throws Error (out_of_memory) the plan and C do not fit the budget; the message gives the
  ///         bytes of both
  /// \throws Error (unavailable) no such CUDA device; A has 2^32 or more rows; without patterns: C has
  ///         more than 2^23 columns, and A or B has 2^32 rows or B 2^32 entries or more
  /// \throws Error (device)
  /// Complexity: O(nnz(A) + rows) to count products, O(n log m) for lists of rows of C of m entries, plus
  /// twice that of multiply().
  SpgemmPlan(const Context& context, const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b,
             CUstream_st* stream);
  ~SpgemmPlan();
  /// A moved-from plan may only be assigned to or destroyed.
  SpgemmPlan(SpgemmPlan&& other) noexcept;
  SpgemmPlan& operator=(SpgemmPlan&& other) noexcept;

  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t cols() const;
  /// Structural entries of C, including those that cancel to zero.
  [[nodiscard]] std::int64_t nnz() const;
  /// Offsets of C: rows + 1.
  [[nodiscard]] const DeviceBuffer<std::int64_t>& row_ptr() const;
  /// Columns of C, which ascend in every row. multiply() rewrites them unchanged.
  [[nodiscard]] const DeviceBuffer<Column>& col_idx() const;

  /// C with the given values and the plan's row_ptr() and col_idx().
  [[nodiscard]] DeviceCsrView<Value> c_view(const Value* c_values) const {
    return {rows(), cols(), nnz(), row_ptr().data(), col_idx().data(), c_values};
  }

  /// Bytes of device memory that the plan holds.
  [[nodiscard]] std::uint64_t bytes() const;

  /// Computes the values of C in the order of col_idx(). Only launches kernels. If the context has
  /// a report, also records two events for phase "making", on which the report waits.
  /// \param a_values, b_values  on the device, in the order of the operands' col_idx
  /// \param c_values  nnz() elements on the device, overwritten; must not alias an operand
  /// \throws Error (device)
  /// Complexity: O(n log n') for rows of n' <= 512 products, O(n) for others. Extra memory: none.
  void multiply(const Value* a_values, const Value* b_values, Value* c_values);

  /// The same, returned as a matrix with its own copy of the structure, which may outlive the plan.
  /// \throws Error (out_of_memory, device)
  [[nodiscard]] DeviceCsr<Value> multiply(const Value* a_values, const Value* b_values) const;

 private:
  struct State;
  void release() noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace sortie::spgemm::cuda
