// SPDX-License-Identifier: Apache-2.0
#include "sortie/spgemm_check.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <limits>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/baseline.hpp"
#include "apps/spgemm/difference.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/host/result_arrays.hpp"
#include "apps/spgemm/host/row_products.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"

namespace sortie::spgemm {
namespace {

// Block sizes of parallel loops.
constexpr std::int64_t products_per_block = 1 << 16;
constexpr std::int64_t rows_per_block = 1 << 14;

/// Number of threads for which one double per column fits a quarter of the free memory.
int workers_for(std::int64_t cols) {
  const std::uint64_t bytes = sizeof(double) * static_cast<std::uint64_t>(cols + 1);
  const auto fitting = static_cast<std::int64_t>(host_memory_available() / 4 / bytes);
  return static_cast<int>(std::clamp<std::int64_t>(fitting, 1, host_threads()));
}

}  // namespace

template <Scalar Value, Index Idx>
ProductCheck<Value, Idx>::ProductCheck(const HostContext& context, const Matrix& a, const Matrix& b,
                                       Algorithm algorithm, std::int64_t first_row)
    : first_row_(first_row) {
  Context host{context};
  host.backend = Backend::host;
  host.report = nullptr;
  host.memory_budget = 0;
  if (a.cols != b.rows) throw shapes_error(a.rows, a.cols, b.rows, b.cols);
  start_host_runtime(context.threads);
  const Baseline* const baseline = find_baseline(algorithm);
  const auto on_all_threads =
      baseline != nullptr ? baseline->multiply_on_all_threads.of<Value, Idx>() : nullptr;
  expected_ =
      on_all_threads != nullptr ? on_all_threads(host, a, b) : multiply(host, a, b, algorithm);
  find_bounds(a, b);
}

template <Scalar Value, Index Idx>
void ProductCheck<Value, Idx>::find_bounds(const Matrix& a, const Matrix& b) {
  using Real = decltype(std::abs(Value{}));
  // u is half of std::numeric_limits::epsilon().
  constexpr double four_roundings = 2.0 * std::numeric_limits<Real>::epsilon();
  constexpr double smallest = std::numeric_limits<Real>::denorm_min();
  const std::vector<std::int64_t> offsets = host::product_offsets(a, b);
  const std::vector<std::int64_t> cuts =
      host::cut_rows(offsets, products_per_block, rows_per_block);
  std::vector<std::vector<double>> magnitudes(static_cast<std::size_t>(workers_for(b.cols)));
  for (auto& of_worker : magnitudes) of_worker.assign(static_cast<std::size_t>(b.cols), 0.0);
  host::resize_for_overwrite(allowed_, expected_.nnz());
  const auto workers = static_cast<int>(magnitudes.size());
  host::for_each_row(HostContext{}, "", workers, cuts, [&](int worker, std::int64_t row) {
    double* const sums = magnitudes[static_cast<std::size_t>(worker)].data();
    for (std::int64_t i = a.row_ptr[row]; i < a.row_ptr[row + 1]; ++i) {
      const double factor = std::abs(a.values[i]);
      const std::int64_t k = a.col_idx[i];
      for (std::int64_t j = b.row_ptr[k]; j < b.row_ptr[k + 1]; ++j)
        sums[b.col_idx[j]] += factor * static_cast<double>(std::abs(b.values[j]));
    }
    const auto terms = static_cast<double>(a.row_ptr[row + 1] - a.row_ptr[row]);
    for (std::int64_t i = expected_.row_ptr[row]; i < expected_.row_ptr[row + 1]; ++i) {
      double& sum = sums[expected_.col_idx[i]];
      allowed_[i] = four_roundings * (terms + 2) * sum + terms * smallest;
      sum = 0;
    }
  });
}

template <Scalar Value, Index Idx>
void ProductCheck<Value, Idx>::compare(const Matrix& result) const {
  detail::compare_structure(result, expected_, first_row_);
  const auto agrees = [&](std::int64_t i) {
    return detail::entry_agrees(result.values[i], expected_.values[i], allowed_[i]);
  };
  constexpr std::int64_t entries_per_block = 1 << 16;
  const std::int64_t nnz = expected_.nnz();
  std::atomic<std::int64_t> first_fault{nnz};
  host::for_each_block(host_threads(), 0, (nnz + entries_per_block - 1) / entries_per_block,
                       [&](int, std::int64_t block) {
                         const std::int64_t end = std::min(nnz, (block + 1) * entries_per_block);
                         std::int64_t i = block * entries_per_block;
                         while (i < end && agrees(i)) ++i;
                         if (i == end) return;
                         std::int64_t known = first_fault.load();
                         while (i < known && !first_fault.compare_exchange_weak(known, i)) continue;
                       });
  const std::int64_t fault = first_fault.load();
  if (fault == nnz) return;
  const auto& offsets = expected_.row_ptr;
  const std::int64_t row =
      std::upper_bound(offsets.begin(), offsets.end(), fault) - offsets.begin() - 1;
  detail::compare_entry(first_row_ + row, expected_.col_idx[fault], result.values[fault],
                        expected_.values[fault], allowed_[fault]);
}

template <Scalar Value, Index Idx>
void ProductCheck<Value, Idx>::compare_without_zeros(const Matrix& result) const {
  detail::compare_shape(result, expected_);
  matrices::validate(result);
  compare(detail::restore_zeros(result, expected_, first_row_));
}

#define INSTANTIATE(Value, Idx) template class ProductCheck<Value, Idx>;
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm
