# SPDX-License-Identifier: Apache-2.0

# CUSP, a baseline of SpGEMM on CUDA: headers that neither Debian nor the CUDA toolkit packages. Sets SORTIE_HAVE_CUSP.
#
# A test compilation checks that the headers are compatible with the Thrust of the toolkit. What CUSP 0.6.1 needs and
# CUDA 13 lacks is in cusp_for_cuda13.cuh.
set(SORTIE_CUSP AUTO CACHE STRING "Baseline CUSP: AUTO (when its headers go with CUDA), ON or OFF")
set_property(CACHE SORTIE_CUSP PROPERTY STRINGS AUTO ON OFF)
set(SORTIE_HAVE_CUSP FALSE)

if(SORTIE_HAVE_CUDA AND SORTIE_CUSP)
  find_path(CUSP_INCLUDE_DIR cusp/csr_matrix.h)
  mark_as_advanced(CUSP_INCLUDE_DIR)
  if(CUSP_INCLUDE_DIR)
    include(CMakePushCheckState)
    include(CheckSourceCompiles)
    cmake_push_check_state(RESET)
    set(CMAKE_REQUIRED_FLAGS -std=c++20)
    set(CMAKE_REQUIRED_INCLUDES ${CUSP_INCLUDE_DIR} ${PROJECT_SOURCE_DIR})
    check_source_compiles(CUDA [[
      #include "baselines/spgemm/cuda/cusp_for_cuda13.cuh"
      #include <cusp/csr_matrix.h>
      #include <cusp/multiply.h>
      int main() {
        cusp::csr_matrix<int, double, cusp::device_memory> a(1, 1, 1), c;
        cusp::multiply(a, a, c);
        return static_cast<int>(c.num_entries);
      }]] SORTIE_CUSP_FITS)
    cmake_pop_check_state()
    set(SORTIE_HAVE_CUSP ${SORTIE_CUSP_FITS})
  endif()
  if(NOT SORTIE_HAVE_CUSP AND SORTIE_CUSP STREQUAL "ON")
    message(FATAL_ERROR "SORTIE_CUSP=ON: no headers of CUSP were found (CUSP_INCLUDE_DIR) that compile with this CUDA")
  endif()
endif()
