# SPDX-License-Identifier: Apache-2.0

# SuiteSparse:GraphBLAS, a baseline of SpGEMM. Sets SORTIE_HAVE_GRAPHBLAS.
#
# A test program checks that header and library match and provide the functions that are called. Version 7.4
# (libgraphblas-dev of Debian 12) does.
set(SORTIE_GRAPHBLAS AUTO CACHE STRING "Baseline GraphBLAS: AUTO (when header and library are found), ON or OFF")
set_property(CACHE SORTIE_GRAPHBLAS PROPERTY STRINGS AUTO ON OFF)
set(SORTIE_HAVE_GRAPHBLAS FALSE)

if(SORTIE_GRAPHBLAS)
  find_path(GRAPHBLAS_INCLUDE_DIR GraphBLAS.h PATH_SUFFIXES suitesparse)
  find_library(GRAPHBLAS_LIBRARY graphblas)
  mark_as_advanced(GRAPHBLAS_INCLUDE_DIR GRAPHBLAS_LIBRARY)
  if(GRAPHBLAS_INCLUDE_DIR AND GRAPHBLAS_LIBRARY)
    include(CMakePushCheckState)
    include(CheckCXXSourceCompiles)
    cmake_push_check_state(RESET)
    set(CMAKE_CXX_STANDARD 20)
    set(CMAKE_REQUIRED_INCLUDES ${GRAPHBLAS_INCLUDE_DIR})
    set(CMAKE_REQUIRED_LIBRARIES ${GRAPHBLAS_LIBRARY})
    check_cxx_source_compiles([[
      extern "C" {
      #include <GraphBLAS.h>
      }
      int main() {
        GrB_Matrix c = nullptr;
        GrB_Index* row_ptr = nullptr;
        GrB_Index* col_idx = nullptr;
        void* values = nullptr;
        bool iso = false;
        GrB_init(GrB_NONBLOCKING);
        GxB_Global_Option_set_INT32(static_cast<GxB_Option_Field>(GxB_GLOBAL_NTHREADS), 1);
        GrB_Matrix_new(&c, GxB_FC64, 1, 1);
        GxB_Matrix_Option_set_INT32(c, GxB_SPARSITY_CONTROL, GxB_SPARSE);
        GxB_Matrix_pack_CSR(c, &row_ptr, &col_idx, &values, 0, 0, 0, false, false, nullptr);
        GrB_mxm(c, nullptr, nullptr, GxB_PLUS_TIMES_FC64, c, c, nullptr);
        GrB_Matrix_wait(c, GrB_MATERIALIZE);
        GrB_Index sizes[3] = {};
        GxB_Matrix_unpack_CSR(c, &row_ptr, &col_idx, &values, sizes, sizes + 1, sizes + 2, &iso, nullptr, nullptr);
        GrB_Matrix_free(&c);
        return GrB_finalize();
      }]] SORTIE_GRAPHBLAS_FITS)
    unset(CMAKE_CXX_STANDARD)
    cmake_pop_check_state()
    set(SORTIE_HAVE_GRAPHBLAS ${SORTIE_GRAPHBLAS_FITS})
  endif()
  if(NOT SORTIE_HAVE_GRAPHBLAS AND SORTIE_GRAPHBLAS STREQUAL "ON")
    message(FATAL_ERROR
      "SORTIE_GRAPHBLAS=ON: no header and library of SuiteSparse:GraphBLAS were found that go together. "
      "On Debian: apt-get install libgraphblas-dev")
  endif()
endif()
