// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/baseline.hpp"
#include "apps/spgemm/cuda/device_product.hpp"
#include "apps/spgemm/cuda/essc/chunked_product.hpp"
#include "apps/spgemm/cuda/fused/fused_product.hpp"
#include "apps/spgemm/cuda/patterns/pattern_product.hpp"
#include "apps/spgemm/cuda/patterns/row_classes.hpp"
#include "apps/spgemm/row_patterns.hpp"
#include "core/cuda/arriving_copy.hpp"
#include "core/cuda/device_context.hpp"
#include "core/host_runtime.hpp"
#include "sortie/device_spgemm.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm::cuda {
namespace {

template <class Value, class Column>
using EsscProduct = ChunkedProduct<Value, Column, SegmentedRowSort<Column>>;

/// Returns finish(product) for the Product of an algorithm of Sortie, where finish() calls
/// product.next() until all rows are done. `automatic` is by patterns if they repeat and their
/// structure fits the memory, fused if that can compute C and is faster, otherwise essc.
/// \param whole  null, or the larger product that this is a part of
/// \throws Error (unavailable) pattern or fused, and too many rows or columns
template <class Value, class Column, class Finish>
auto with_product(const DeviceContext& context, const DeviceCsrView<Value, Column>& a,
                  const DeviceCsrView<Value, Column>& b, Algorithm algorithm, const Finish& finish,
                  const WholeProduct* whole = nullptr) {
  std::optional<CountedProducts> counted;
  if constexpr (sizeof(Column) == sizeof(std::uint32_t)) {
    if (algorithm == Algorithm::pattern && fits_pattern_product(a.rows, b.rows))
      return finish(PatternProduct<Value>(context, a, b));
    const bool is_automatic = algorithm == Algorithm::automatic;
    bool repeats = false;
    std::optional<FusedProduct<Value>> fused;
    if (is_automatic && fits_pattern_product(a.rows, b.rows)) {
      if (whole != nullptr) {
        repeats = whole->repeats_patterns;
      } else if (a.col_idx == b.col_idx && fits_fused_product<Value>(a.rows, b.cols) &&
                 may_repeat_patterns(a.rows, a.nnz, b.rows, b.nnz, min_pattern_products) &&
                 !may_repeat_patterns(a.rows, a.nnz, b.rows, b.nnz, 4 * min_pattern_products)) {
        // The host waits for the samples and for the analysis of the other algorithm at once, which
        // is a small part of a product by patterns.
        PatternSamples samples(a.rows, a.row_ptr, a.col_idx, context.stream);
        fused.emplace(context, a, b);
        repeats = samples.repeat();
        if (repeats) fused.reset();
      } else {
        repeats = patterns_repeat(a, b, min_pattern_products, context.stream);
      }
    }
    if (repeats) {
      std::optional<PatternProduct<Value>> product;
      try {
        product.emplace(context, a, b);
      } catch (const Error& error) {
        // The others take less memory.
        if (error.kind() != ErrorKind::out_of_memory) throw;
      }
      if (product) return finish(*product);
    }
    if (algorithm != Algorithm::pattern && algorithm != Algorithm::essc &&
        fits_fused_product<Value>(a.rows, b.cols)) {
      // Probably few products: essc counts them with less work than fused.
      if (is_automatic && whole == nullptr && b.rows != 0 &&
          has_mostly_empty_rows(a.rows, static_cast<std::int64_t>(static_cast<double>(a.nnz) *
                                                                  static_cast<double>(b.nnz) /
                                                                  static_cast<double>(b.rows)))) {
        EsscProduct<Value, Column> product(context, a, b);
        if (has_mostly_empty_rows(a.rows, product.products())) return finish(product);
      }
      if (!fused)
        fused.emplace(context, a, b,
                      whole != nullptr ? whole->samples : std::span<const std::uint32_t>{});
      // Rows of a part get the bits of the whole; those of few products are the same by both.
      const bool by_essc = is_automatic && (whole != nullptr ? whole->has_few_long_rows
                                                             : fused->has_few_long_rows() ||
                                                                   fused->has_mostly_empty_rows());
      if (!by_essc) return finish(*fused);
      if (a.nnz != 0 && b.nnz != 0) counted = fused->counted();
      fused.reset();
    }
  }
  if (algorithm == Algorithm::pattern) throw too_large_for_pattern_product(a.rows, b.rows, b.cols);
  if (algorithm == Algorithm::fused) throw too_large_for_fused_product(a.rows, b.cols);
  return finish(EsscProduct<Value, Column>(context, a, b, counted));
}

/// C by a registered baseline. \throws Error (unavailable) it does not run on CUDA
template <class Value, class Column>
DeviceCsr<Value, Column> multiply_by_baseline(const DeviceContext& context,
                                              const DeviceCsrView<Value, Column>& a,
                                              const DeviceCsrView<Value, Column>& b,
                                              Algorithm algorithm) {
  const auto prepare = find_baseline(algorithm)->prepare.of<Value, Column>();
  if (prepare == nullptr) throw not_on_cuda(algorithm);
  const std::unique_ptr<DeviceBaseline<Value, Column>> product = prepare(context, a, b);
  product->analyse();
  product->compute();
  return product->take_result();
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_part(const Context& context, const Csr<Value, Idx>& a,
                              const Csr<Value, Idx>& b, const WholeProduct* whole,
                              Algorithm algorithm) {
  const DeviceCall call(context);
  return with_operands(call, a, b, [&](const auto& device_a, const auto& device_b) {
    if (find_baseline(algorithm) != nullptr) {
      const auto c = multiply_by_baseline(call, device_a, device_b, algorithm);
      DevicePhase phase(call, "copy out");
      Csr<Value, Idx> host = to_host<Idx>(c);
      phase.stop();
      return host;
    }
    return with_product(
        call, device_a, device_b, algorithm,
        [&](auto&& product) { return product_on_host<Idx>(call, product, device_a, device_b); },
        whole);
  });
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                         Algorithm algorithm) {
  return cuda::multiply_part<Value, Idx>(context, a, b, nullptr, algorithm);
}

template <Scalar Value, Index Idx>
void multiply_in_chunks(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                        const ProductSink<Value, Idx>& sink, Algorithm algorithm) {
  const DeviceCall call(context);
  with_operands(call, a, b, [&](const auto& device_a, const auto& device_b) {
    with_product(call, device_a, device_b, algorithm, [&](auto&& product) {
      const std::int64_t* const row_ptr = product.row_ptr().data();
      pass_rows(product, b.cols, sink,
                [&](auto& entries, std::int64_t first_row, Csr<Value, Idx>& rows) {
                  DevicePhase phase(call, "copy out");
                  check_cuda(cudaMemcpyAsync(rows.row_ptr.data(), row_ptr + first_row,
                                             rows.row_ptr.size() * sizeof(std::int64_t),
                                             cudaMemcpyDeviceToHost, call.stream));
                  rows.col_idx.clear();
                  rows.values.clear();
                  append_entries(entries.col_idx, entries.values, rows, threads_of(call));
                  check_cuda(cudaStreamSynchronize(call.stream));
                  phase.stop();
                });
    });
  });
}

/// Copies columns to the host, in the host's type, while the caller goes on.
template <class Idx, class Column>
ArrivingArray<Idx> arriving_columns(DeviceBuffer<Column> columns, int threads) {
  if constexpr (sizeof(Idx) == sizeof(Column)) {
    return arriving<Idx>(std::move(columns), threads);
  } else {
    DeviceBuffer<Idx> converted(columns.size(), columns.stream());
    convert(columns.data(), converted.data(), static_cast<std::int64_t>(columns.size()),
            columns.stream());
    return arriving<Idx>(std::move(converted), threads);
  }
}

template <Scalar Value, Index Idx>
void multiply_arriving(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                       const ArrivingSink<Value, Idx>& sink, Algorithm algorithm) {
  const DeviceCall call(context);
  const int threads = threads_of(context);
  with_operands(call, a, b, [&](const auto& device_a, const auto& device_b) {
    with_product(call, device_a, device_b, algorithm, [&](auto&& product) {
      std::int64_t first_row = 0;
      while (auto entries = product.next()) {
        DevicePhase phase(call, "copy out");
        matrices::ArrivingRows<Value, Idx> rows{
            product.rows_done() - first_row, b.cols, {}, {}, {}};
        std::vector<std::int64_t> row_ptr(static_cast<std::size_t>(rows.rows) + 1);
        check_cuda(cudaMemcpyAsync(row_ptr.data(), product.row_ptr().data() + first_row,
                                   row_ptr.size() * sizeof(std::int64_t), cudaMemcpyDeviceToHost,
                                   call.stream));
        rows.col_idx = arriving_columns<Idx>(std::move(entries->col_idx), threads);
        rows.values = arriving<Value>(std::move(entries->values), threads);
        check_cuda(cudaStreamSynchronize(call.stream));
        phase.stop();
        const std::int64_t before = row_ptr.front();
        if (before != 0) {
          for (std::int64_t& offset : row_ptr) offset -= before;
        }
        rows.row_ptr = ArrivingArray<std::int64_t>(std::move(row_ptr));
        first_row = product.rows_done();
        const bool is_last = first_row == a.rows;
        const auto kept = is_last ? matrices::ArrivingRows<Value, Idx>() : rows;
        sink(std::move(rows));
        // The memory of the chunk is free for the next one.
        kept.await(kept.nnz());
      }
    });
  });
}

template <Scalar Value, Index Idx>
WorkSpace work_space(const Context& context, const ProductSize& size, Algorithm algorithm) {
  const DeviceScope scope(context);
  if (wide_columns<Idx>(size.cols))
    return EsscProduct<Value, std::uint64_t>::work_space(context, size);
  if (algorithm == Algorithm::pattern) return PatternProduct<Value>::work_space(context, size);
  if (algorithm == Algorithm::essc || !fits_fused_product<Value>(size.rows, size.cols))
    return EsscProduct<Value, std::uint32_t>::work_space(context, size);
  return FusedProduct<Value>::work_space(context, size);
}

}  // namespace

template <class Value, class Idx>
Csr<Value, Idx> multiply_rows(const DeviceContext& call, const Csr<Value, Idx>& a,
                              const DeviceCsrView<Value>& b, const WholeProduct* whole,
                              Algorithm algorithm) {
  if (a.nnz() == 0 || b.nnz == 0)
    return {a.rows, b.cols, std::vector<std::int64_t>(a.row_ptr.size(), 0), {}, {}};
  DevicePhase phase(call, "copy in");
  const auto device_a = copied_to_device<std::uint32_t>(a, call.stream, threads_of(call));
  phase.stop();
  return with_product(
      call, view(device_a), b, algorithm,
      [&](auto&& product) { return product_on_host<Idx>(call, product, view(device_a), b); },
      whole);
}

template <class Value, class Column>
DeviceCsr<Value, Column> multiply_on_device(const Context& context,
                                            const DeviceCsrView<Value, Column>& a,
                                            const DeviceCsrView<Value, Column>& b,
                                            Algorithm algorithm, CUstream_st* stream) {
  check_shapes(a, b);
  if (algorithm == Algorithm::row_wise) throw not_on_cuda(algorithm);
  const DeviceCall call(context, stream);
  if (find_baseline(algorithm) != nullptr) return multiply_by_baseline(call, a, b, algorithm);
  return with_product(call, a, b, algorithm,
                      [&](auto&& product) { return product_on_device(call, product, a, b); });
}

template <class Value, class Column>
DeviceCsr<Value, Column> multiply_on_device(const Context& context,
                                            const DeviceCsrView<Value, Column>& a,
                                            const DeviceCsrView<Value, Column>& b,
                                            CUstream_st* stream) {
  return multiply_on_device(context, a, b, Algorithm::automatic, stream);
}

template <Scalar Value, Index Idx>
BackendFunctions<Value, Idx> functions() {
  return {multiply<Value, Idx>, multiply_in_chunks<Value, Idx>, work_space<Value, Idx>,
          multiply_arriving<Value, Idx>, multiply_part<Value, Idx>};
}

SORTIE_SPGEMM_FOR_EACH_TYPE(SORTIE_SPGEMM_INSTANTIATE_BACKEND)

#define SORTIE_INSTANTIATE(Value, Idx)                                                     \
  template Csr<Value, Idx> multiply_rows(const DeviceContext&, const Csr<Value, Idx>&,     \
                                         const DeviceCsrView<Value>&, const WholeProduct*, \
                                         Algorithm);
SORTIE_SPGEMM_FOR_EACH_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

#define SORTIE_INSTANTIATE(Value, Column)                                                       \
  template DeviceCsr<Value, Column> multiply_on_device(                                         \
      const Context&, const DeviceCsrView<Value, Column>&, const DeviceCsrView<Value, Column>&, \
      Algorithm, CUstream_st*);                                                                 \
  template DeviceCsr<Value, Column> multiply_on_device(                                         \
      const Context&, const DeviceCsrView<Value, Column>&, const DeviceCsrView<Value, Column>&, \
      CUstream_st*);
SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE(SORTIE_INSTANTIATE)
#undef SORTIE_INSTANTIATE

}  // namespace sortie::spgemm::cuda
