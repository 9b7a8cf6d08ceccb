# What this build contains, on one screen.
function(sortie_summary)
  if(SORTIE_HAVE_CUDA)
    set(cuda "${CUDAToolkit_VERSION} for architectures ${CMAKE_CUDA_ARCHITECTURES} (${CMAKE_CUDA_COMPILER})")
  else()
    set(cuda "no: ${SORTIE_NO_CUDA_REASON}")
  endif()
  list(JOIN Kokkos_DEVICES ", " devices)
  get_property(libraries GLOBAL PROPERTY SORTIE_LIBRARIES)
  list(TRANSFORM libraries REPLACE "^sortie_" "")
  list(JOIN libraries ", " libraries)
  set(versions "fmt ${fmt_VERSION}, nlohmann-json ${nlohmann_json_VERSION}, zlib ${ZLIB_VERSION_STRING}")
  if(SORTIE_APPS)
    string(APPEND versions ", CLI11 ${CLI11_VERSION}, Eigen ${Eigen3_VERSION}, libdivsufsort (${DIVSUFSORT_LIBRARY})")
  endif()
  if(SORTIE_HAVE_KOKKOS_KERNELS)
    string(APPEND versions ", KokkosKernels (${KOKKOS_KERNELS_INCLUDE_DIR})")
  endif()
  if(SORTIE_HAVE_GRAPHBLAS)
    string(APPEND versions ", GraphBLAS (${GRAPHBLAS_LIBRARY})")
  endif()
  if(SORTIE_HAVE_CUSP)
    string(APPEND versions ", CUSP (${CUSP_INCLUDE_DIR})")
  endif()
  set(tests no)
  if(SORTIE_TESTS)
    set(tests "yes (GoogleTest ${GTest_VERSION})")
  endif()
  message(STATUS "Sortie ${PROJECT_VERSION} (${SORTIE_COMMIT})
     build type      ${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, sanitizers ${SORTIE_SANITIZE}
     host backend    Kokkos ${Kokkos_VERSION} (${devices}), ${SORTIE_KOKKOS_ORIGIN}
     CUDA backend    ${cuda}
     libraries       ${libraries}
     applications    ${SORTIE_APPS}
     dependencies    ${versions}
     tests           ${tests}")
endfunction()
sortie_summary()
