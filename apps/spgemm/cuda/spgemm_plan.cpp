#include "sortie/apps/spgemm/cuda/spgemm_plan.hpp"

#include <algorithm>
#include <complex>
#include <utility>

#include "sortie/apps/spgemm/cuda/device_phase.hpp"
#include "sortie/apps/spgemm/cuda/fused/fused_product.hpp"
#include "sortie/core/cuda/device_scope.hpp"
#include "sortie/core/error.hpp"

namespace sortie::spgemm::cuda {

template <class Value>
SpgemmPlan<Value>::SpgemmPlan(const Context& context, const DeviceCsrView<Value>& a,
                              const DeviceCsrView<Value>& b)
    : context_(context), a_(a), b_(b) {
  if (!fits_fused_product<Value>(a.rows, b.cols)) throw too_large_for_fused_product(a.rows, b.cols);
  find_structure();
  DeviceBuffer<Value> c_values(static_cast<std::size_t>(nnz()), context_.stream);
  make(a.values, b.values, col_idx_.data(), c_values.data());
  a_.values = nullptr;
  b_.values = nullptr;
}

template <class Value>
void SpgemmPlan<Value>::find_structure() {
  const cudaStream_t stream = context_.stream;
  DevicePhase analysis(context_, "analysis");
  std::uint64_t budget = device_memory_budget(context_);
  if (context_.memory_budget == 0) budget = usable_part(budget);
  const auto require = [budget](std::uint64_t bytes, const char* what) {
    if (bytes > budget) throw out_of_memory_error(what, bytes, budget);
  };
  const auto rows = static_cast<std::uint64_t>(a_.rows);
  const std::uint64_t lasting = fused_bytes_per_row * (rows + 1) + 2 * sizeof(std::uint32_t) * rows;
  require(lasting, "the analysis of A * B");
  row_ptr_ = DeviceBuffer<std::int64_t>(rows + 1, stream);
  DeviceBuffer<std::uint64_t> products;
  bins_ = find_row_bins(a_, b_, products, row_ptr_.data(), stream);
  products.reset();
  bins_.places.reset();
  analysis.stop();

  DevicePhase counting(context_, "counting");
  const auto of_windows = static_cast<std::uint64_t>(bins_.products * window_bytes_per_product);
  require(lasting + of_windows, "the structure of A * B");
  const std::uint64_t most = lasting + most_bytes_of_rows<Value>(a_.rows, bins_);
  const std::uint64_t spare = budget > most ? (budget - most) / 2 : 0;
  const auto image_words = std::min(image_words_for(bins_.window_products),
                                    static_cast<std::int64_t>(spare / sizeof(std::uint32_t)));
  counted_ = count_rows<Value>(operands(a_.values, b_.values), bins_, a_.rows, image_words,
                               row_ptr_.data(), nullptr, stream);
  keep_used_images();
  const auto entries = static_cast<std::uint64_t>(nnz());
  require(bytes() + entries * entry_bytes<Value>, "the plan of A * B with C");
  col_idx_ = DeviceBuffer<Column>(entries, stream);
  counting.stop();
}

/// The room for images was found before anything was known of them.
template <class Value>
void SpgemmPlan<Value>::keep_used_images() {
  DeviceBuffer<std::uint32_t>& images = counted_.windows.images;
  const std::uint64_t used = counted_.found.image_words;
  if (used >= images.size()) return;
  DeviceBuffer<std::uint32_t> kept(used, context_.stream);
  if (used != 0)
    check_cuda(cudaMemcpyAsync(kept.data(), images.data(), kept.bytes(), cudaMemcpyDeviceToDevice,
                               context_.stream));
  images = std::move(kept);
}

template <class Value>
ProductOperands<Value> SpgemmPlan<Value>::operands(const Value* a_values,
                                                   const Value* b_values) const {
  return {{a_.row_ptr, a_.col_idx, a_values}, {b_.row_ptr, b_.col_idx, b_values}, b_.cols, b_.nnz};
}

template <class Value>
std::uint64_t SpgemmPlan<Value>::bytes() const {
  const WindowRows& windows = counted_.windows;
  return bins_.rows.bytes() + windows.room.bytes() + windows.images.bytes() + row_ptr_.bytes() +
         col_idx_.bytes();
}

template <class Value>
void SpgemmPlan<Value>::make(const Value* a_values, const Value* b_values, Column* c_col_idx,
                             Value* c_values) const {
  DevicePhase making(context_, "making");
  make_rows<Value>(operands(a_values, b_values), bins_, counted_, nullptr,
                   {row_ptr_.data(), c_col_idx, c_values}, context_.stream);
  making.stop();
}

template <class Value>
void SpgemmPlan<Value>::multiply(const Value* a_values, const Value* b_values, Value* c_values) {
  make(a_values, b_values, col_idx_.data(), c_values);
}

template <class Value>
DeviceCsr<Value> SpgemmPlan<Value>::multiply(const Value* a_values, const Value* b_values) const {
  DeviceCsr<Value> c;
  c.rows = rows();
  c.cols = cols();
  c.row_ptr = DeviceBuffer<std::int64_t>(row_ptr_.size(), context_.stream);
  check_cuda(cudaMemcpyAsync(c.row_ptr.data(), row_ptr_.data(), row_ptr_.bytes(),
                             cudaMemcpyDeviceToDevice, context_.stream));
  c.col_idx = DeviceBuffer<Column>(col_idx_.size(), context_.stream);
  c.values = DeviceBuffer<Value>(col_idx_.size(), context_.stream);
  make(a_values, b_values, c.col_idx.data(), c.values.data());
  return c;
}

template class SpgemmPlan<float>;
template class SpgemmPlan<double>;
template class SpgemmPlan<std::complex<double>>;

}  // namespace sortie::spgemm::cuda
