// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "apps/graph_clusters/markov.hpp"

/// Kernels on rows of the expanded matrix: pruning, inflation, and the sums that they need.
namespace sortie::graphs::cuda {

/// What remains of a row, and how it is scaled.
struct RowRule {
  float limit;         ///< the least value that is kept
  float greatest;      ///< of the row
  float scale;         ///< of inflated values
  float least;         ///< the least scaled value that is kept
  std::int32_t equal;  ///< entries that may equal the limit; the first ones are kept
};

/// The options, in the form of the kernels.
struct PruningRule {
  explicit PruningRule(const ClusterOptions& options)
      : inflation{options.inflation},
        least_expanded(graphs::least_expanded(options.pruning)),
        least_inflated(graphs::least_inflated(options.pruning)),
        keep_top(options.pruning.keep_top),
        recover_top(options.pruning.recover_top),
        recover_below(options.pruning.recover_below) {}

  Inflation inflation;
  float least_expanded;
  float least_inflated;
  std::int64_t keep_top;
  std::int64_t recover_top;
  double recover_below;
};

/// Rows of an expanded matrix on the device: sums of doubles, each of which is rounded to the
/// entry.
struct ExpandedRows {
  std::int64_t rows;
  std::int64_t nnz;
  const std::int64_t* row_ptr;
  const std::uint32_t* columns;
  const double* values;
};

/// Finds the rule of every row, and the number of entries that it leaves.
/// \param chaos  is raised to the greatest chaos of the rows, a double as an integer
void find_rules(const ExpandedRows& rows, const PruningRule& rule, RowRule* rules,
                std::int64_t* counts, unsigned long long* chaos, cudaStream_t stream);

/// Writes what the rules leave of every row, inflated, in order of columns. The values are floats,
/// stored as the next product takes them.
/// \param begins  of each row in the output
void apply_rules(const ExpandedRows& rows, const PruningRule& rule, const RowRule* rules,
                 const std::int64_t* begins, std::uint32_t* columns, double* values,
                 cudaStream_t stream);

/// products[i] = number of products of row i of the matrix times itself.
void count_products(std::int64_t rows, const std::int64_t* row_ptr, const std::uint32_t* columns,
                    std::int64_t* products, cudaStream_t stream);

}  // namespace sortie::graphs::cuda
