# SPDX-License-Identifier: Apache-2.0

# Debian packages, by CPack: the target `packages`, or `cpack` once everything below is built. docs/packages.md says what
# is in each. They are made on the release of Debian that they are for, with Kokkos of a folder of its own.
#   SORTIE_PACKAGES  what the configure summary says of the packages
# The address is a placeholder, of a domain that never exists (RFC 2606).
set(SORTIE_PACKAGE_MAINTAINER "The Sortie authors <sortie@sortie.invalid>" CACHE STRING
  "Name and address of who is responsible for the Debian packages")
find_program(SORTIE_DPKG_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(SORTIE_DPKG_SHLIBDEPS SORTIE_PACKAGE_MAINTAINER)
if(NOT SORTIE_DPKG_SHLIBDEPS OR NOT TARGET sortie_program OR BUILD_SHARED_LIBS)
  set(SORTIE_PACKAGES "no: they need dpkg-shlibdeps (Debian: apt-get install dpkg-dev), SORTIE_APPS and a static Sortie::sortie")
  return()
endif()

set(abi ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(package_of_runtime libsortie${abi})
set(package_of_development libsortie-dev)
set(package_of_program sortie)
set(package_of_python python3-sortie)
set(CPACK_COMPONENTS_ALL runtime development program)
set(python_source ${PROJECT_SOURCE_DIR}/bindings/python/sortie)
if(EXISTS ${python_source}/__init__.py)
  list(APPEND CPACK_COMPONENTS_ALL python)
  # Everywhere else, pip installs it.
  install(DIRECTORY ${python_source} DESTINATION lib/python3/dist-packages COMPONENT python EXCLUDE_FROM_ALL
    PATTERN __pycache__ EXCLUDE PATTERN "*.so" EXCLUDE)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sortie)
set(CPACK_PACKAGE_VENDOR "The Sortie authors")
set(CPACK_PACKAGE_CONTACT ${SORTIE_PACKAGE_MAINTAINER})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SOURCE sortie)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(full_version ${CPACK_DEBIAN_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})

# The first line of a description is its summary, so no summary of all packages is set.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(about "\
Sortie sorts on CPUs and NVIDIA GPUs: many segments of one array at once,
products of sparse matrices within a memory budget, suffix arrays of genomes
and other texts, and one array on several GPUs or beyond memory. Both
backends give the same results. No GPU and no CUDA package is needed.
")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "segmented sort, sparse products and suffix arrays
${about}
This package has the shared library, for programs in C, C++ and Python.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/runtime/triggers)

# What the static library requires at link time.
set(static_requirements "libfmt-dev, zlib1g-dev, libdeflate-dev")
if(SORTIE_HAVE_ZSTD)
  string(APPEND static_requirements ", libzstd-dev")
endif()
if(SORTIE_HAVE_SIMDJSON)
  string(APPEND static_requirements ", libsimdjson-dev")
endif()
if(SORTIE_HAVE_STEMMER)
  string(APPEND static_requirements ", libstemmer-dev")
endif()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${package_of_runtime} (= ${full_version}), ${static_requirements}")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "segmented sort, sparse products and suffix arrays (development)
${about}
This package has the headers for C and C++, the static library with the
Kokkos that it requires, and the files for CMake and pkg-config.")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "sort arrays, multiply sparse matrices, build suffix arrays
${about}
This package has the program. It reads and writes Matrix Market files,
sparse matrices of SciPy, FASTA, FASTQ and raw arrays.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "${package_of_runtime} (>= ${CPACK_DEBIAN_PACKAGE_VERSION}), python3 (>= 3.9), python3-numpy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS python3-scipy)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/cmake/debian/python/postinst ${PROJECT_SOURCE_DIR}/cmake/debian/python/prerm)
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "segmented sort, sparse products and suffix arrays (Python 3)
${about}
This package has the Python module, which works on arrays of NumPy and
sparse matrices of SciPy, and on arrays that are on a GPU.")

# Copyright and changelog, in the folder of every package.
set(SORTIE_KOKKOS_LICENSE BSD-3-clause)
file(READ ${PROJECT_SOURCE_DIR}/cmake/debian/kokkos_3_license SORTIE_KOKKOS_LICENSE_TEXT)
if(Kokkos_VERSION VERSION_GREATER_EQUAL 4)
  set(SORTIE_KOKKOS_LICENSE "Apache-2.0 with LLVM exception")
  set(SORTIE_KOKKOS_LICENSE_TEXT "")
endif()
string(STRIP "${SORTIE_KOKKOS_LICENSE_TEXT}" SORTIE_KOKKOS_LICENSE_TEXT)
set(SORTIE_COPYRIGHT_OF_CUDA "")
if(SORTIE_HAVE_CUDA)
  set(SORTIE_COPYRIGHT_OF_CUDA "\n They also contain the static CUDA runtime, under the licence of the CUDA Toolkit.")
endif()
# SOURCE_DATE_EPOCH makes it, and the packages, reproducible.
string(TIMESTAMP SORTIE_PACKAGE_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(cmake/debian/copyright.in ${PROJECT_BINARY_DIR}/debian/copyright @ONLY)
configure_file(cmake/debian/changelog.in ${PROJECT_BINARY_DIR}/debian/changelog @ONLY)
execute_process(COMMAND gzip -9nkf ${PROJECT_BINARY_DIR}/debian/changelog COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${PROJECT_BINARY_DIR}/debian/changelog.gz ${PROJECT_BINARY_DIR}/debian/changelog.Debian.gz)
set(package_names "")
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package_of_${component}})
  list(APPEND package_names ${package_of_${component}})
  install(FILES ${PROJECT_BINARY_DIR}/debian/copyright ${PROJECT_BINARY_DIR}/debian/changelog.Debian.gz
    DESTINATION share/doc/${package_of_${component}} COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
include(CPack)

# CPack's own target `package` would build all targets.
set(SORTIE_PACKAGE_FOLDER ${PROJECT_BINARY_DIR}/packages)
add_custom_target(packages
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${SORTIE_PACKAGE_FOLDER}
  COMMAND ${CMAKE_CPACK_COMMAND} -G DEB --config ${PROJECT_BINARY_DIR}/CPackConfig.cmake -B ${SORTIE_PACKAGE_FOLDER}
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${SORTIE_PACKAGE_FOLDER}/_CPack_Packages
  WORKING_DIRECTORY ${PROJECT_BINARY_DIR} VERBATIM COMMENT "Debian packages: ${SORTIE_PACKAGE_FOLDER}")
add_dependencies(packages sortie_program sortie_shared sortie_static sortie_manual)
list(JOIN package_names ", " SORTIE_PACKAGES)
if(Kokkos_DIR AND NOT SORTIE_INSTALL_KOKKOS AND NOT Kokkos_DIR MATCHES "^/usr/lib")
  string(APPEND SORTIE_PACKAGES "; libsortie-dev lacks Kokkos, which SORTIE_INSTALL_KOKKOS=ON installs")
endif()
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  string(APPEND SORTIE_PACKAGES "; CMAKE_INSTALL_PREFIX=/usr makes their library folder that of Debian")
endif()
