// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/cuda/aggregates/aggregated_product.hpp"
#include "apps/spgemm/cuda/device_product.hpp"
#include "apps/spgemm/cuda/fused/fused_product.hpp"
#include "apps/spgemm/galerkin_backends.hpp"
#include "apps/spgemm/host/row_products.hpp"
#include "core/cuda/device_context.hpp"
#include "core/host_runtime.hpp"
#include "sortie/device_galerkin.hpp"
#include "sortie/device_spgemm.hpp"
#include "sortie/error.hpp"
#include "sortie/spgemm_estimate.hpp"

namespace sortie::spgemm::cuda {
namespace {

/// The part of the memory budget that rows of R * A take at most, unless one row takes more.
constexpr std::uint64_t part_of_rows = 4;

/// The algorithm of a product with so many rows and columns. It does not depend on the chunks, so
/// that these do not change the bits: `automatic` would look for patterns in the rows of each.
template <class Value, class Column>
Algorithm algorithm_for(std::int64_t rows, std::int64_t cols) {
  if (sizeof(Column) == sizeof(std::uint32_t) && fits_fused_product<Value>(rows, cols))
    return Algorithm::fused;
  return Algorithm::essc;
}

/// Rows first .. last - 1.
template <class Value, class Idx>
Csr<Value, Idx> rows_of(const Csr<Value, Idx>& matrix, std::int64_t first, std::int64_t last) {
  const std::int64_t begin = matrix.row_ptr[first];
  const std::int64_t end = matrix.row_ptr[last];
  Csr<Value, Idx> rows{last - first,
                       matrix.cols,
                       {matrix.row_ptr.begin() + first, matrix.row_ptr.begin() + last + 1},
                       {matrix.col_idx.begin() + begin, matrix.col_idx.begin() + end},
                       {matrix.values.begin() + begin, matrix.values.begin() + end}};
  for (std::int64_t& offset : rows.row_ptr) offset -= begin;
  return rows;
}

template <class Value, class Idx>
std::vector<std::int64_t> offsets_of_products(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(a.rows) + 1, 0);
  for (std::int64_t row = 0; row < a.rows; ++row)
    offsets[row + 1] = offsets[row] + host::products_of_row(a, b, row);
  return offsets;
}

/// Whether no row has two entries, and the kernels of aggregated_product() can number the columns.
template <class Value, class Column>
bool may_be_aggregates(const DeviceCsrView<Value, Column>& p) {
  return sizeof(Column) == sizeof(std::uint32_t) && p.nnz <= p.rows &&
         p.cols < AggregateRows<Value>::none;
}

}  // namespace

template <class Value, class Column>
DeviceCsr<Value, Column> galerkin_on_device(const Context& context,
                                            const DeviceCsrView<Value, Column>& r,
                                            const DeviceCsrView<Value, Column>& a,
                                            const DeviceCsrView<Value, Column>& p,
                                            CUstream_st* stream) {
  check_shapes(r, a);
  check_shapes(a, p);
  const DeviceCall call(context, stream);
  if constexpr (sizeof(Column) == sizeof(std::uint32_t)) {
    if (may_be_aggregates(p) && r.rows < AggregateRows<Value>::none &&
        has_memory_for_aggregates<Value>()) {
      const std::uint64_t bytes = aggregate_bytes<Value>(p.rows);
      const std::uint64_t budget = context.memory_budget;
      if (budget != 0 && bytes >= budget) throw out_of_memory_error("the rows of P", bytes, budget);
      AggregateRows<Value> aggregates;
      const AggregationSize size = read_aggregates(r, a, p, aggregates, call.stream);
      if (size.fits())
        return aggregated_product(call, r, a, aggregates, size, budget == 0 ? 0 : budget - bytes);
    }
  }
  const DeviceCsr<Value, Column> ra = multiply_on_device(call, r, a, call.stream);
  return multiply_on_device(call, view(ra), p, call.stream);
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> galerkin(const Context& context, const Csr<Value, Idx>& r, const Csr<Value, Idx>& a,
                         const Csr<Value, Idx>& p) {
  const DeviceCall call(context);
  return with_operands(
      call, a, p,
      [&]<class Column>(const DeviceCsrView<Value, Column>& device_a,
                        const DeviceCsrView<Value, Column>& device_p) {
        if (sizeof(Column) == sizeof(std::uint32_t) && needs_wide_columns(r.cols))
          throw Error(
              ErrorKind::unavailable,
              "R * A * P on CUDA: found R of more than 2^32 columns, expected as many in A");
        const std::uint64_t of_rows = product_memory_budget(call) / part_of_rows;
        Context of_products = call;
        if (context.memory_budget != 0) of_products.memory_budget -= of_rows;
        const auto max_products =
            static_cast<std::int64_t>(of_rows / (sizeof(Value) + sizeof(Column)));
        const std::vector<std::int64_t> offsets = offsets_of_products(r, a);
        const std::vector<std::int64_t> cuts =
            host::cut_rows(offsets, max_products, std::max<std::int64_t>(1, r.rows));
        std::optional<AggregateRows<Value>> aggregates;
        AggregationSize size;
        for (std::int64_t row = 0; row < r.rows; ++row)
          size.longest_row_products =
              std::max(size.longest_row_products,
                       static_cast<std::uint64_t>(offsets[row + 1] - offsets[row]));
        if constexpr (sizeof(Column) == sizeof(std::uint32_t)) {
          if (size.fits() && may_be_aggregates(device_p) && r.rows < AggregateRows<Value>::none &&
              has_memory_for_aggregates<Value>()) {
            if (of_products.memory_budget != 0) {
              const std::uint64_t bytes = aggregate_bytes<Value>(p.rows);
              if (bytes >= of_products.memory_budget)
                throw out_of_memory_error("the rows of P", bytes, of_products.memory_budget);
              of_products.memory_budget -= bytes;
            }
            aggregates.emplace();
            size.longest_row =
                read_aggregates<Value>({}, {}, device_p, *aggregates, call.stream).longest_row;
            if (!size.fits()) aggregates.reset();
          }
        }

        Csr<Value, Idx> c{r.rows, p.cols, {0}, {}, {}};
        for (std::size_t chunk = 0; chunk + 1 < cuts.size(); ++chunk) {
          const bool is_whole = cuts.size() == 2;
          DevicePhase copying(call, "copy in");
          const auto device_r =
              copied_to_device<Column>(is_whole ? r : rows_of(r, cuts[chunk], cuts[chunk + 1]),
                                       call.stream, threads_of(call));
          copying.stop();
          DeviceCsr<Value, Column> rows;
          if constexpr (sizeof(Column) == sizeof(std::uint32_t)) {
            size.products =
                static_cast<std::uint64_t>(offsets[cuts[chunk + 1]] - offsets[cuts[chunk]]);
            if (aggregates)
              rows = aggregated_product(call, view(device_r), device_a, *aggregates, size,
                                        of_products.memory_budget);
          }
          if (!aggregates) {
            const DeviceCsr<Value, Column> ra =
                multiply_on_device(of_products, view(device_r), device_a,
                                   algorithm_for<Value, Column>(r.rows, a.cols), call.stream);
            rows = multiply_on_device(of_products, view(ra), device_p,
                                      algorithm_for<Value, Column>(r.rows, p.cols), call.stream);
          }
          DevicePhase phase(call, "copy out");
          const std::int64_t before = c.row_ptr.back();
          const auto first = static_cast<std::ptrdiff_t>(c.row_ptr.size()) - 1;
          c.row_ptr.resize(c.row_ptr.size() + static_cast<std::size_t>(rows.rows));
          rows.row_ptr.copy_to(std::span(c.row_ptr).subspan(static_cast<std::size_t>(first)));
          append_entries(rows.col_idx, rows.values, c);
          check_cuda(cudaStreamSynchronize(call.stream));
          phase.stop();
          for (auto offset = c.row_ptr.begin() + first; offset != c.row_ptr.end(); ++offset)
            *offset += before;
          report_progress(call, "galerkin", static_cast<std::uint64_t>(cuts[chunk + 1]),
                          static_cast<std::uint64_t>(r.rows));
        }
        return c;
      });
}

template <Scalar Value, Index Idx>
WorkSpace galerkin_space(const Context& context, const Csr<Value, Idx>& r, const Csr<Value, Idx>& a,
                         const Csr<Value, Idx>& p) {
  const DeviceScope scope(context);
  const bool is_wide = wide_columns<Idx>(a.cols) || wide_columns<Idx>(p.cols);
  const Algorithm algorithm = is_wide ? algorithm_for<Value, std::uint64_t>(r.rows, a.cols)
                                      : algorithm_for<Value, std::uint32_t>(r.rows, a.cols);
  Context on_cuda = context;
  on_cuda.backend = Backend::cuda;
  // The size of the second product is not known before the first.
  WorkSpace space = *spgemm::work_space<Value, Idx>(on_cuda, product_size(r, a), algorithm);
  if (p.nnz() <= p.rows) space.least += aggregate_bytes<Value>(p.rows);
  space.most = std::max(space.least, space.limit);
  return space;
}

#define SORTIE_INSTANTIATE(Value, Idx)                                               \
  template Csr<Value, Idx> galerkin(const Context&, const Csr<Value, Idx>&,          \
                                    const Csr<Value, Idx>&, const Csr<Value, Idx>&); \
  template WorkSpace galerkin_space(const Context&, const Csr<Value, Idx>&,          \
                                    const Csr<Value, Idx>&, const Csr<Value, Idx>&);
SORTIE_SPGEMM_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

#define SORTIE_INSTANTIATE(Value, Column)                                                       \
  template DeviceCsr<Value, Column> galerkin_on_device(                                         \
      const Context&, const DeviceCsrView<Value, Column>&, const DeviceCsrView<Value, Column>&, \
      const DeviceCsrView<Value, Column>&, CUstream_st*);
SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::cuda
