// SPDX-License-Identifier: Apache-2.0
#include "apps/graph_clusters/cuda/pruning.hpp"

#include "apps/graph_clusters/cuda/pruning.cuh"
#include "core/cuda/check.hpp"

namespace sortie::graphs::cuda {
namespace {

/// Rows that have fewer entries than this on average get one warp each, others a block.
constexpr std::int64_t entries_for_a_block = 128;
constexpr int threads_of_a_block = 256;

}  // namespace

void find_rules(const ExpandedRows& rows, const PruningRule& rule, RowRule* rules,
                std::int64_t* counts, unsigned long long* chaos, cudaStream_t stream) {
  if (rows.rows == 0) return;
  const auto blocks = static_cast<unsigned int>(rows.rows);
  if (rows.nnz < entries_for_a_block * rows.rows) {
    find_rules_kernel<32><<<blocks, 32, 0, stream>>>(rows, rule, rules, counts, chaos);
  } else {
    find_rules_kernel<threads_of_a_block>
        <<<blocks, threads_of_a_block, 0, stream>>>(rows, rule, rules, counts, chaos);
  }
  check_cuda(cudaGetLastError());
}

void apply_rules(const ExpandedRows& rows, const PruningRule& rule, const RowRule* rules,
                 const std::int64_t* begins, std::uint32_t* columns, double* values,
                 cudaStream_t stream) {
  if (rows.rows == 0) return;
  const auto blocks = static_cast<unsigned int>(rows.rows);
  if (rows.nnz < entries_for_a_block * rows.rows) {
    apply_rules_kernel<32><<<blocks, 32, 0, stream>>>(rows, rule, rules, begins, columns, values);
  } else {
    apply_rules_kernel<threads_of_a_block>
        <<<blocks, threads_of_a_block, 0, stream>>>(rows, rule, rules, begins, columns, values);
  }
  check_cuda(cudaGetLastError());
}

void count_products(std::int64_t rows, const std::int64_t* row_ptr, const std::uint32_t* columns,
                    std::int64_t* products, cudaStream_t stream) {
  if (rows == 0) return;
  count_products_kernel<<<blocks_for(rows, element_threads / 32), element_threads, 0, stream>>>(
      rows, row_ptr, columns, products);
  check_cuda(cudaGetLastError());
}

}  // namespace sortie::graphs::cuda
