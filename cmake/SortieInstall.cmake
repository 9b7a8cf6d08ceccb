# SPDX-License-Identifier: Apache-2.0

# Installs both libraries, the public headers, the program with its manual pages and completions, and the files for
# find_package(Sortie) and pkg-config. The components are those of which SortiePackages.cmake makes packages: runtime,
# development, program, and benchmarks and ranks, which are in no package.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Sortie)
set(SORTIE_KOKKOS_INSTALLED ${CMAKE_INSTALL_LIBDIR}/sortie/kokkos)
set(SORTIE_SHARED ${BUILD_SHARED_LIBS})

# The library of find_package(Sortie).
set(targets ${SORTIE_INSTALLED_LIBRARY})
foreach(component IN LISTS SORTIE_COMPONENTS)
  list(APPEND targets sortie_component_${component})
endforeach()
install(TARGETS ${targets} EXPORT SortieTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
if(NOT BUILD_SHARED_LIBS)
  # For programs in C and Python. Not required, so that a build of `sortie` alone can be installed.
  install(TARGETS sortie_shared
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development OPTIONAL)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sortie DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
if(TARGET sortie_program)
  install(TARGETS sortie_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  # Benchmarks and peers are not needed, so a build of `sortie` alone can be installed.
  install(TARGETS sortie_bench_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT benchmarks OPTIONAL)
  # In no package: each would ask for its MPI library.
  foreach(mpi IN LISTS SORTIE_MPI_LIBRARIES)
    install(TARGETS sortie_${mpi}_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ranks OPTIONAL)
  endforeach()
  include(SortieManual)
endif()

# A static library requires Kokkos at link time. One that was built into the build folder is installed with it; another one
# may share its folder with other software, which only the user knows.
set(SORTIE_KOKKOS_ORIGINAL "${Kokkos_DIR}")
set(kokkos_flags "-lkokkoscore")
set(bundles_kokkos OFF)
if(Kokkos_DIR)
  get_filename_component(kokkos_libraries ${Kokkos_DIR}/../.. ABSOLUTE)
  get_filename_component(kokkos_prefix ${kokkos_libraries} DIRECTORY)
  set(kokkos_flags "-L${kokkos_libraries} -lkokkoscore")
  foreach(built ${SORTIE_KOKKOS_BUILT} ${PROJECT_SOURCE_DIR}/build/kokkos)
    if(kokkos_prefix STREQUAL built AND NOT BUILD_SHARED_LIBS)
      set(bundles_kokkos ON)
    endif()
  endforeach()
endif()
option(SORTIE_INSTALL_KOKKOS "Install the folder of Kokkos, all of it, with Sortie" ${bundles_kokkos})
mark_as_advanced(SORTIE_INSTALL_KOKKOS)
if(SORTIE_INSTALL_KOKKOS AND Kokkos_DIR)
  get_filename_component(library_folder ${kokkos_libraries} NAME)
  install(DIRECTORY ${kokkos_prefix}/ DESTINATION ${SORTIE_KOKKOS_INSTALLED} COMPONENT development USE_SOURCE_PERMISSIONS)
  set(kokkos_flags "-L\${libdir}/sortie/kokkos/${library_folder} -lkokkoscore")
  set(SORTIE_KOKKOS_ORIGINAL "")
endif()

install(EXPORT SortieTargets NAMESPACE Sortie:: DESTINATION ${package_folder} COMPONENT development)
configure_package_config_file(cmake/SortieConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/SortieConfig.cmake
  INSTALL_DESTINATION ${package_folder} PATH_VARS SORTIE_KOKKOS_INSTALLED)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/SortieConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/SortieConfig.cmake ${PROJECT_BINARY_DIR}/cmake/SortieConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/SortieKokkosTarget.cmake ${PROJECT_SOURCE_DIR}/cmake/SortieExternal.cmake
  DESTINATION ${package_folder} COMPONENT development)

# pkg-config: `sortie` is linked as libsortie.so, since a linker prefers it, and `sortie-static` as libsortie.a with the
# libraries that it requires.
set(zstd_flags "")
if(SORTIE_HAVE_ZSTD)
  set(zstd_flags "-lzstd ")
endif()
set(simdjson_flags "")
if(SORTIE_HAVE_SIMDJSON)
  set(simdjson_flags "-lsimdjson ")
endif()
set(stemmer_flags "")
if(SORTIE_HAVE_STEMMER)
  set(stemmer_flags "-lstemmer ")
endif()
set(private_flags "-lfmt -lz -ldeflate ${zstd_flags}${simdjson_flags}${stemmer_flags}${kokkos_flags} -fopenmp -ldl -lpthread")
set(SORTIE_PC_CFLAGS "")
set(SORTIE_PC_CUDA "")
if(SORTIE_HAVE_CUDA)
  # As a variable, so that pkg-config --define-variable names another place.
  set(SORTIE_PC_CUDA "cuda=${CUDAToolkit_LIBRARY_ROOT}\n")
  file(RELATIVE_PATH cuda_headers "${CUDAToolkit_LIBRARY_ROOT}" "${CUDAToolkit_INCLUDE_DIRS}")
  file(RELATIVE_PATH cuda_libraries "${CUDAToolkit_LIBRARY_ROOT}" "${CUDAToolkit_LIBRARY_DIR}")
  set(SORTIE_PC_CFLAGS " -I\${cuda}/${cuda_headers}")
  string(APPEND private_flags " -L\${cuda}/${cuda_libraries} -lcudart_static -lrt")
endif()
file(RELATIVE_PATH SORTIE_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" SORTIE_PC_TO_PREFIX ${SORTIE_PC_TO_PREFIX})

# sortie_install_pc(NAME SUFFIX LIBS): NAME.pc.
function(sortie_install_pc name suffix libs)
  set(SORTIE_PC_SUFFIX "${suffix}")
  set(SORTIE_PC_LIBS "${libs}")
  configure_file(cmake/sortie.pc.in ${PROJECT_BINARY_DIR}/cmake/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/cmake/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()
sortie_install_pc(sortie "" "-L\${libdir} -lsortie")
if(NOT BUILD_SHARED_LIBS)
  sortie_install_pc(sortie-static ", static library" "\${libdir}/libsortie.a ${private_flags}")
endif()
