# SPDX-License-Identifier: Apache-2.0

# Kokkos::kokkos, in this order of preference:
#   1. the target of an enclosing project,
#   2. the installation named by Kokkos_DIR or Kokkos_ROOT,
#   3. an installation with host threads (OpenMP), found in CMAKE_PREFIX_PATH or the system,
#   4. the installation that cmake/build_kokkos.sh built in <build>/kokkos; SORTIE_FETCH_KOKKOS=ON runs the script,
#   5. an installation with Serial only, with a warning: everything on the host runs on one thread.
option(SORTIE_FETCH_KOKKOS "Build Kokkos into the build folder when none with OpenMP is installed" OFF)
set(SORTIE_KOKKOS_MINIMUM 3.4)
set(SORTIE_KOKKOS_BUILT ${PROJECT_BINARY_DIR}/kokkos)
include(SortieKokkosTarget)

# Version 3.4 requires this; it is correct for C++20 code without GNU extensions in any case.
set(CMAKE_CXX_EXTENSIONS OFF)

# Sets `devices` to the backends of the Kokkos configured in `folder`. They are read from the text of the package file:
# loading it would define its targets, which cannot be undone.
function(sortie_kokkos_devices folder devices)
  set(${devices} "" PARENT_SCOPE)
  foreach(file KokkosConfigCommon.cmake KokkosConfig.cmake)
    if(EXISTS ${folder}/${file})
      file(READ ${folder}/${file} content)
      if(content MATCHES "[sS][eE][tT]\\(Kokkos_DEVICES ([^)]*)\\)")
        string(TOUPPER "${CMAKE_MATCH_1}" found)
        set(${devices} ${found} PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
endfunction()

# Sets `result` to the package folder of the first Kokkos below `prefixes` whose backends match `pattern`. Versions with
# GPU backends are skipped: they require their own compiler for every source.
function(sortie_find_kokkos result pattern prefixes)
  set(${result} "" PARENT_SCOPE)
  foreach(prefix IN LISTS prefixes)
    file(GLOB files ${prefix}/lib*/cmake/Kokkos/KokkosConfig.cmake ${prefix}/lib/*/cmake/Kokkos/KokkosConfig.cmake)
    foreach(file IN LISTS files)
      get_filename_component(folder ${file} DIRECTORY)
      sortie_kokkos_devices(${folder} devices)
      if("${devices}" MATCHES "${pattern}" AND NOT "${devices}" MATCHES "CUDA|HIP|SYCL")
        set(${result} ${folder} PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endforeach()
endfunction()

function(sortie_locate_kokkos result)
  set(installed ${CMAKE_PREFIX_PATH} $ENV{CMAKE_PREFIX_PATH} ${CMAKE_SYSTEM_PREFIX_PATH})
  string(REPLACE ":" ";" installed "${installed}")
  # Other build folders of this tree use the Kokkos that quickstart built.
  set(built ${SORTIE_KOKKOS_BUILT} ${PROJECT_SOURCE_DIR}/build/kokkos)
  sortie_find_kokkos(folder "OPENMP|THREADS|HPX" "${Kokkos_ROOT};$ENV{Kokkos_ROOT};${installed};${built}")
  if(NOT folder AND SORTIE_FETCH_KOKKOS)
    execute_process(COMMAND ${PROJECT_SOURCE_DIR}/cmake/build_kokkos.sh ${SORTIE_KOKKOS_BUILT}
      RESULT_VARIABLE status)
    sortie_find_kokkos(folder "OPENMP" "${built}")
  endif()
  if(NOT folder)
    sortie_find_kokkos(folder "SERIAL" "${installed}")
  endif()
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

if(TARGET Kokkos::kokkos)
  set(SORTIE_KOKKOS_ORIGIN "the enclosing project")
else()
  # The result of an earlier configuration is discarded: a preferable Kokkos may have been installed since.
  if(NOT Kokkos_DIR OR Kokkos_DIR STREQUAL SORTIE_KOKKOS_LOCATED)
    sortie_locate_kokkos(folder)
    if(NOT folder)
      message(FATAL_ERROR
        "Sortie needs Kokkos ${SORTIE_KOKKOS_MINIMUM} or newer with OpenMP. Debian has no package of it. Either\n"
        "  run ./quickstart, which builds it from Debian's source package `trilinos`,\n"
        "  or run cmake/build_kokkos.sh ${SORTIE_KOKKOS_BUILT} (needs: apt-get install g++ cmake make),\n"
        "  or install Kokkos yourself (-DKokkos_ENABLE_OPENMP=ON) and pass -DKokkos_ROOT=PREFIX.")
    endif()
    set(Kokkos_DIR ${folder} CACHE PATH "Folder of KokkosConfig.cmake" FORCE)
    set(SORTIE_KOKKOS_LOCATED ${folder} CACHE INTERNAL "Kokkos_DIR as found, not as given")
  endif()
  find_package(Kokkos REQUIRED QUIET)
  if(Kokkos_VERSION VERSION_LESS SORTIE_KOKKOS_MINIMUM)
    message(FATAL_ERROR "Sortie needs Kokkos ${SORTIE_KOKKOS_MINIMUM} or newer; ${Kokkos_DIR} is ${Kokkos_VERSION}")
  endif()
  sortie_repair_kokkos()
  set(SORTIE_KOKKOS_ORIGIN ${Kokkos_DIR})
endif()

if(NOT "${Kokkos_DEVICES}" MATCHES "OPENMP|THREADS|HPX")
  message(WARNING
    "This Kokkos (${SORTIE_KOKKOS_ORIGIN}) has the backends \"${Kokkos_DEVICES}\" only: everything on the host will run "
    "on ONE thread. Run ./quickstart, or configure with -DSORTIE_FETCH_KOKKOS=ON, to get one with OpenMP.")
endif()
