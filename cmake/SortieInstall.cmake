# SPDX-License-Identifier: Apache-2.0

# Installs the library, the public headers, the program, and the files for find_package(Sortie) and pkg-config.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Sortie)
set(SORTIE_KOKKOS_INSTALLED ${CMAKE_INSTALL_LIBDIR}/sortie/kokkos)
set(SORTIE_SHARED ${BUILD_SHARED_LIBS})

set(targets ${SORTIE_INSTALLED_LIBRARY})
foreach(component IN LISTS SORTIE_COMPONENTS)
  list(APPEND targets sortie_component_${component})
endforeach()
install(TARGETS ${targets} EXPORT SortieTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sortie DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET sortie_program)
  install(TARGETS sortie_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # Benchmarks and peers are not needed, so a build of `sortie` alone can be installed.
  install(TARGETS sortie_bench_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)
endif()

# A Kokkos from the build folder is installed with a static library, which requires it at link time.
set(kokkos_flags "-lkokkoscore")
string(FIND "${Kokkos_DIR}" "${SORTIE_KOKKOS_BUILT}/" position)
if(position EQUAL 0 AND NOT BUILD_SHARED_LIBS)
  install(DIRECTORY ${SORTIE_KOKKOS_BUILT}/ DESTINATION ${SORTIE_KOKKOS_INSTALLED} USE_SOURCE_PERMISSIONS)
  set(kokkos_flags "-L\${libdir}/sortie/kokkos/lib -lkokkoscore")
elseif(Kokkos_DIR)
  get_filename_component(folder ${Kokkos_DIR}/../.. ABSOLUTE)
  set(kokkos_flags "-L${folder} -lkokkoscore")
endif()

install(EXPORT SortieTargets NAMESPACE Sortie:: DESTINATION ${package_folder})
configure_package_config_file(cmake/SortieConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/SortieConfig.cmake
  INSTALL_DESTINATION ${package_folder} PATH_VARS SORTIE_KOKKOS_INSTALLED)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/SortieConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/SortieConfig.cmake ${PROJECT_BINARY_DIR}/cmake/SortieConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/SortieKokkosTarget.cmake ${PROJECT_SOURCE_DIR}/cmake/SortieExternal.cmake
  DESTINATION ${package_folder})

# pkg-config: a static library is linked by `pkg-config --static --libs sortie`.
set(zstd_flags "")
if(SORTIE_HAVE_ZSTD)
  set(zstd_flags "-lzstd ")
endif()
set(SORTIE_PC_PRIVATE "-lfmt -lz -ldeflate ${zstd_flags}${kokkos_flags} -fopenmp -ldl -lpthread")
set(SORTIE_PC_CFLAGS "")
if(SORTIE_HAVE_CUDA)
  set(SORTIE_PC_CFLAGS " -I${CUDAToolkit_INCLUDE_DIRS}")
  string(APPEND SORTIE_PC_PRIVATE " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt")
endif()
file(RELATIVE_PATH SORTIE_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/sortie.pc.in ${PROJECT_BINARY_DIR}/cmake/sortie.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/sortie.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
