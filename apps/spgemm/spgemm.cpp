// SPDX-License-Identifier: Apache-2.0
#include "sortie/spgemm.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <new>

#include "apps/spgemm/backends.hpp"
#include "core/host_memory.hpp"
#include "sortie/devices.hpp"
#include "sortie/error.hpp"
#include "sortie/run_report.hpp"

namespace sortie::spgemm {

namespace {

struct NamedAlgorithm {
  Algorithm algorithm;
  std::string_view name;
};

constexpr std::array names{
    NamedAlgorithm{Algorithm::automatic, "auto"},
    NamedAlgorithm{Algorithm::essc, "essc"},
    NamedAlgorithm{Algorithm::fused, "fused"},
    NamedAlgorithm{Algorithm::row_wise, "row-wise"},
    NamedAlgorithm{Algorithm::reference, "reference"},
    NamedAlgorithm{Algorithm::eigen, "eigen"},
    NamedAlgorithm{Algorithm::esc, "esc"},
    NamedAlgorithm{Algorithm::cusparse_default, "cusparse"},
    NamedAlgorithm{Algorithm::cusparse_alg1, "cusparse-alg1"},
    NamedAlgorithm{Algorithm::cusparse_alg2, "cusparse-alg2"},
    NamedAlgorithm{Algorithm::cusparse_alg3, "cusparse-alg3"},
    NamedAlgorithm{Algorithm::cusparse_reuse, "cusparse-reuse"},
    NamedAlgorithm{Algorithm::cusp, "cusp"},
    NamedAlgorithm{Algorithm::kokkos_kernels, "kokkos-kernels"},
    NamedAlgorithm{Algorithm::graphblas, "graphblas"},
};

constexpr std::array host_algorithms{
    Algorithm::essc,           Algorithm::row_wise, Algorithm::reference, Algorithm::eigen,
#ifdef SORTIE_HAVE_KOKKOS_KERNELS
    Algorithm::kokkos_kernels,
#endif
#ifdef SORTIE_HAVE_GRAPHBLAS
    Algorithm::graphblas,
#endif
};
constexpr std::array cuda_algorithms{
    Algorithm::fused,         Algorithm::essc,
    Algorithm::esc,           Algorithm::cusparse_default,
    Algorithm::cusparse_alg1, Algorithm::cusparse_alg2,
    Algorithm::cusparse_alg3, Algorithm::cusparse_reuse,
#ifdef SORTIE_HAVE_CUSP
    Algorithm::cusp,
#endif
};

bool is_one_of(std::span<const Algorithm> list, Algorithm algorithm) {
  return std::find(list.begin(), list.end(), algorithm) != list.end();
}

}  // namespace

Backend choose_backend(const Context& context, Algorithm algorithm) {
  const auto require_built = [&](std::span<const Algorithm> built, Algorithm library,
                                 const char* reason) {
    if (algorithm != library || is_one_of(built, library)) return;
    throw Error(ErrorKind::unavailable,
                fmt::format("SpGEMM: algorithm {} is not in this build: CMake found no {}",
                            name(library), reason));
  };
  require_built(host_algorithms, Algorithm::kokkos_kernels,
                "KokkosKernels that goes with its Kokkos");
  require_built(host_algorithms, Algorithm::graphblas, "SuiteSparse:GraphBLAS");
  require_built(cuda_algorithms, Algorithm::cusp, "CUSP that goes with its CUDA");
  const bool on_host = algorithm == Algorithm::automatic || is_one_of(host_algorithms, algorithm);
  const bool on_cuda = algorithm == Algorithm::automatic || is_one_of(cuda_algorithms, algorithm);
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

Error shapes_error(std::int64_t rows_a, std::int64_t cols_a, std::int64_t rows_b,
                   std::int64_t cols_b) {
  return {
      ErrorKind::input,
      fmt::format("A * B: found A of {} x {} and B of {} x {}, expected as many columns in A as "
                  "rows in B",
                  rows_a, cols_a, rows_b, cols_b)};
}

namespace {

template <class Matrix>
void check_shapes(const Matrix& a, const Matrix& b) {
  if (a.cols == b.rows) return;
  throw shapes_error(a.rows, a.cols, b.rows, b.cols);
}

template <class Matrix>
Matrix multiply_on_host(const Context& context, const Matrix& a, const Matrix& b,
                        Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::essc:
      return host::multiply_essc(context, a, b);
    case Algorithm::reference:
      return baselines::multiply_reference(a, b);
    case Algorithm::eigen:
      return baselines::multiply_eigen(a, b);
#ifdef SORTIE_HAVE_KOKKOS_KERNELS
    case Algorithm::kokkos_kernels:
      return baselines::multiply_kokkos_kernels(context, a, b);
#endif
#ifdef SORTIE_HAVE_GRAPHBLAS
    case Algorithm::graphblas:
      return baselines::multiply_graphblas(context, a, b);
#endif
    default:
      return host::multiply_row_wise(context, a, b);
  }
}

}  // namespace

std::string_view name(Algorithm algorithm) {
  return std::find_if(names.begin(), names.end(),
                      [&](const NamedAlgorithm& named) { return named.algorithm == algorithm; })
      ->name;
}

Algorithm parse_algorithm(std::string_view text) {
  std::string known;
  for (const NamedAlgorithm& named : names) {
    if (named.name == text) return named.algorithm;
    known += known.empty() ? "" : ", ";
    known += named.name;
  }
  throw Error(ErrorKind::usage,
              fmt::format("algorithm: found {}, expected one of {}", quoted(text), known));
}

std::span<const Algorithm> algorithms(Backend backend) {
  if (backend == Backend::automatic) backend = resolve_backend(Context{});
  if (backend == Backend::host) return host_algorithms;
  if (cuda_devices().empty()) return {};
  return cuda_algorithms;
}

template <matrices::Scalar Value, matrices::Index Idx>
std::int64_t count_products(const matrices::Csr<Value, Idx>& a,
                            const matrices::Csr<Value, Idx>& b) {
  check_shapes(a, b);
  std::int64_t products = 0;
  for (const std::int64_t k : a.col_idx) products += b.row_ptr[k + 1] - b.row_ptr[k];
  return products;
}

template <matrices::Scalar Value, matrices::Index Idx>
matrices::Csr<Value, Idx> multiply(const Context& context, const matrices::Csr<Value, Idx>& a,
                                   const matrices::Csr<Value, Idx>& b, Algorithm algorithm) {
  check_shapes(a, b);
  const Backend backend = choose_backend(context, algorithm);
  try {
    matrices::Csr<Value, Idx> c = backend == Backend::cuda
                                      ? cuda::multiply(context, a, b, algorithm)
                                      : multiply_on_host(context, a, b, algorithm);
    if (context.report != nullptr) {
      context.report->set("products", count_products(a, b));
      context.report->set("nnz_c", c.nnz());
    }
    return c;
  } catch (const std::bad_alloc&) {
    // C has at most one entry per scalar product.
    throw out_of_memory_error("A * B, at most,",
                              count_products(a, b) * (sizeof(Value) + sizeof(Idx)),
                              host_memory_available());
  }
}

#define INSTANTIATE(Value, Idx)                                                         \
  template std::int64_t count_products(const Csr<Value, Idx>&, const Csr<Value, Idx>&); \
  template Csr<Value, Idx> multiply(const Context&, const Csr<Value, Idx>&,             \
                                    const Csr<Value, Idx>&, Algorithm);
SORTIE_SPGEMM_FOR_EACH_TYPE(INSTANTIATE)
#undef INSTANTIATE

}  // namespace sortie::spgemm
