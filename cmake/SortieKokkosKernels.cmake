# SPDX-License-Identifier: Apache-2.0

# KokkosKernels, a baseline of SpGEMM. Sets SORTIE_HAVE_KOKKOS_KERNELS and SORTIE_KOKKOS_KERNELS_FLAGS, the flags of
# the only source that includes it.
#
# Only its headers are used, with the Kokkos of this build. Its package files would add the Kokkos that it was built
# with (Debian's is single-threaded), and two versions of Kokkos in one program conflict. A test program checks that the
# headers and Kokkos are compatible, as are Kokkos 3.4 and libtrilinos-kokkos-kernels-dev of Debian 12.
set(SORTIE_KOKKOS_KERNELS AUTO CACHE STRING "Baseline KokkosKernels: AUTO (when its headers go with Kokkos), ON or OFF")
set_property(CACHE SORTIE_KOKKOS_KERNELS PROPERTY STRINGS AUTO ON OFF)
set(SORTIE_HAVE_KOKKOS_KERNELS FALSE)

if(SORTIE_KOKKOS_KERNELS)
  find_path(KOKKOS_KERNELS_INCLUDE_DIR KokkosSparse_spgemm.hpp PATH_SUFFIXES trilinos kokkos-kernels)
  mark_as_advanced(KOKKOS_KERNELS_INCLUDE_DIR)
  if(KOKKOS_KERNELS_INCLUDE_DIR)
    # Searched last, so that a Kokkos next to these headers does not precede that of the build.
    set(SORTIE_KOKKOS_KERNELS_FLAGS -idirafter ${KOKKOS_KERNELS_INCLUDE_DIR})
    include(CMakePushCheckState)
    include(CheckCXXSourceCompiles)
    cmake_push_check_state(RESET)
    set(CMAKE_CXX_STANDARD 20)
    list(JOIN SORTIE_KOKKOS_KERNELS_FLAGS " " CMAKE_REQUIRED_FLAGS)
    set(CMAKE_REQUIRED_LIBRARIES Kokkos::kokkos)
    check_cxx_source_compiles([[
      #include <Kokkos_Core.hpp>
      #include <KokkosKernels_Handle.hpp>
      #include <KokkosSparse_spgemm.hpp>
      #include <cstdint>
      using Space = Kokkos::DefaultHostExecutionSpace;
      using Handle = KokkosKernels::Experimental::KokkosKernelsHandle<std::int64_t, std::int32_t, double, Space,
                                                                      Kokkos::HostSpace, Kokkos::HostSpace>;
      int main() {
        Kokkos::View<std::int64_t*, Kokkos::LayoutLeft, Kokkos::HostSpace> row_ptr("row_ptr", 2);
        Kokkos::View<std::int32_t*, Kokkos::LayoutLeft, Kokkos::HostSpace> col_idx("col_idx", 1);
        Handle handle;
        handle.create_spgemm_handle(KokkosSparse::SPGEMM_KK);
        KokkosSparse::Experimental::spgemm_symbolic(&handle, 1, 1, 1, row_ptr, col_idx, false, row_ptr, col_idx,
                                                    false, row_ptr);
      }]] SORTIE_KOKKOS_KERNELS_FITS)
    unset(CMAKE_CXX_STANDARD)
    cmake_pop_check_state()
    set(SORTIE_HAVE_KOKKOS_KERNELS ${SORTIE_KOKKOS_KERNELS_FITS})
  endif()
  if(NOT SORTIE_HAVE_KOKKOS_KERNELS AND SORTIE_KOKKOS_KERNELS STREQUAL "ON")
    message(FATAL_ERROR
      "SORTIE_KOKKOS_KERNELS=ON: no headers of KokkosKernels were found that compile with Kokkos ${Kokkos_VERSION}. "
      "On Debian: apt-get install libtrilinos-kokkos-kernels-dev")
  endif()
endif()
