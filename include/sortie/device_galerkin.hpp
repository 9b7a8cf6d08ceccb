// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "sortie/context.hpp"
#include "sortie/device_buffer.hpp"
#include "sortie/device_csr.hpp"
#include "sortie/device_spgemm_plan.hpp"
#include "sortie/error.hpp"
#include "sortie/export.hpp"

namespace sortie::spgemm::cuda {

/// C = R * A * P from device memory to device memory, for a product that is wanted once. Stream,
/// lifetime of operands and result, types and allocation are as for multiply_on_device().
///
/// If no row of P has more than one entry (unsmoothed aggregation), no row of R * A more than 4096
/// products, and columns have 32 bits, R * A is not computed: a warp adds the products of a row of C
/// in shared memory, to up to 16 sums for each entry,
///
///     C_ij = sum over s of (sum over the products of sum s of ((R_ik A_kl) P_lj)),
///
/// in an order that depends only on the structure of the operands: every call gives the same bits.
/// Otherwise C is multiply_on_device(multiply_on_device(R, A), P), with R * A in device memory.
///
/// Device memory in addition to C: sizeof(Value) + 4 bytes per row of P, 16 per row of R, and for
/// the rows of C before their offsets are known at most 2 m (sizeof(Value) + 4) bytes per product of
/// R * A, where 1 / m is the mean number of entries in a row of R. If the budget does not allow
/// these, C is computed twice. The host waits twice, for the sizes of P and C.
/// \param context  device; memory budget; report: phases "counting" and "making"
/// \throws Error (input)         r.cols != a.rows or a.cols != p.rows
/// \throws Error (out_of_memory) the work space does not fit the budget, or C the device
/// \throws Error                 as multiply_on_device()
template <class Value, class Column>
[[nodiscard]] SORTIE_API DeviceCsr<Value, Column> galerkin_on_device(
    const Context& context, const DeviceCsrView<Value, Column>& r,
    const DeviceCsrView<Value, Column>& a, const DeviceCsrView<Value, Column>& p,
    CUstream_st* stream);

/// C = R * A * P in device memory, such as the Galerkin product of multigrid, for operands whose
/// values change while their structure stays the same. The constructor computes the structures of
/// R * A and C; multiply() computes values and may be called any number of times. It only launches
/// kernels, and its sums are those of SpgemmPlan for R * A and for (R * A) * P, so that the values
/// are bitwise reproducible. Only in builds with CUDA.
///
///     GalerkinPlan<double> plan(context, view(r), view(a), view(p), stream);
///     DeviceBuffer<double> c_values(plan.c().nnz(), stream);
///     while (...) plan.multiply(r_values, a_values, p_values, c_values.data());
///
/// For float, double and std::complex<double>. Stream, device, threads and lifetime of the operands
/// are as for SpgemmPlan. With the default stream, the device must be current when the plan is
/// destroyed.
///
/// Device memory: the plans of R * A and of (R * A) * P, and sizeof(Value) per entry of R * A, all
/// within the budget. R * A is never computed in chunks; spgemm::galerkin() (galerkin.hpp) does so.
template <class Value>
class GalerkinPlan {
 public:
  /// \throws Error (input)         r.cols != a.rows or a.cols != p.rows
  /// \throws Error (out_of_memory) a plan and its result do not fit the budget, or what the first
  ///                               plan left of it
  /// \throws Error                 as SpgemmPlan
  GalerkinPlan(const Context& context, const DeviceCsrView<Value>& r, const DeviceCsrView<Value>& a,
               const DeviceCsrView<Value>& p, CUstream_st* stream)
      : ra_(context, r, a, stream),
        ra_values_(std::move(std::as_const(ra_).multiply(r.values, a.values).values)),
        c_(rest_of(context), ra_.c_view(ra_values_.data()), p, stream) {}

  /// The plan of (R * A) * P, for the size and the structure of C.
  [[nodiscard]] const SpgemmPlan<Value>& c() const { return c_; }
  /// Bytes of device memory that the plan holds.
  [[nodiscard]] std::uint64_t bytes() const {
    return ra_.bytes() + ra_values_.bytes() + c_.bytes();
  }

  /// Computes the values of C in the order of c().col_idx(). Extra memory: none.
  /// \param r_values, a_values, p_values  on the device, in the order of the operands' col_idx
  /// \param c_values  c().nnz() elements on the device, overwritten; must not alias an operand
  /// \throws Error (device)
  void multiply(const Value* r_values, const Value* a_values, const Value* p_values,
                Value* c_values) {
    ra_.multiply(r_values, a_values, ra_values_.data());
    c_.multiply(ra_values_.data(), p_values, c_values);
  }

 private:
  /// The context with what the plan of R * A and its values leave of the budget.
  [[nodiscard]] Context rest_of(Context context) const {
    const std::uint64_t held = ra_.bytes() + ra_values_.bytes();
    if (context.memory_budget == 0) return context;
    if (held >= context.memory_budget)
      throw out_of_memory_error("the plan of R * A and its values", held, context.memory_budget);
    context.memory_budget -= held;
    return context;
  }

  SpgemmPlan<Value> ra_;
  DeviceBuffer<Value> ra_values_;
  SpgemmPlan<Value> c_;
};

}  // namespace sortie::spgemm::cuda
