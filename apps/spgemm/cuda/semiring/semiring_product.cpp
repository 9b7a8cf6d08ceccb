// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/cuda/device_product.hpp"
#include "apps/spgemm/cuda/semiring/device_rows.hpp"
#include "apps/spgemm/cuda/semiring/structure_values.hpp"
#include "apps/spgemm/semiring.hpp"
#include "apps/spgemm/semiring_backends.hpp"
#include "core/cuda/block_copy.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/device_context.hpp"
#include "core/host_runtime.hpp"
#include "sortie/device_semiring_spgemm.hpp"
#include "sortie/device_spgemm.hpp"
#include "sortie/error.hpp"

namespace sortie::spgemm::cuda {
namespace {

StructureRows rows_of(const DeviceStructure& structure) {
  return {structure.row_ptr, structure.col_idx};
}
template <class Value>
StructureRows rows_of(const DeviceCsrView<Value>& matrix) {
  return {matrix.row_ptr, matrix.col_idx};
}

/// Columns and offsets within a row have 32 bits in the kernels, and so has the number of a row.
void check_sizes(std::int64_t rows, std::int64_t rows_b, std::int64_t cols, std::int64_t nnz_b) {
  constexpr std::int64_t limit = std::int64_t{1} << 32;
  const auto check = [](std::int64_t found, const char* what) {
    if (found < limit) return;
    throw Error(ErrorKind::unavailable,
                fmt::format("SpGEMM on CUDA with a mask or over a semiring: found {} {}, expected "
                            "fewer than 2^32",
                            found, what));
  };
  check(rows, "rows of A");
  check(rows_b, "rows of B");
  check(cols, "columns of B");
  check(nnz_b, "entries of B");
}

/// The sums of the entries of a structure.
template <class Arithmetic>
struct Sums {
  DeviceBuffer<typename Arithmetic::Sum> values;
  DeviceBuffer<std::uint8_t> hits;  ///< empty if not wanted
};

/// Calls use.operator()<Arithmetic>(a_values, b_values) for the arithmetic of the semiring and its
/// operands, which are null if it reads none. \pre has_semiring<Value>(semiring)
template <class Value, class Use>
void with_arithmetic(Semiring semiring, const DeviceCsrView<Value>& a,
                     const DeviceCsrView<Value>& b, cudaStream_t stream, const Use& use) {
  constexpr bool is_bool = std::is_same_v<Value, std::uint8_t>;
  if (semiring == Semiring::plus_pair || semiring == Semiring::any_pair)
    return use.template operator()<Count<std::uint32_t>>(nullptr, nullptr);
  if constexpr (!is_complex<Value> && !is_bool) {
    if (semiring == Semiring::min_plus)
      return use.template operator()<MinPlus<Value>>(a.values, b.values);
    if (semiring == Semiring::max_plus)
      return use.template operator()<MaxPlus<Value>>(a.values, b.values);
    if (semiring == Semiring::max_times)
      return use.template operator()<MaxTimes<Value>>(a.values, b.values);
  }
  if constexpr (!is_bool) {
    if (semiring == Semiring::plus_times)
      return use.template operator()<PlusTimes<Value>>(a.values, b.values);
  }
  const auto truths_a = truths(a.values, a.nnz, stream);
  const auto truths_b = truths(b.values, b.nnz, stream);
  use.template operator()<OrAnd>(truths_a.data(), truths_b.data());
}

/// Whether sums are the entries of C.
template <class Arithmetic, class Value>
inline constexpr bool sums_are_entries = std::is_same_v<typename Arithmetic::Sum, Value> &&
                                         !std::is_same_v<typename Arithmetic::Operand, NoOperand>;

/// The structure of A * B; with a mask, without its entries.
template <class Value>
DeviceCsr<float> product_structure(const DeviceContext& context, const DeviceCsrView<Value>& a,
                                   const DeviceCsrView<Value>& b, const DeviceStructure* mask) {
  Context quiet = context;
  quiet.report = nullptr;
  const auto one = ones<float>(std::max(a.nnz, b.nnz), context.stream);
  const auto with_ones = [&](const DeviceCsrView<Value>& matrix) {
    return DeviceCsrView<float>{matrix.rows,    matrix.cols,    matrix.nnz,
                                matrix.row_ptr, matrix.col_idx, one.data()};
  };
  DeviceCsr<float> c = multiply_on_device(quiet, with_ones(a), with_ones(b), context.stream);
  c.values.reset();
  if (mask == nullptr) return c;
  DeviceBuffer<std::uint8_t> flags(c.nnz(), context.stream);
  mark_outside(c.rows, {c.row_ptr.data(), c.col_idx.data()}, rows_of(*mask), flags.data(),
               context.stream);
  DeviceCsr<float> left{c.rows, c.cols, {}, {}, {}};
  KeptEntries(flags.data(), c.nnz(), context.stream)
      .write<float>(c.rows, c.row_ptr.data(), c.col_idx.data(), nullptr, left);
  return left;
}

template <class Value>
void compute_values(const DeviceContext& context, const DeviceCsrView<Value>& a,
                    const DeviceCsrView<Value>& b, Semiring semiring,
                    const DeviceStructure& structure, Value* values) {
  with_arithmetic(semiring, a, b, context.stream,
                  [&]<class Arithmetic>(const typename Arithmetic::Operand* a_values,
                                        const typename Arithmetic::Operand* b_values) {
                    const auto compute = [&](typename Arithmetic::Sum* sums) {
                      compute_structure_sums<Arithmetic>(a.rows, structure.nnz, rows_of(a),
                                                         rows_of(b), rows_of(structure), a_values,
                                                         b_values, sums, nullptr, context.stream);
                    };
                    if constexpr (sums_are_entries<Arithmetic, Value>) {
                      compute(values);
                    } else {
                      DeviceBuffer<typename Arithmetic::Sum> sums(structure.nnz, context.stream);
                      compute(sums.data());
                      write_entries_of(sums.data(), structure.nnz, semiring == Semiring::any_pair,
                                       values, context.stream);
                    }
                  });
}

/// The entries of the mask that have products.
template <class Value>
DeviceCsr<Value> masked_product(const DeviceContext& context, const DeviceCsrView<Value>& a,
                                const DeviceCsrView<Value>& b, Semiring semiring,
                                const DeviceStructure& mask) {
  DeviceCsr<Value> c{a.rows, b.cols, {}, {}, {}};
  with_arithmetic(semiring, a, b, context.stream,
                  [&]<class Arithmetic>(const typename Arithmetic::Operand* a_values,
                                        const typename Arithmetic::Operand* b_values) {
                    using Sum = typename Arithmetic::Sum;
                    constexpr bool counts = std::is_same_v<Sum, std::uint32_t> &&
                                            std::is_same_v<typename Arithmetic::Operand, NoOperand>;
                    // Without a budget, the allocation fails by itself.
                    const std::uint64_t wanted =
                        static_cast<std::uint64_t>(mask.nnz) * (sizeof(Sum) + sizeof(std::uint8_t));
                    if (context.memory_budget != 0 && wanted > context.memory_budget)
                      throw out_of_memory_error("the sums of the entries of the mask", wanted,
                                                context.memory_budget);
                    DeviceBuffer<Sum> sums(mask.nnz, context.stream);
                    DeviceBuffer<std::uint8_t> hits(counts ? 0 : mask.nnz, context.stream);
                    compute_structure_sums<Arithmetic>(a.rows, mask.nnz, rows_of(a), rows_of(b),
                                                       rows_of(mask), a_values, b_values,
                                                       sums.data(), hits.data(), context.stream);
                    const auto write = [&](KeptEntries kept) {
                      if constexpr (sums_are_entries<Arithmetic, Value>) {
                        kept.write<Value>(mask.rows, mask.row_ptr, mask.col_idx, sums.data(), c);
                      } else {
                        kept.write_numbers<Value>(mask.rows, mask.row_ptr, mask.col_idx,
                                                  sums.data(), semiring == Semiring::any_pair, c);
                      }
                    };
                    if constexpr (counts) {
                      write(KeptEntries(sums.data(), mask.nnz, context.stream));
                    } else {
                      write(KeptEntries(hits.data(), mask.nnz, context.stream));
                    }
                  });
  return c;
}

/// Leaves out the entries that the filter does not keep.
template <class Value>
void filter_on_device(const DeviceContext& context, const RowFilter& filter, DeviceCsr<Value>& c) {
  if (filter.keeps_all() || c.nnz() == 0) return;
  DevicePhase phase(context, "filter");
  DeviceBuffer<std::uint8_t> flags(c.nnz(), context.stream);
  mark_kept<Value>(c.rows, c.row_ptr.data(), c.nnz(), c.values.data(), filter, flags.data(),
                   context.stream);
  DeviceCsr<Value> left{c.rows, c.cols, {}, {}, {}};
  KeptEntries(flags.data(), c.nnz(), context.stream)
      .write<Value>(c.rows, c.row_ptr.data(), c.col_idx.data(), c.values.data(), left);
  c = std::move(left);
  phase.stop();
}

template <class Value>
DeviceCsr<Value> product_of(const DeviceContext& context, const DeviceCsrView<Value>& a,
                            const DeviceCsrView<Value>& b, const DeviceProductOptions& options) {
  check_sizes(a.rows, b.rows, b.cols, b.nnz);
  DeviceCsr<Value> c;
  bool done = false;
  if constexpr (matrices::Scalar<Value>) {
    if (options.semiring == Semiring::plus_times && options.mask == nullptr) {
      c = multiply_on_device(context, a, b, context.stream);
      done = true;
    }
  }
  if (!done && options.mask != nullptr && !options.complement) {
    DevicePhase values(context, "values");
    c = masked_product(context, a, b, options.semiring, *options.mask);
    values.stop();
  } else if (!done) {
    DevicePhase phase(context, "structure");
    DeviceCsr<float> structure = product_structure(context, a, b, options.mask);
    phase.stop();
    DevicePhase values(context, "values");
    c = {a.rows, b.cols, std::move(structure.row_ptr), std::move(structure.col_idx), {}};
    c.values = DeviceBuffer<Value>(c.nnz(), context.stream);
    const DeviceStructure of_c{c.rows, c.cols, c.nnz(), c.row_ptr.data(), c.col_idx.data()};
    compute_values(context, a, b, options.semiring, of_c, c.values.data());
    values.stop();
  }
  filter_on_device(context, options.filter, c);
  return c;
}

/// A matrix with its values in float.
template <Float16Like Value>
struct Widened {
  Widened(const DeviceCsrView<Value>& matrix, cudaStream_t stream)
      : values(matrix.nnz, stream), view{matrix.rows,    matrix.cols,    matrix.nnz,
                                         matrix.row_ptr, matrix.col_idx, values.data()} {
    convert_values(matrix.values, matrix.nnz, values.data(), stream);
  }

  DeviceBuffer<float> values;
  DeviceCsrView<float> view;
};

/// The product in float, rounded to Value, then filtered.
template <Float16Like Value>
DeviceCsr<Value> rounded_product_of(const DeviceContext& context, const DeviceCsrView<Value>& a,
                                    const DeviceCsrView<Value>& b, DeviceProductOptions options) {
  const RowFilter filter = std::exchange(options.filter, {});
  DeviceCsr<float> c = product_of(context, Widened(a, context.stream).view,
                                  Widened(b, context.stream).view, options);
  const auto rounded = [&] {
    DeviceBuffer<Value> values(c.nnz(), context.stream);
    convert_values(c.values.data(), c.nnz(), values.data(), context.stream);
    return values;
  };
  if (!filter.keeps_all()) {
    convert_values(rounded().data(), c.nnz(), c.values.data(), context.stream);
    filter_on_device(context, filter, c);
  }
  DeviceBuffer<Value> values = rounded();
  return {c.rows, c.cols, std::move(c.row_ptr), std::move(c.col_idx), std::move(values)};
}

void check_mask(std::int64_t rows, std::int64_t cols, std::int64_t rows_c, std::int64_t cols_c) {
  if (rows == rows_c && cols == cols_c) return;
  throw Error(ErrorKind::input,
              fmt::format("A * B: found a mask of {} x {}, expected one of {} x {}", rows, cols,
                          rows_c, cols_c));
}

/// with_operands() for matrices that check_sizes() has accepted: with 32-bit columns.
template <class Value, class Idx, class Function>
auto with_narrow_operands(const DeviceContext& context, const Csr<Value, Idx>& a,
                          const Csr<Value, Idx>& b, const Function& function) {
  DevicePhase phase(context, "copy in");
  const auto copied = [&](const Csr<Value, Idx>& matrix) {
    return copied_to_device<std::uint32_t>(matrix, context.stream, threads_of(context));
  };
  const DeviceCsr<Value> device_a = copied(a);
  DeviceCsr<Value> device_b;
  if (&a != &b) device_b = copied(b);
  phase.stop();
  return function(view(device_a), &a == &b ? view(device_a) : view(device_b));
}

/// A structure on the device, and its arrays.
template <Index Idx>
struct CopiedStructure {
  CopiedStructure(const DeviceContext& context, const Pattern<Idx>& host)
      : row_ptr(sortie::copied_to_device(std::span<const std::int64_t>(host.row_ptr),
                                         context.stream, threads_of(context))),
        col_idx(
            columns_to_device<std::uint32_t>(host.col_idx, context.stream, threads_of(context))),
        view{host.rows, host.cols, host.nnz(), row_ptr.data(), col_idx.data()} {}

  DeviceBuffer<std::int64_t> row_ptr;
  DeviceBuffer<std::uint32_t> col_idx;
  DeviceStructure view;
};

}  // namespace

template <class Value>
DeviceCsr<Value> multiply_on_device(const Context& context, const DeviceCsrView<Value>& a,
                                    const DeviceCsrView<Value>& b,
                                    const DeviceProductOptions& options, CUstream_st* stream) {
  check_shapes(a, b);
  check_semiring<Value>(options.semiring);
  check_filter(options.filter);
  if (options.mask != nullptr) check_mask(options.mask->rows, options.mask->cols, a.rows, b.cols);
  const DeviceCall call(context, stream);
  if constexpr (Float16Like<Value>) {
    return rounded_product_of(call, a, b, options);
  } else {
    return product_of(call, a, b, options);
  }
}

template <class Value>
void multiply_values_on_device(const Context& context, const DeviceCsrView<Value>& a,
                               const DeviceCsrView<Value>& b, Semiring semiring,
                               const DeviceStructure& structure, Value* values,
                               CUstream_st* stream) {
  check_shapes(a, b);
  check_semiring<Value>(semiring);
  check_mask(structure.rows, structure.cols, a.rows, b.cols);
  check_sizes(a.rows, b.rows, b.cols, b.nnz);
  const DeviceCall call(context, stream);
  if constexpr (Float16Like<Value>) {
    DeviceBuffer<float> sums(structure.nnz, call.stream);
    compute_values(call, Widened(a, call.stream).view, Widened(b, call.stream).view, semiring,
                   structure, sums.data());
    convert_values(sums.data(), structure.nnz, values, call.stream);
  } else {
    compute_values(call, a, b, semiring, structure, values);
  }
}

template <Element Value, Index Idx>
Csr<Value, Idx> semiring_product(const Context& context, const Csr<Value, Idx>& a,
                                 const Csr<Value, Idx>& b, const ProductOptions<Idx>& options) {
  check_sizes(a.rows, b.rows, b.cols, b.nnz());
  const DeviceCall call(context);
  return with_narrow_operands(call, a, b, [&](const auto& device_a, const auto& device_b) {
    DeviceProductOptions on_device{options.semiring, nullptr, options.complement, options.filter};
    std::optional<CopiedStructure<Idx>> mask;
    if (options.mask != nullptr) {
      mask.emplace(call, *options.mask);
      on_device.mask = &mask->view;
    }
    return to_host<Idx>(product_of(call, device_a, device_b, on_device));
  });
}

template <Element Value, Index Idx>
void semiring_values(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                     Semiring semiring, Csr<Value, Idx>& c) {
  check_sizes(a.rows, b.rows, b.cols, b.nnz());
  const DeviceCall call(context);
  with_narrow_operands(call, a, b, [&](const auto& device_a, const auto& device_b) {
    const CopiedStructure<Idx> structure(call, {c.rows, c.cols, c.row_ptr, c.col_idx});
    DeviceBuffer<Value> values(structure.view.nnz, call.stream);
    compute_values(call, device_a, device_b, semiring, structure.view, values.data());
    values.copy_to(std::span(c.values));
    check_cuda(cudaStreamSynchronize(call.stream));
  });
}

#define INSTANTIATE_TYPES(Value, Idx)                                                            \
  template Csr<Value, Idx> semiring_product(const Context&, const Csr<Value, Idx>&,              \
                                            const Csr<Value, Idx>&, const ProductOptions<Idx>&); \
  template void semiring_values(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&,  \
                                Semiring, Csr<Value, Idx>&);
#define INSTANTIATE_ON_DEVICE(Value)                                                        \
  template DeviceCsr<Value> multiply_on_device(const Context&, const DeviceCsrView<Value>&, \
                                               const DeviceCsrView<Value>&,                 \
                                               const DeviceProductOptions&, CUstream_st*);  \
  template void multiply_values_on_device(const Context&, const DeviceCsrView<Value>&,      \
                                          const DeviceCsrView<Value>&, Semiring,            \
                                          const DeviceStructure&, Value*, CUstream_st*);
#define INSTANTIATE(Value)               \
  INSTANTIATE_ON_DEVICE(Value)           \
  INSTANTIATE_TYPES(Value, std::int32_t) \
  INSTANTIATE_TYPES(Value, std::int64_t)
SORTIE_SEMIRING_FOR_EACH_VALUE(INSTANTIATE)
SORTIE_SEMIRING_FOR_EACH_FLOAT16(INSTANTIATE_ON_DEVICE)
#undef INSTANTIATE_ON_DEVICE
#undef INSTANTIATE
#undef INSTANTIATE_TYPES

}  // namespace sortie::spgemm::cuda
