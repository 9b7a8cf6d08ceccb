// SPDX-License-Identifier: Apache-2.0
#include "sortie/device_spgemm_plan.hpp"

#include <algorithm>
#include <complex>
#include <utility>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/cuda/fused/fused_product.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm::cuda {

/// The device must be current for all functions.
template <class Value>
struct SpgemmPlan<Value>::State {
  State(const DeviceContext& device_context, const DeviceCsrView<Value>& a_view,
        const DeviceCsrView<Value>& b_view)
      : context(device_context), a(a_view), b(b_view) {
    if (!fits_fused_product<Value>(a.rows, b.cols))
      throw too_large_for_fused_product(a.rows, b.cols);
    find_structure();
    DeviceBuffer<Value> c_values(nnz(), context.stream);
    make(a.values, b.values, col_idx.data(), c_values.data());
    a.values = nullptr;
    b.values = nullptr;
  }

  [[nodiscard]] std::int64_t nnz() const { return counted.found.entries; }
  [[nodiscard]] std::uint64_t bytes() const {
    const LargeRows& large = counted.large;
    return bins.rows.bytes() + large.storage.bytes() + large.bitmaps.bytes() + row_ptr.bytes() +
           col_idx.bytes();
  }

  void find_structure() {
    const cudaStream_t stream = context.stream;
    DevicePhase analysis(context, "analysis");
    const std::uint64_t budget = product_memory_budget(context);
    const auto require = [budget](std::uint64_t wanted, const char* what) {
      if (wanted > budget) throw out_of_memory_error(what, wanted, budget);
    };
    const auto rows = static_cast<std::uint64_t>(a.rows);
    const std::uint64_t lasting =
        fused_bytes_per_row * (rows + 1) + 2 * sizeof(std::uint32_t) * rows;
    require(lasting, "the analysis of A * B");
    row_ptr = DeviceBuffer<std::int64_t>(rows + 1, stream);
    DeviceBuffer<std::uint64_t> products;
    bins = find_row_bins(a, b, products, row_ptr.data(), stream);
    products.reset();
    bins.slots.reset();
    analysis.stop();

    DevicePhase counting(context, "counting");
    require(lasting + bins.products * large_row_bytes_per_product, "the structure of A * B");
    counted = count_rows<Value>({a, b}, bins, budget - lasting, row_ptr.data(), false, stream);
    trim_bitmaps();
    require(bytes() + nnz() * entry_bytes<Value>, "the plan of A * B with C");
    col_idx = DeviceBuffer<Column>(nnz(), stream);
    counting.stop();
  }

  /// The bitmaps were allocated before their total size was known: keeps only the used part.
  void trim_bitmaps() {
    DeviceBuffer<std::uint32_t>& bitmaps = counted.large.bitmaps;
    const std::uint64_t used = counted.found.bitmap_words;
    if (used >= bitmaps.size()) return;
    DeviceBuffer<std::uint32_t> kept(used, context.stream);
    if (used != 0)
      check_cuda(cudaMemcpyAsync(kept.data(), bitmaps.data(), kept.bytes(),
                                 cudaMemcpyDeviceToDevice, context.stream));
    bitmaps = std::move(kept);
  }

  void make(const Value* a_values, const Value* b_values, Column* c_col_idx,
            Value* c_values) const {
    DevicePhase making(context, "making");
    ProductOperands<Value> operands{a, b, nullptr, 0};
    operands.a.values = a_values;
    operands.b.values = b_values;
    make_rows<Value>(operands, bins, counted, {row_ptr.data(), c_col_idx, c_values},
                     context.stream);
    making.stop();
  }

  DeviceContext context;
  DeviceCsrView<Value> a;  ///< values: those given to the constructor, not read later
  DeviceCsrView<Value> b;
  RowBins bins;
  CountedRows<Value> counted;
  DeviceBuffer<std::int64_t> row_ptr;
  DeviceBuffer<Column> col_idx;
};

template <class Value>
SpgemmPlan<Value>::SpgemmPlan(const Context& context, const DeviceCsrView<Value>& a,
                              const DeviceCsrView<Value>& b, CUstream_st* stream) {
  check_shapes(a, b);
  const DeviceCall call(context, stream);
  state_ = std::make_unique<State>(call, a, b);
}

template <class Value>
SpgemmPlan<Value>::~SpgemmPlan() {
  release();
}

template <class Value>
SpgemmPlan<Value>::SpgemmPlan(SpgemmPlan&& other) noexcept = default;

template <class Value>
SpgemmPlan<Value>& SpgemmPlan<Value>::operator=(SpgemmPlan&& other) noexcept {
  if (this == &other) return *this;
  release();
  state_ = std::move(other.state_);
  return *this;
}

template <class Value>
void SpgemmPlan<Value>::release() noexcept {
  if (state_ != nullptr) release_on_device(state_->context.device, [this] { state_.reset(); });
}

template <class Value>
std::int64_t SpgemmPlan<Value>::rows() const {
  return state_->a.rows;
}

template <class Value>
std::int64_t SpgemmPlan<Value>::cols() const {
  return state_->b.cols;
}

template <class Value>
std::int64_t SpgemmPlan<Value>::nnz() const {
  return state_->nnz();
}

template <class Value>
const DeviceBuffer<std::int64_t>& SpgemmPlan<Value>::row_ptr() const {
  return state_->row_ptr;
}

template <class Value>
const DeviceBuffer<std::uint32_t>& SpgemmPlan<Value>::col_idx() const {
  return state_->col_idx;
}

template <class Value>
std::uint64_t SpgemmPlan<Value>::bytes() const {
  return state_->bytes();
}

template <class Value>
void SpgemmPlan<Value>::multiply(const Value* a_values, const Value* b_values, Value* c_values) {
  const CurrentDevice current(state_->context.device);
  state_->make(a_values, b_values, state_->col_idx.data(), c_values);
}

template <class Value>
DeviceCsr<Value> SpgemmPlan<Value>::multiply(const Value* a_values, const Value* b_values) const {
  const CurrentDevice current(state_->context.device);
  const cudaStream_t stream = state_->context.stream;
  const DeviceBuffer<std::int64_t>& offsets = state_->row_ptr;
  DeviceCsr<Value> c{rows(), cols(), DeviceBuffer<std::int64_t>(offsets.size(), stream),
                     DeviceBuffer<Column>(nnz(), stream), DeviceBuffer<Value>(nnz(), stream)};
  check_cuda(cudaMemcpyAsync(c.row_ptr.data(), offsets.data(), offsets.bytes(),
                             cudaMemcpyDeviceToDevice, stream));
  state_->make(a_values, b_values, c.col_idx.data(), c.values.data());
  return c;
}

template class SpgemmPlan<float>;
template class SpgemmPlan<double>;
template class SpgemmPlan<std::complex<double>>;

}  // namespace sortie::spgemm::cuda
