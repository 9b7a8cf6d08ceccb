// SPDX-License-Identifier: Apache-2.0
#include "sortie/spgemm.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/baseline.hpp"
#include "apps/spgemm/host/row_products.hpp"
#include "core/host_memory.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

#ifndef SORTIE_HAVE_CUDA

// Replaces the cuda/ folder.
namespace sortie::spgemm::cuda {

template <Scalar Value, Index Idx>
BackendFunctions<Value, Idx> functions() {
  throw Error(ErrorKind::unavailable, "SpGEMM on CUDA: " + why_no_cuda());
}

SORTIE_SPGEMM_FOR_EACH_TYPE(SORTIE_SPGEMM_INSTANTIATE_BACKEND)

}  // namespace sortie::spgemm::cuda

#endif

namespace sortie::spgemm {

// --- Names and choice of algorithms --------------------------------------------------------------

namespace {

constexpr std::array<std::string_view, 5> own_names{"auto", "essc", "fused", "row-wise", "pattern"};

/// The library's algorithms, and those of the program.
struct Algorithms {
  std::span<const Baseline> baselines;
  std::vector<Algorithm> all{Algorithm::automatic, Algorithm::essc, Algorithm::fused,
                             Algorithm::row_wise, Algorithm::pattern};
  // Those in this build, in the order of algorithms().
  std::vector<Algorithm> on_host{Algorithm::essc, Algorithm::row_wise};
  std::vector<Algorithm> on_cuda{Algorithm::fused, Algorithm::pattern, Algorithm::essc};

  std::vector<Algorithm>& on(Backend backend) {
    return backend == Backend::host ? on_host : on_cuda;
  }
};

Algorithms& known() {
  static Algorithms algorithms;
  return algorithms;
}

/// Separated by commas.
std::string names_of(const std::vector<Algorithm>& algorithms) {
  std::string names;
  for (const Algorithm algorithm : algorithms)
    names += (names.empty() ? "" : ", ") + std::string(name(algorithm));
  return names;
}

}  // namespace

bool runs_on(Backend backend, Algorithm algorithm) {
  if (algorithm == Algorithm::automatic) return true;
  const auto& list = known().on(backend);
  return std::find(list.begin(), list.end(), algorithm) != list.end();
}

void register_baselines(std::span<const Baseline> baselines) {
  known() = {};
  known().baselines = baselines;
  for (const Baseline& baseline : baselines) {
    const auto algorithm = static_cast<Algorithm>(known().all.size());
    known().all.push_back(algorithm);
    if (baseline.missing.empty()) known().on(baseline.backend).push_back(algorithm);
  }
}

const Baseline* find_baseline(Algorithm algorithm) {
  const auto number = static_cast<std::size_t>(algorithm);
  if (number < own_names.size() || number >= known().all.size()) return nullptr;
  return &known().baselines[number - own_names.size()];
}

Backend choose_backend(const Context& context, Algorithm algorithm) {
  const Baseline* const baseline = find_baseline(algorithm);
  if (baseline != nullptr && !baseline->missing.empty()) {
    throw Error(ErrorKind::unavailable,
                fmt::format("SpGEMM: algorithm {} is not in this build: CMake found no {}",
                            baseline->name, baseline->missing));
  }
  const bool on_host = runs_on(Backend::host, algorithm);
  const bool on_cuda = runs_on(Backend::cuda, algorithm);
  Context wanted = context;
  if (context.backend == Backend::automatic && !on_cuda) wanted.backend = Backend::host;
  if (context.backend == Backend::automatic && !on_host) wanted.backend = Backend::cuda;
  const Backend backend = resolve_backend(wanted);
  if (backend == Backend::host ? !on_host : !on_cuda) {
    throw Error(ErrorKind::unavailable,
                fmt::format("SpGEMM: algorithm {} does not run on the backend {}", name(algorithm),
                            name(backend)));
  }
  return backend;
}

Error not_on_cuda(Algorithm algorithm) {
  return {ErrorKind::unavailable,
          fmt::format("SpGEMM: found algorithm {}, expected one that runs on CUDA ({})",
                      name(algorithm), names_of(known().on_cuda))};
}

std::string_view name(Algorithm algorithm) {
  if (const Baseline* const baseline = find_baseline(algorithm)) return baseline->name;
  return own_names.at(static_cast<std::size_t>(algorithm));
}

std::string algorithm_names() {
  return names_of(known().all);
}

Algorithm parse_algorithm(std::string_view text) {
  for (const Algorithm algorithm : known().all)
    if (name(algorithm) == text) return algorithm;
  throw Error(ErrorKind::usage, fmt::format("algorithm: found {}, expected one of {}",
                                            sortie::quoted(text), algorithm_names()));
}

std::span<const Algorithm> algorithms(Backend backend) {
  if (backend == Backend::automatic) backend = resolve_backend(Context{});
  if (backend == Backend::host) return known().on_host;
  if (cuda_devices().empty()) return {};
  return known().on_cuda;
}

bool makes_chunks(Algorithm algorithm) {
  return find_baseline(algorithm) == nullptr;
}

// --- Products ------------------------------------------------------------------------------------

void check_shapes(std::int64_t rows_a, std::int64_t cols_a, std::int64_t rows_b,
                  std::int64_t cols_b) {
  if (cols_a == rows_b) return;
  throw Error(
      ErrorKind::input,
      fmt::format("A * B: found A of {} x {} and B of {} x {}, expected as many columns in A as "
                  "rows in B",
                  rows_a, cols_a, rows_b, cols_b));
}

std::string named_products(std::int64_t row, std::int64_t products) {
  return fmt::format("the {} products of row {} of C", products, row + 1);
}

namespace {

template <class Value, class Idx>
BackendFunctions<Value, Idx> functions_of(Backend backend) {
  return backend == Backend::cuda ? cuda::functions<Value, Idx>() : host::functions<Value, Idx>();
}

/// \tparam Matrix  Csr or Pattern
template <class Matrix>
std::int64_t products_of(const Matrix& a, const Matrix& b) {
  check_shapes(a, b);
  std::int64_t products = 0;
  for (const std::int64_t k : a.col_idx) products += b.row_ptr[k + 1] - b.row_ptr[k];
  return products;
}

/// Bytes of the entries of C at most: one per scalar product.
template <class Value, class Idx>
std::uint64_t max_entry_bytes(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  return static_cast<std::uint64_t>(count_products(a, b)) * (sizeof(Value) + sizeof(Idx));
}

template <class Matrix>
void report_figures(const Context& context, const Matrix& a, const Matrix& b, std::int64_t nnz_c) {
  if (context.report == nullptr) return;
  context.report->set("products", products_of(a, b));
  context.report->set("nnz_c", nnz_c);
}

template <class Value, class Idx>
std::uint64_t csr_bytes(std::int64_t rows, std::int64_t nnz) {
  return sizeof(std::int64_t) * (static_cast<std::uint64_t>(rows) + 1) +
         (sizeof(Idx) + sizeof(Value)) * static_cast<std::uint64_t>(nnz);
}

}  // namespace

template <Scalar Value, Index Idx>
std::int64_t count_products(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  return products_of(a, b);
}

template <Index Idx>
std::int64_t count_products(const Pattern<Idx>& a, const Pattern<Idx>& b) {
  return products_of(a, b);
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                         Algorithm algorithm) {
  return multiply_part(context, a, b, nullptr, algorithm);
}

template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_part(const Context& context, const Csr<Value, Idx>& a,
                              const Csr<Value, Idx>& b, const WholeProduct* whole,
                              Algorithm algorithm) {
  check_shapes(a, b);
  const Backend backend = choose_backend(context, algorithm);
  const Baseline* const baseline = find_baseline(algorithm);
  const auto by_baseline = baseline != nullptr ? baseline->multiply.of<Value, Idx>() : nullptr;
  try {
    const auto of_backend = functions_of<Value, Idx>(backend);
    Csr<Value, Idx> c = by_baseline != nullptr ? by_baseline(context, a, b)
                        : of_backend.multiply_part == nullptr
                            ? of_backend.multiply(context, a, b, algorithm)
                            : of_backend.multiply_part(context, a, b, whole, algorithm);
    report_figures(context, a, b, c.nnz());
    return c;
  } catch (const std::bad_alloc&) {
    throw out_of_memory_error("A * B, at most,", max_entry_bytes(a, b), host_memory_available());
  }
}

template <Scalar Value, Index Idx>
void multiply_in_chunks(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                        const std::type_identity_t<ProductSink<Value, Idx>>& sink,
                        Algorithm algorithm) {
  check_shapes(a, b);
  const Backend backend = choose_backend(context, algorithm);
  std::int64_t nnz = 0;
  const ProductSink<Value, Idx> counting = [&](Csr<Value, Idx>& rows) {
    nnz += rows.nnz();
    sink(rows);
  };
  try {
    if (a.nnz() == 0 || b.nnz() == 0) {  // C has no entries and is one chunk
      Csr<Value, Idx> c{a.rows, b.cols, std::vector<std::int64_t>(a.row_ptr.size(), 0), {}, {}};
      if (c.rows != 0) counting(c);
    } else if (!makes_chunks(algorithm)) {
      Csr<Value, Idx> c = multiply(context, a, b, algorithm);
      if (c.rows != 0) counting(c);
    } else {
      functions_of<Value, Idx>(backend).multiply_in_chunks(context, a, b, counting, algorithm);
    }
  } catch (const std::bad_alloc&) {
    throw out_of_memory_error("a chunk of A * B, at most,", max_entry_bytes(a, b),
                              host_memory_available());
  }
  report_figures(context, a, b, nnz);
}

template <Scalar Value, Index Idx>
void multiply_arriving(const Context& context, const Csr<Value, Idx>& a, const Csr<Value, Idx>& b,
                       const std::type_identity_t<ArrivingSink<Value, Idx>>& sink,
                       Algorithm algorithm) {
  check_shapes(a, b);
  const Backend backend = choose_backend(context, algorithm);
  const auto arriving = functions_of<Value, Idx>(backend).multiply_arriving;
  if (arriving == nullptr || !makes_chunks(algorithm) || a.nnz() == 0 || b.nnz() == 0) {
    Csr<Value, Idx> c = multiply(context, a, b, algorithm);
    sink({c.rows, c.cols, ArrivingArray<std::int64_t>(std::move(c.row_ptr)),
          ArrivingArray<Idx>(std::move(c.col_idx)), ArrivingArray<Value>(std::move(c.values))});
    return;
  }
  std::int64_t nnz = 0;
  arriving(
      context, a, b,
      [&](matrices::ArrivingRows<Value, Idx> rows) {
        nnz += rows.nnz();
        sink(std::move(rows));
      },
      algorithm);
  report_figures(context, a, b, nnz);
}

template <Index Idx>
Pattern<Idx> multiply_structure(const Context& context, const Pattern<Idx>& a,
                                const Pattern<Idx>& b, Algorithm algorithm) {
  const std::int64_t products = products_of(a, b);
  const bool by_rows = algorithm == Algorithm::automatic || algorithm == Algorithm::row_wise;
  const bool on_host = choose_backend(context, algorithm) == Backend::host;
  try {
    if (on_host && by_rows) {
      if (std::optional<Pattern<Idx>> c = host::multiply_structure(context, a, b)) {
        report_figures(context, a, b, c->nnz());
        return std::move(*c);
      }
    }
    // float is the smallest value type; the values are discarded.
    const auto ones_a = matrices::with_ones<float>(a);
    return matrices::pattern_of(
        &a == &b ? multiply(context, ones_a, ones_a, algorithm)
                 : multiply(context, ones_a, matrices::with_ones<float>(b), algorithm));
  } catch (const std::bad_alloc&) {
    throw out_of_memory_error("the structure of A * B, at most,", products * sizeof(Idx),
                              host_memory_available());
  }
}

template <Index Idx>
Pattern<Idx> multiply_part(const Context& context, const Pattern<Idx>& a, const Pattern<Idx>& b,
                           const WholeProduct* /*whole*/, Algorithm algorithm) {
  return multiply_structure(context, a, b, algorithm);
}

template <Scalar Value, Index Idx>
ProductSize product_size(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b) {
  ProductSize size{.rows = a.rows,
                   .cols = b.cols,
                   .nnz_a = a.nnz(),
                   .nnz_b = b.nnz(),
                   .products = products_of(a, b)};
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const std::int64_t products = host::products_of_row(a, b, row);
    if (row == 0 || products > size.longest_row_products) {
      size.longest_row = row;
      size.longest_row_products = products;
    }
    size.nnz_c_bound += std::min(products, b.cols);
  }
  size.bytes_a = csr_bytes<Value, Idx>(a.rows, a.nnz());
  size.bytes_b = csr_bytes<Value, Idx>(b.rows, b.nnz());
  size.bytes_c_bound = csr_bytes<Value, Idx>(size.rows, size.nnz_c_bound);
  return size;
}

template <Scalar Value, Index Idx>
std::optional<WorkSpace> work_space(const Context& context, const ProductSize& size,
                                    Algorithm algorithm) {
  const Backend backend = choose_backend(context, algorithm);
  if (const Baseline* const baseline = find_baseline(algorithm)) {
    const auto by_baseline = baseline->work_space.of<Value, Idx>();
    if (by_baseline == nullptr) return std::nullopt;
    return by_baseline(context, size, OperandTypes<Value, Idx>{});
  }
  return functions_of<Value, Idx>(backend).work_space(context, size, algorithm);
}

#define INSTANTIATE(Value, Idx)                                                                    \
  template std::int64_t count_products(const Csr<Value, Idx>&, const Csr<Value, Idx>&);            \
  template Csr<Value, Idx> multiply(const Context&, const Csr<Value, Idx>&,                        \
                                    const Csr<Value, Idx>&, Algorithm);                            \
  template Csr<Value, Idx> multiply_part(const Context&, const Csr<Value, Idx>&,                   \
                                         const Csr<Value, Idx>&, const WholeProduct*, Algorithm);  \
  template void multiply_in_chunks(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&, \
                                   const std::type_identity_t<ProductSink<Value, Idx>>&,           \
                                   Algorithm);                                                     \
  template void multiply_arriving(const Context&, const Csr<Value, Idx>&, const Csr<Value, Idx>&,  \
                                  const std::type_identity_t<ArrivingSink<Value, Idx>>&,           \
                                  Algorithm);                                                      \
  template ProductSize product_size(const Csr<Value, Idx>&, const Csr<Value, Idx>&);               \
  template std::optional<WorkSpace> work_space<Value, Idx>(const Context&, const ProductSize&,     \
                                                           Algorithm);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(Idx)                                                                        \
  template std::int64_t count_products(const Pattern<Idx>&, const Pattern<Idx>&);               \
  template Pattern<Idx> multiply_structure(const Context&, const Pattern<Idx>&,                 \
                                           const Pattern<Idx>&, Algorithm);                     \
  template Pattern<Idx> multiply_part(const Context&, const Pattern<Idx>&, const Pattern<Idx>&, \
                                      const WholeProduct*, Algorithm);
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
#undef INSTANTIATE

}  // namespace sortie::spgemm
