#pragma once

#include <cstdint>

#include "sortie/apps/spgemm/cuda/payload.hpp"
#include "sortie/core/cuda/device_buffer.cuh"

namespace sortie::spgemm::cuda {

/// Runs of sorted products that belong to one entry of C.
template <class Column>
struct Runs {
  DeviceBuffer<std::uint32_t> starts;  ///< first product of each run, ascending
  DeviceBuffer<Column> columns;        ///< column of C of each run
  std::int64_t products = 0;           ///< end of the last run

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(starts.size()); }
};

/// Finds the runs of equal (row, column) in sorted products. Synchronises the stream.
///
/// \param keys         `products` keys, sorted within rows
/// \param row_offsets  first product of each row; rows + 1 offsets
/// Complexity: O(products + rows). Extra memory: products / 8 bytes when the keys hold no row.
template <class Column, class Key>
[[nodiscard]] Runs<Column> find_runs(const Key* keys, std::int64_t products,
                                     const std::uint32_t* row_offsets, std::int64_t rows,
                                     KeyLayout layout, cudaStream_t stream);

/// Writes the offsets of C behind each of `rows` rows: row_ends[i] = first + runs before the end of
/// row i. Complexity O(rows log(runs)).
void write_row_ends(const std::uint32_t* run_starts, std::int64_t runs,
                    const std::uint32_t* row_offsets, std::int64_t rows, std::int64_t first,
                    std::int64_t* row_ends, cudaStream_t stream);

/// Sums the products of each run, in an order that depends on the length of the run only, so that
/// sums come out with the same bits on every run.
///
/// \param payloads  sorted with the keys
/// \param products  the products by number, where payloads are numbers
/// \param sums      receives one value for each run
template <class Value, class Column>
void sum_runs(const Runs<Column>& runs, const PayloadType<Value>* payloads, const Value* products,
              Value* sums, cudaStream_t stream);

}  // namespace sortie::spgemm::cuda
