// SPDX-License-Identifier: Apache-2.0
#include "baselines/spgemm/baselines.hpp"

#include <vector>

#include "apps/spgemm/backends.hpp"
#include "apps/spgemm/baseline.hpp"

namespace sortie::spgemm::baselines {

// The functions of the baselines, each in the source of its name, for all types of
// SORTIE_SPGEMM_FOR_EACH_TYPE or SORTIE_SPGEMM_FOR_EACH_DEVICE_TYPE.

/// Sequential; the reference that all other implementations are tested against.
template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_reference(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b);

/// Eigen's sparse matrix product, sequential.
template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_eigen(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b);

/// Eigen on all threads: each thread multiplies blocks of rows of A. Bitwise equal to
/// multiply_eigen(). \pre the host runtime is running
/// Extra memory: copies of A, B and C.
template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_eigen_by_blocks(const Csr<Value, Idx>& a, const Csr<Value, Idx>& b);

/// KokkosSparse::spgemm, symbolic and numeric phase, then a sort of the rows.
/// \throws Error (unavailable) more than 2^31 - 1 entries in A, B or C
template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_kokkos_kernels(const HostContext& context, const Csr<Value, Idx>& a,
                                        const Csr<Value, Idx>& b);

/// GrB_mxm of SuiteSparse:GraphBLAS over (+, *), including the library's deferred work. Phases:
/// "import", copies A and B to arrays of the library with 64-bit offsets and columns; "product";
/// "export", copies C back. Extra memory: copies of A, B and C with 64-bit columns, and the work
/// space of the library. The first call initialises the library, which is finalised at the end of
/// the program. If the embedding program has already initialised it, it is set to the threads of
/// the host runtime and not finalised.
/// \throws std::bad_alloc  not enough memory
/// \throws Error (device)  a call of the library failed
/// Source: Davis, ACM TOMS 45 (2019) 44, and 49 (2023) 28.
template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_graphblas(const HostContext& context, const Csr<Value, Idx>& a,
                                   const Csr<Value, Idx>& b);

/// Expansion, global sort by (row, column), compression, as in CUSP; with Sortie's kernels.
/// Source: section 3.1 of Bell, Dalton, Olson (SISC 2012).
template <Scalar Value, Index Idx>
Csr<Value, Idx> multiply_esc(const Context& context, const Csr<Value, Idx>& a,
                             const Csr<Value, Idx>& b);
template <Scalar Value, Index Idx>
WorkSpace esc_work_space(const Context& context, const ProductSize& size);
template <class Value, class Column>
std::unique_ptr<DeviceBaseline<Value, Column>> prepare_esc(
    const DeviceContext& context, const cuda::DeviceCsrView<Value, Column>& a,
    const cuda::DeviceCsrView<Value, Column>& b);

/// cuSPARSE generic SpGEMM.
/// \param number  1 to 3: CUSPARSE_SPGEMM_ALG1 to ALG3; 0: CUSPARSE_SPGEMM_DEFAULT
/// \throws Error (unavailable) a size exceeds 2^31 - 1, or 64-bit columns
template <class Value, class Column>
std::unique_ptr<DeviceBaseline<Value, Column>> prepare_cusparse(
    const DeviceContext& context, const cuda::DeviceCsrView<Value, Column>& a,
    const cuda::DeviceCsrView<Value, Column>& b, int number);
/// cuSPARSE SpGEMMreuse: structure first, then values. \throws as prepare_cusparse()
template <class Value, class Column>
std::unique_ptr<DeviceBaseline<Value, Column>> prepare_cusparse_reuse(
    const DeviceContext& context, const cuda::DeviceCsrView<Value, Column>& a,
    const cuda::DeviceCsrView<Value, Column>& b);

/// CUSP's product: expansion, sorting and compression with Thrust. It uses the default stream and
/// allocates with cudaMalloc, so its work space is not part of the peak of the memory pool.
/// \throws Error (unavailable) complex values or 64-bit columns; a size exceeds 2^31 - 1
template <class Value, class Column>
std::unique_ptr<DeviceBaseline<Value, Column>> prepare_cusp(
    const DeviceContext& context, const cuda::DeviceCsrView<Value, Column>& a,
    const cuda::DeviceCsrView<Value, Column>& b);

namespace {

// Set by CMakeLists.txt to what this build has.
constexpr bool have_cuda = SORTIE_BASELINES_CUDA;
constexpr bool have_cusp = SORTIE_BASELINES_CUSP;
constexpr bool have_kokkos_kernels = SORTIE_BASELINES_KOKKOS_KERNELS;
constexpr bool have_graphblas = SORTIE_BASELINES_GRAPHBLAS;

/// The function, or null if the build lacks it.
template <bool Have, class Function>
auto if_built(Function function) {
  if constexpr (Have) {
    return function;
  } else {
    return nullptr;
  }
}

template <int Number>
constexpr auto cusparse = [](const DeviceContext& context, const auto& a, const auto& b) {
  return prepare_cusparse(context, a, b, Number);
};

// Builds without CUDA know the names of baselines on CUDA, so that errors say what is missing.
std::vector<Baseline> all() {
  return {
      {.name = "reference",
       .multiply = [](const Context&, const auto& a,
                      const auto& b) { return multiply_reference(a, b); }},
      {.name = "eigen",
       .multiply = [](const Context&, const auto& a,
                      const auto& b) { return multiply_eigen(a, b); },
       .multiply_on_all_threads = [](const Context&, const auto& a,
                                     const auto& b) { return multiply_eigen_by_blocks(a, b); }},
      {.name = "esc",
       .backend = Backend::cuda,
       .reports_phases = true,
       .multiply = if_built<have_cuda>([](const Context& context, const auto& a, const auto& b) {
         return multiply_esc(context, a, b);
       }),
       .work_space = if_built<have_cuda>([]<class Value, class Idx>(const Context& context,
                                                                    const ProductSize& size,
                                                                    OperandTypes<Value, Idx>) {
         return esc_work_space<Value, Idx>(context, size);
       }),
       .prepare = if_built<have_cuda>([](const DeviceContext& context, const auto& a,
                                         const auto& b) { return prepare_esc(context, a, b); })},
      {.name = "cusparse", .backend = Backend::cuda, .prepare = if_built<have_cuda>(cusparse<0>)},
      {.name = "cusparse-alg1",
       .backend = Backend::cuda,
       .prepare = if_built<have_cuda>(cusparse<1>)},
      {.name = "cusparse-alg2",
       .backend = Backend::cuda,
       .prepare = if_built<have_cuda>(cusparse<2>)},
      {.name = "cusparse-alg3",
       .backend = Backend::cuda,
       .prepare = if_built<have_cuda>(cusparse<3>)},
      {.name = "cusparse-reuse",
       .backend = Backend::cuda,
       .prepare =
           if_built<have_cuda>([](const DeviceContext& context, const auto& a, const auto& b) {
             return prepare_cusparse_reuse(context, a, b);
           }),
       .has_structure_step = true},
      {.name = "cusp",
       .backend = Backend::cuda,
       .missing = have_cusp ? "" : "CUSP that goes with its CUDA",
       .prepare = if_built<have_cusp>([](const DeviceContext& context, const auto& a,
                                         const auto& b) { return prepare_cusp(context, a, b); })},
      {.name = "kokkos-kernels",
       .missing = have_kokkos_kernels ? "" : "KokkosKernels that goes with its Kokkos",
       .reports_phases = true,
       .multiply =
           if_built<have_kokkos_kernels>([](const Context& context, const auto& a, const auto& b) {
             return multiply_kokkos_kernels(context, a, b);
           })},
      {.name = "graphblas",
       .missing = have_graphblas ? "" : "SuiteSparse:GraphBLAS",
       .reports_phases = true,
       .multiply =
           if_built<have_graphblas>([](const Context& context, const auto& a, const auto& b) {
             return multiply_graphblas(context, a, b);
           })},
  };
}

}  // namespace

void register_all() {
  static const std::vector<Baseline> list = all();
  register_baselines(list);
}

}  // namespace sortie::spgemm::baselines
