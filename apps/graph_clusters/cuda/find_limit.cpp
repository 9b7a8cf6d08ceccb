// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "apps/graph_clusters/cuda/pruning.hpp"
#include "apps/graph_clusters/markov.hpp"
#include "apps/spgemm/cuda/device_product.hpp"
#include "apps/spgemm/host/row_products.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/phase_timer.hpp"
#include "sortie/device_spgemm.hpp"
#include "sortie/run_report.hpp"

namespace sortie::graphs::cuda {
namespace {

using spgemm::cuda::DeviceCsr;
using spgemm::cuda::DeviceCsrView;
using spgemm::cuda::view;
using Matrix = DeviceCsr<double>;
using Entries = spgemm::cuda::DeviceEntries<double, std::uint32_t>;

/// Bytes of an unpruned block of rows, for each of its products: an entry of 12 bytes if all
/// columns differ, and the work space of the product.
constexpr std::uint64_t bytes_per_product = 24;

/// The matrix with values of another type.
template <class To, class From>
matrices::Csr<To> with_values(const matrices::Csr<From>& matrix) {
  return {matrix.rows, matrix.cols, matrix.row_ptr, matrix.col_idx,
          std::vector<To>(matrix.values.begin(), matrix.values.end())};
}

/// The matrices of a clustering on the device, on the stream of the call.
class Clustering {
 public:
  Clustering(const DeviceContext& context, const matrices::Csr<float>& matrix,
             const ClusterOptions& options)
      : context_(context),
        expansion_(context),
        rule_(options),
        matrix_(
            spgemm::cuda::to_device<std::uint32_t>(with_values<double>(matrix), context.stream)),
        chaos_(1, context.stream) {
    expansion_.report = nullptr;  // its phases are those of a single product
    expansion_.progress = {};
  }

  /// Computes the next iterand in blocks of rows. \return its chaos
  double iterate() {
    const std::int64_t rows = matrix_.rows;
    cudaStream_t stream = context_.stream;
    check_cuda(cudaMemsetAsync(chaos_.data(), 0, sizeof(unsigned long long), stream));
    DeviceBuffer<std::int64_t> offsets(rows + 1, stream);
    check_cuda(cudaMemsetAsync(offsets.data(), 0, offsets.bytes(), stream));
    count_products(rows, matrix_.row_ptr.data(), matrix_.col_idx.data(), offsets.data(), stream);
    spgemm::cuda::exclusive_sum(offsets.data(), rows + 1, stream);
    std::vector<std::int64_t> product_offsets(rows + 1);
    offsets.copy_to(std::span(product_offsets));
    check_cuda(cudaStreamSynchronize(stream));
    products_ += product_offsets.back();

    const std::uint64_t budget = spgemm::cuda::product_memory_budget(context_);
    const auto most = static_cast<std::int64_t>(budget / 2 / bytes_per_product);
    const auto cuts = spgemm::host::cut_rows(product_offsets, most, rows);
    std::vector<Entries> parts;
    std::int64_t nnz = 0;
    DeviceBuffer<std::int64_t> counts(rows + 1, stream);
    check_cuda(cudaMemsetAsync(counts.data(), 0, counts.bytes(), stream));
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      const Matrix expanded = expand(cuts[i], cuts[i + 1]);
      parts.push_back(prune(expanded, counts.data() + cuts[i]));
      nnz += static_cast<std::int64_t>(parts.back().col_idx.size());
    }
    spgemm::cuda::exclusive_sum(counts.data(), rows + 1, stream);
    matrix_.row_ptr = std::move(counts);
    matrix_.col_idx = spgemm::cuda::concatenated(parts, nnz, &Entries::col_idx, stream);
    matrix_.values = spgemm::cuda::concatenated(parts, nnz, &Entries::values, stream);
    std::vector<unsigned long long> chaos(1);
    chaos_.copy_to(std::span(chaos));
    check_cuda(cudaStreamSynchronize(stream));
    return std::bit_cast<double>(chaos[0]);
  }

  [[nodiscard]] std::int64_t products() const { return products_; }
  [[nodiscard]] std::int64_t nnz() const { return matrix_.nnz(); }
  [[nodiscard]] matrices::Csr<float> matrix() const {
    return with_values<float>(spgemm::cuda::to_host<std::int32_t>(matrix_));
  }

 private:
  /// Rows first .. last - 1 of the matrix times itself.
  [[nodiscard]] Matrix expand(std::int64_t first, std::int64_t last) const {
    const DeviceCsrView<double> all = view(matrix_);
    if (last - first == all.rows)
      return spgemm::cuda::multiply_on_device(expansion_, all, all, context_.stream);
    std::vector<std::int64_t> ends(1);
    std::vector<std::int64_t> begins(1);
    check_cuda(cudaMemcpyAsync(begins.data(), all.row_ptr + first, sizeof(std::int64_t),
                               cudaMemcpyDeviceToHost, context_.stream));
    check_cuda(cudaMemcpyAsync(ends.data(), all.row_ptr + last, sizeof(std::int64_t),
                               cudaMemcpyDeviceToHost, context_.stream));
    check_cuda(cudaStreamSynchronize(context_.stream));
    DeviceBuffer<std::int64_t> row_ptr(last - first + 1, context_.stream);
    spgemm::cuda::shift_offsets(all.row_ptr + first, -begins[0], row_ptr.data(), last - first + 1,
                                context_.stream);
    const DeviceCsrView<double> part{last - first,
                                     all.cols,
                                     ends[0] - begins[0],
                                     row_ptr.data(),
                                     all.col_idx + begins[0],
                                     all.values + begins[0]};
    return spgemm::cuda::multiply_on_device(expansion_, part, all, context_.stream);
  }

  /// \param counts  receives the entries of each row
  [[nodiscard]] Entries prune(const Matrix& expanded, std::int64_t* counts) {
    cudaStream_t stream = context_.stream;
    const std::int64_t rows = expanded.rows;
    const ExpandedRows all{rows, expanded.nnz(), expanded.row_ptr.data(), expanded.col_idx.data(),
                           expanded.values.data()};
    DeviceBuffer<RowRule> rules(rows, stream);
    find_rules(all, rule_, rules.data(), counts, chaos_.data(), stream);
    DeviceBuffer<std::int64_t> begins(rows + 1, stream);
    check_cuda(cudaMemsetAsync(begins.data() + rows, 0, sizeof(std::int64_t), stream));
    check_cuda(cudaMemcpyAsync(begins.data(), counts, rows * sizeof(std::int64_t),
                               cudaMemcpyDeviceToDevice, stream));
    spgemm::cuda::exclusive_sum(begins.data(), rows + 1, stream);
    std::int64_t nnz = 0;
    check_cuda(
        cudaMemcpyAsync(&nnz, begins.data() + rows, sizeof nnz, cudaMemcpyDeviceToHost, stream));
    check_cuda(cudaStreamSynchronize(stream));
    Entries kept;
    kept.col_idx = DeviceBuffer<std::uint32_t>(nnz, stream);
    kept.values = DeviceBuffer<double>(nnz, stream);
    apply_rules(all, rule_, rules.data(), begins.data(), kept.col_idx.data(), kept.values.data(),
                stream);
    return kept;
  }

  const DeviceContext& context_;
  Context expansion_;
  PruningRule rule_;
  Matrix matrix_;
  DeviceBuffer<unsigned long long> chaos_;
  std::int64_t products_ = 0;
};

}  // namespace

Limit find_limit(const Context& context, matrices::Csr<float> matrix,
                 const ClusterOptions& options) {
  const DeviceCall call(context);
  Clustering clustering(call, matrix, options);
  matrix = {};
  return iterate_to_limit(context, options, clustering);
}

}  // namespace sortie::graphs::cuda
