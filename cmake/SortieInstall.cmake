# Installs the libraries, their headers, the program and the package for find_package(Sortie).
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Sortie)
set(SORTIE_KOKKOS_INSTALLED ${CMAKE_INSTALL_LIBDIR}/sortie/kokkos)

get_property(libraries GLOBAL PROPERTY SORTIE_LIBRARIES)
list(REMOVE_ITEM libraries sortie_bench) # part of the program, like apps/cli
install(TARGETS ${libraries} EXPORT SortieTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET sortie)
  install(TARGETS sortie RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(rooms core segsort multisort matrices sequences)
if(SORTIE_APPS)
  list(APPEND rooms apps)
endif()
foreach(room IN LISTS rooms)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sortie/${room}
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh" PATTERN cli EXCLUDE PATTERN bench EXCLUDE
    PATTERN sample EXCLUDE)
endforeach()

# A Kokkos from the build folder goes along: the static libraries need it wherever they are linked.
string(FIND "${Kokkos_DIR}" "${SORTIE_KOKKOS_BUILT}/" position)
if(position EQUAL 0)
  install(DIRECTORY ${SORTIE_KOKKOS_BUILT}/ DESTINATION ${SORTIE_KOKKOS_INSTALLED} USE_SOURCE_PERMISSIONS)
endif()

install(EXPORT SortieTargets NAMESPACE Sortie:: DESTINATION ${package_folder})
configure_package_config_file(cmake/SortieConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/SortieConfig.cmake
  INSTALL_DESTINATION ${package_folder} PATH_VARS SORTIE_KOKKOS_INSTALLED)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/SortieConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/SortieConfig.cmake ${PROJECT_BINARY_DIR}/cmake/SortieConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/SortieKokkosTarget.cmake DESTINATION ${package_folder})
