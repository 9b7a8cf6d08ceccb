// SPDX-License-Identifier: Apache-2.0
#include "sortie/semiring_spgemm.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/host/parallel_blocks.hpp"
#include "apps/spgemm/host/row_products.hpp"
#include "apps/spgemm/semiring.hpp"
#include "apps/spgemm/semiring_backends.hpp"
#include "core/host_memory.hpp"
#include "core/host_runtime.hpp"
#include "core/phase_timer.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

#ifndef SORTIE_HAVE_CUDA

// Replaces the cuda/ folder.
namespace sortie::spgemm::cuda {

template <Element Value, Index Idx>
Csr<Value, Idx> semiring_product(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&,
                                 const ProductOptions<Idx>&) {
  throw Error(ErrorKind::unavailable, "SpGEMM on CUDA: " + why_no_cuda());
}

template <Element Value, Index Idx>
void semiring_values(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&, Semiring,
                     Csr<Value, Idx>&) {
  throw Error(ErrorKind::unavailable, "SpGEMM on CUDA: " + why_no_cuda());
}

}  // namespace sortie::spgemm::cuda

#endif

namespace sortie::spgemm {

namespace {

constexpr std::array<std::string_view, 7> semiring_names{
    "plus-times", "plus-pair", "min-plus", "max-plus", "max-times", "or-and", "any-pair"};
constexpr std::array<Semiring, 7> all_semirings{
    Semiring::plus_times, Semiring::plus_pair, Semiring::min_plus, Semiring::max_plus,
    Semiring::max_times,  Semiring::or_and,    Semiring::any_pair};

template <class Value>
constexpr std::string_view type_name = "bool";
template <>
constexpr std::string_view type_name<std::int32_t> = "i32";
template <>
constexpr std::string_view type_name<std::int64_t> = "i64";
template <>
constexpr std::string_view type_name<float> = "f32";
template <>
constexpr std::string_view type_name<double> = "f64";
template <>
constexpr std::string_view type_name<Float16> = "f16";
template <>
constexpr std::string_view type_name<BFloat16> = "bf16";
template <>
constexpr std::string_view type_name<std::complex<float>> = "complex f32";
template <>
constexpr std::string_view type_name<std::complex<double>> = "complex f64";

std::string names_of(const std::function<bool(Semiring)>& wanted) {
  std::string names;
  for (const Semiring semiring : all_semirings)
    if (wanted(semiring)) names += (names.empty() ? "" : ", ") + std::string(name(semiring));
  return names;
}

/// Columns and values of a row that `filter` keeps, moved to its begin; for one thread.
class RowSelection {
 public:
  /// \return their number
  template <class Value, class Idx>
  std::int64_t apply(const RowFilter& filter, Idx* columns, Value* values, std::int64_t entries) {
    const std::uint64_t least = least_key<Value>(filter.drop_below);
    std::uint64_t limit = least;  // entries of larger keys are kept
    std::int64_t ties = entries;  // and so many of those with this key
    if (filter.keep_top && *filter.keep_top < entries) {
      keys_.resize(static_cast<std::size_t>(entries));
      std::transform(values, values + entries, keys_.begin(),
                     [](Value value) { return magnitude_key(value); });
      const auto last = keys_.begin() + *filter.keep_top - 1;
      std::nth_element(keys_.begin(), last, keys_.end(), std::greater<>());
      if (*last >= least) {
        limit = *last;
        ties = *filter.keep_top -
               std::count_if(keys_.begin(), last, [&](std::uint64_t key) { return key > limit; });
      }
    }
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < entries; ++i) {
      const std::uint64_t key = magnitude_key(values[i]);
      if (key < limit || (key == limit && ties-- <= 0)) continue;
      columns[kept] = columns[i];
      values[kept++] = values[i];
    }
    return kept;
  }

 private:
  std::vector<std::uint64_t> keys_;
};

template <class Value, class Idx>
void check_operands(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                    const ProductOptions<Idx>& options) {
  check_shapes(a, b);
  check_semiring<Value>(options.semiring);
  check_filter(options.filter);
  if (options.mask == nullptr) return;
  if (options.mask->rows == a.rows && options.mask->cols == b.cols) return;
  throw Error(ErrorKind::input,
              fmt::format("A * B: found a mask of {} x {}, expected one of {} x {}",
                          options.mask->rows, options.mask->cols, a.rows, b.cols));
}

/// The types whose products without semiring and mask are those of spgemm.hpp.
template <class Value, class Idx>
bool is_plain(const ProductOptions<Idx>& options) {
  return matrices::Scalar<Value> && options.semiring == Semiring::plus_times &&
         options.mask == nullptr;
}

/// The same numbers in another floating-point type, of which one is float.
template <class To, class From>
std::vector<To> converted(const std::vector<From>& values) {
  std::vector<To> result;
  host::resize_for_overwrite(result, std::ssize(values));
  host::for_each_block_of(std::ssize(values), 1 << 14, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) result[i] = To(values[i]);
  });
  return result;
}
template <Float16Like Value, Index Idx>
Csr<float, Idx> widened(const Csr<Value, Idx>& matrix) {
  return {matrix.rows, matrix.cols, matrix.row_ptr, matrix.col_idx,
          converted<float>(matrix.values)};
}

/// The product in float, rounded to Value.
template <Float16Like Value, Index Idx>
Csr<Value, Idx> rounded_product_of(const Context& context, const Csr<Value, Idx>& a,
                                   const Csr<Value, Idx>& b, ProductOptions<Idx> options) {
  options.filter = {};
  start_host_runtime(context.threads);
  const Csr<float, Idx> wide_a = widened(a);
  Csr<float, Idx> wide_b;
  if (&a != &b) wide_b = widened(b);
  Csr<float, Idx> c = multiply(context, wide_a, &a == &b ? wide_a : wide_b, options);
  return {c.rows, c.cols, std::move(c.row_ptr), std::move(c.col_idx), converted<Value>(c.values)};
}

/// The filtered product, of which a chunk of rows exists without filter at a time.
template <matrices::Scalar Value, Index Idx>
Csr<Value, Idx> filtered_chunks(const Context& context, const Csr<Value, Idx>& a,
                                const Csr<Value, Idx>& b, const RowFilter& filter) {
  Csr<Value, Idx> c{a.rows, b.cols, {0}, {}, {}};
  Context of_chunks = context;
  of_chunks.report = nullptr;
  multiply_in_chunks(of_chunks, a, b, [&](Csr<Value, Idx>& rows) {
    filter_rows(context, rows, filter);
    const std::int64_t before = c.row_ptr.back();
    for (std::int64_t row = 1; row <= rows.rows; ++row)
      c.row_ptr.push_back(before + rows.row_ptr[row]);
    c.col_idx.insert(c.col_idx.end(), rows.col_idx.begin(), rows.col_idx.end());
    c.values.insert(c.values.end(), rows.values.begin(), rows.values.end());
  });
  return c;
}

}  // namespace

std::string_view name(Semiring semiring) {
  return semiring_names.at(static_cast<std::size_t>(semiring));
}

Semiring parse_semiring(std::string_view text) {
  const auto* const found = std::find(semiring_names.begin(), semiring_names.end(), text);
  if (found != semiring_names.end()) return all_semirings[found - semiring_names.begin()];
  throw Error(ErrorKind::usage,
              fmt::format("semiring: found {}, expected one of {}", sortie::quoted(text),
                          names_of([](Semiring) { return true; })));
}

std::span<const Semiring> semirings() {
  return all_semirings;
}

template <Element Value>
bool has_semiring(Semiring semiring) {
  const bool ordered = !is_complex<Value> && !std::is_same_v<Value, std::uint8_t>;
  return ordered || (semiring != Semiring::min_plus && semiring != Semiring::max_plus &&
                     semiring != Semiring::max_times);
}

template <Element Value>
void check_semiring(Semiring semiring) {
  if (has_semiring<Value>(semiring)) return;
  throw Error(ErrorKind::usage,
              fmt::format("semiring: found {} of {} values, expected one of {}", name(semiring),
                          type_name<Value>, names_of(has_semiring<Value>)));
}

void check_filter(const RowFilter& filter) {
  if (filter.keep_top && *filter.keep_top < 1)
    throw Error(
        ErrorKind::usage,
        fmt::format("entries of a row to keep: found {}, expected at least 1", *filter.keep_top));
  if (!(filter.drop_below >= 0))
    throw Error(ErrorKind::usage,
                fmt::format("least absolute value of an entry: found {}, expected at least 0",
                            filter.drop_below));
}

template <Element Value, Index Idx>
void filter_rows(const HostContext& context, Csr<Value, Idx>& c, const RowFilter& filter) {
  check_filter(filter);
  if (filter.keeps_all()) return;
  start_host_runtime(context.threads);
  std::int64_t longest = 0;
  for (std::int64_t row = 0; row < c.rows; ++row)
    longest = std::max(longest, c.row_ptr[row + 1] - c.row_ptr[row]);
  if (filter.keep_top)
    require_budget(context, "the entries of a row",
                   bytes_of({{longest * host_threads(), sizeof(std::uint64_t)}}));
  const PhaseTimer timer(context, "filter");
  constexpr std::int64_t entries_per_block = 1 << 14;
  constexpr std::int64_t rows_per_block = 1 << 12;
  const auto cuts = host::cut_rows(c.row_ptr, entries_per_block, rows_per_block);
  std::vector<RowSelection> selections(static_cast<std::size_t>(host_threads()));
  std::vector<std::int64_t> row_ptr(c.row_ptr.size());
  host::for_each_row(context, "filter", host_threads(), cuts, [&](int worker, std::int64_t row) {
    const std::int64_t begin = c.row_ptr[row];
    row_ptr[row + 1] = selections[static_cast<std::size_t>(worker)].apply(
        filter, c.col_idx.data() + begin, c.values.data() + begin, c.row_ptr[row + 1] - begin);
  });
  std::partial_sum(row_ptr.begin(), row_ptr.end(), row_ptr.begin());
  Csr<Value, Idx> kept{c.rows, c.cols, std::move(row_ptr), {}, {}};
  host::resize_for_overwrite(kept.col_idx, kept.row_ptr.back());
  host::resize_for_overwrite(kept.values, kept.row_ptr.back());
  host::for_each_block_of(c.rows, rows_per_block, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t to = kept.row_ptr[row];
      const std::int64_t entries = kept.row_ptr[row + 1] - to;
      std::copy_n(c.col_idx.data() + c.row_ptr[row], entries, kept.col_idx.data() + to);
      std::copy_n(c.values.data() + c.row_ptr[row], entries, kept.values.data() + to);
    }
  });
  c = std::move(kept);
}

template <Element Value, Index Idx>
Csr<Value, Idx> multiply(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                         const ProductOptions<Idx>& options) {
  check_operands(a, b, options);
  const Backend backend = resolve_backend(context);
  Csr<Value, Idx> c;
  try {
    if constexpr (matrices::Scalar<Value>) {
      if (is_plain<Value>(options) && options.filter.keeps_all()) return multiply(context, a, b);
    }
    if constexpr (Float16Like<Value>) {
      c = rounded_product_of(context, a, b, options);
      filter_rows(context, c, options.filter);
    } else if (backend == Backend::cuda) {
      c = cuda::semiring_product(context, a, b, options);
    } else {
      start_host_runtime(context.threads);
      bool filtered = false;
      if constexpr (matrices::Scalar<Value>) {
        filtered = is_plain<Value>(options);
        if (filtered) c = filtered_chunks(context, a, b, options.filter);
      }
      if (!filtered) {
        c = host::semiring_product(context, a, b, options);
        filter_rows(context, c, options.filter);
      }
    }
  } catch (const std::bad_alloc&) {
    throw out_of_memory_error("A * B", 0, host_memory_available());
  }
  if (context.report != nullptr) {
    std::int64_t products = 0;
    for (const std::int64_t k : a.col_idx) products += b.row_ptr[k + 1] - b.row_ptr[k];
    context.report->set("products", products);
    context.report->set("nnz_c", c.nnz());
  }
  return c;
}

template <Element Value, Index Idx>
void multiply_values(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                     Semiring semiring, Csr<Value, Idx>& c) {
  check_shapes(a, b);
  check_semiring<Value>(semiring);
  if (c.rows != a.rows || c.cols != b.cols)
    throw Error(ErrorKind::input,
                fmt::format("A * B: found a structure of {} x {}, expected one of {} x {}", c.rows,
                            c.cols, a.rows, b.cols));
  if constexpr (Float16Like<Value>) {
    start_host_runtime(context.threads);
    const Csr<float, Idx> wide_a = widened(a);
    Csr<float, Idx> wide_b;
    if (&a != &b) wide_b = widened(b);
    Csr<float, Idx> wide_c = widened(c);
    multiply_values(context, wide_a, &a == &b ? wide_a : wide_b, semiring, wide_c);
    c.values = converted<Value>(wide_c.values);
  } else {
    if (resolve_backend(context) == Backend::cuda)
      return cuda::semiring_values(context, a, b, semiring, c);
    start_host_runtime(context.threads);
    host::semiring_values(context, a, b, semiring, c);
  }
}

namespace host {

template <Index Idx>
Pattern<Idx> without(const Pattern<Idx>& structure, const Pattern<Idx>& mask) {
  constexpr std::int64_t rows_per_block = 1 << 12;
  Pattern<Idx> left{structure.rows, structure.cols, {}, {}};
  /// Passes the columns of a row that are left to `take`.
  const auto for_each_left = [&](std::int64_t row, const auto& take) {
    std::int64_t m = mask.row_ptr[row];
    const std::int64_t end = mask.row_ptr[row + 1];
    for (std::int64_t i = structure.row_ptr[row]; i < structure.row_ptr[row + 1]; ++i) {
      while (m < end && mask.col_idx[m] < structure.col_idx[i]) ++m;
      if (m == end || mask.col_idx[m] != structure.col_idx[i]) take(structure.col_idx[i]);
    }
  };
  resize_for_overwrite(left.row_ptr = {}, structure.rows + 1);
  left.row_ptr[0] = 0;
  for_each_block_of(structure.rows, rows_per_block, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      std::int64_t entries = 0;
      for_each_left(row, [&](Idx) { ++entries; });
      left.row_ptr[row + 1] = entries;
    }
  });
  std::partial_sum(left.row_ptr.begin(), left.row_ptr.end(), left.row_ptr.begin());
  resize_for_overwrite(left.col_idx, left.row_ptr.back());
  for_each_block_of(structure.rows, rows_per_block, [&](std::int64_t first, std::int64_t last) {
    Idx* to = left.col_idx.data() + left.row_ptr[first];
    for (std::int64_t row = first; row < last; ++row)
      for_each_left(row, [&](Idx column) { *to++ = column; });
  });
  return left;
}

template Pattern<std::int32_t> without(const Pattern<std::int32_t>&, const Pattern<std::int32_t>&);
template Pattern<std::int64_t> without(const Pattern<std::int64_t>&, const Pattern<std::int64_t>&);

}  // namespace host

#define INSTANTIATE_TYPES(Value, Idx)                                                           \
  template Csr<Value, Idx> multiply(const Context&, const Csr<Value, Idx>&,                     \
                                    const Csr<Value, Idx>&, const ProductOptions<Idx>&);        \
  template void multiply_values(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&, \
                                Semiring, Csr<Value, Idx>&);                                    \
  template void filter_rows(const HostContext&, Csr<Value, Idx>&, const RowFilter&);
#define INSTANTIATE(Value)                       \
  template bool has_semiring<Value>(Semiring);   \
  template void check_semiring<Value>(Semiring); \
  INSTANTIATE_TYPES(Value, std::int32_t)         \
  INSTANTIATE_TYPES(Value, std::int64_t)
SORTIE_SEMIRING_FOR_EACH_VALUE(INSTANTIATE)
SORTIE_SEMIRING_FOR_EACH_FLOAT16(INSTANTIATE)
#undef INSTANTIATE
#undef INSTANTIATE_TYPES

#ifndef SORTIE_HAVE_CUDA
#define INSTANTIATE_TYPES(Value, Idx)                                                              \
  template Csr<Value, Idx> cuda::semiring_product(                                                 \
      const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&, const ProductOptions<Idx>&); \
  template void cuda::semiring_values(const Context&, const Csr<Value, Idx>&,                      \
                                      const Csr<Value, Idx>&, Semiring, Csr<Value, Idx>&);
#define INSTANTIATE(Value)               \
  INSTANTIATE_TYPES(Value, std::int32_t) \
  INSTANTIATE_TYPES(Value, std::int64_t)
SORTIE_SEMIRING_FOR_EACH_VALUE(INSTANTIATE)
#undef INSTANTIATE
#undef INSTANTIATE_TYPES
#endif

}  // namespace sortie::spgemm
