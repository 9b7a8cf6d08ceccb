#pragma once

#include <cstdint>

#include "sortie/apps/spgemm/cuda/device_csr_view.hpp"
#include "sortie/apps/spgemm/cuda/fused/counted_rows.hpp"
#include "sortie/core/context.hpp"

namespace sortie::spgemm::cuda {

/// C = A * B for operands whose structure stays while their values change, as in a time loop or in
/// Newton's method: the constructor finds the structure of C, and multiply() computes values, as
/// often as wanted. A product by multiply() is the second half of fused_on_device(): the rows need
/// not be counted, nothing is allocated, and the host does not wait. The values have the same bits
/// as those of fused_on_device().
///
///     SpgemmPlan<double> plan(context, view(a), view(b));
///     DeviceBuffer<double> c_values(plan.nnz(), context.stream);
///     while (...) plan.multiply(a_values, b_values, c_values.data());
///
/// Instantiated for float, double and std::complex<double>. The context's device must be current in
/// every call (see DeviceScope); all work is on the context's stream.
///
/// Device memory (rows: of A, n: products, V: bytes of a value; nothing is made in chunks):
///
/// | array                              | bytes                | lives                      |
/// |------------------------------------|----------------------|----------------------------|
/// | row_ptr and col_idx of C           | 8 rows, 4 nnz(C)     | always                     |
/// | rows by bins                       | 4 rows               | always                     |
/// | long rows' windows, tasks          | < n                  | always                     |
/// | images of long rows                | <= 2 n, what is used | always; less where less is |
/// |                                    |                      | left                       |
/// | products of rows, places           | 12 rows              | construction               |
/// | room for images                    | <= 2 n               | construction               |
/// | values of C                        | V nnz(C)             | construction               |
template <class Value>
class SpgemmPlan {
 public:
  using Column = std::uint32_t;

  /// Finds the structure of C. The columns come of a first product, so the values of A and B are
  /// read, but none are kept. Synchronises the stream.
  ///
  /// The plan keeps the pointers to row_ptr and col_idx of `a` and `b`: those arrays must stay in
  /// place, and as they are, as long as the plan is used (so must a BorrowedCsr that they are of).
  /// The context's stream, and its report where it has one, must outlive the plan, too.
  ///
  /// \param context  device, stream, memory budget, report; phases "analysis", "counting", "making"
  /// \pre a.cols == b.rows, and columns ascend in the rows of A and B
  /// \throws Error (out_of_memory) the plan and C do not fit the budget: names the bytes of both
  /// \throws Error (unavailable) C has more than 2^23 columns; see fits_fused_product()
  /// \throws Error (device)
  /// Complexity: O(nnz(A) + rows) to count products, then two times that of multiply().
  SpgemmPlan(const Context& context, const DeviceCsrView<Value>& a, const DeviceCsrView<Value>& b);

  [[nodiscard]] std::int64_t rows() const { return a_.rows; }
  [[nodiscard]] std::int64_t cols() const { return b_.cols; }
  /// Entries of C: those that any values may make, zeros included.
  [[nodiscard]] std::int64_t nnz() const { return counted_.entries; }
  /// Offsets of C: rows + 1.
  [[nodiscard]] const DeviceBuffer<std::int64_t>& row_ptr() const { return row_ptr_; }
  /// Columns of C, which ascend in every row. multiply() writes them again, as they are.
  [[nodiscard]] const DeviceBuffer<Column>& col_idx() const { return col_idx_; }

  /// C with the given values; the arrays of C's structure are the plan's.
  [[nodiscard]] DeviceCsrView<Value> c_view(const Value* c_values) const {
    return {rows(), cols(), nnz(), row_ptr_.data(), col_idx_.data(), c_values};
  }

  /// Bytes of device memory that the plan holds.
  [[nodiscard]] std::uint64_t bytes() const;

  /// Computes the values of C in the order of col_idx(). Only launches kernels; with a report in
  /// the context it records two events for phase "making", too, which the report waits for.
  /// \param a_values, b_values  on the device, in the order of the operands' col_idx
  /// \param c_values  nnz() elements on the device, to be overwritten; not an operand's
  /// \throws Error (device)
  /// Complexity: O(n log n') for rows of n' <= 512 products, O(n) for others. Extra memory: none.
  void multiply(const Value* a_values, const Value* b_values, Value* c_values);

  /// The same, as a matrix with a structure of its own: row_ptr is copied. It belongs to the
  /// caller, and may outlive the plan; its memory is freed in order of the context's stream.
  /// \throws Error (out_of_memory, device)
  [[nodiscard]] DeviceCsr<Value> multiply(const Value* a_values, const Value* b_values) const;

 private:
  [[nodiscard]] ProductOperands<Value> operands(const Value* a_values, const Value* b_values) const;
  void find_structure();
  void keep_used_images();
  void make(const Value* a_values, const Value* b_values, Column* c_col_idx, Value* c_values) const;

  Context context_;
  DeviceCsrView<Value> a_;  ///< values: those of the construction, not read later
  DeviceCsrView<Value> b_;
  RowBins bins_;
  CountedRows counted_;
  DeviceBuffer<std::int64_t> row_ptr_;
  DeviceBuffer<Column> col_idx_;
};

}  // namespace sortie::spgemm::cuda
