# SPDX-License-Identifier: Apache-2.0

# Used by the build and by the installed package: corrects Kokkos::kokkos of find_package(Kokkos).
macro(sortie_repair_kokkos)
  # Debian's 3.4.1 names an include folder that does not exist; a variable holds the correct one.
  get_target_property(_sortie_folders Kokkos::kokkos INTERFACE_INCLUDE_DIRECTORIES)
  foreach(_sortie_folder IN LISTS _sortie_folders)
    if(IS_ABSOLUTE "${_sortie_folder}" AND NOT EXISTS "${_sortie_folder}/Kokkos_Core.hpp"
       AND EXISTS "${Kokkos_INCLUDE_DIRS}/Kokkos_Core.hpp")
      set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Kokkos_INCLUDE_DIRS}")
    endif()
  endforeach()
  # Kokkos adds -fopenmp only if the C++ compiler drives the linker, which is not so for programs with CUDA code.
  if("${Kokkos_DEVICES}" MATCHES "OPENMP")
    target_link_options(Kokkos::kokkos INTERFACE $<$<LINK_LANGUAGE:CUDA>:-fopenmp>)
  endif()
endmacro()
