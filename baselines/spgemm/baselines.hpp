// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What users would call instead of Sortie's SpGEMM, behind the same interface. CONTRIBUTING.md,
/// "Add a baseline", tells how to add one.
///
/// | name                      | runs on | what it is                                     | built if |
/// |---------------------------|---------|------------------------------------------------|----------|
/// | reference                 | host    | Gustavson's product, sequential                | always   |
/// | eigen                     | host    | Eigen's sparse product, sequential             | always   |
/// | esc                       | CUDA    | expansion, global sort by (row, column),       | CUDA     |
/// |                           |         | compression, as published; Sortie's kernels    |          |
/// | cusparse, cusparse-alg1,  | CUDA    | cuSPARSE generic SpGEMM                        | CUDA     |
/// | -alg2, -alg3              |         |                                                |          |
/// | cusparse-reuse            | CUDA    | cuSPARSE SpGEMMreuse: structure, then values   | CUDA     |
/// | cusp                      | CUDA    | CUSP's product                                 | found    |
/// | kokkos-kernels            | host    | KokkosSparse::spgemm                           | found    |
/// | graphblas                 | host    | GrB_mxm of SuiteSparse:GraphBLAS               | found    |
///
/// esc obeys the memory budget. The others do not; cuSPARSE fails if its work space exceeds it.
namespace sortie::spgemm::baselines {

/// Makes these baselines known to the functions of sortie/spgemm.hpp, in this order. Called first
/// in main().
void register_all();

}  // namespace sortie::spgemm::baselines
