# Used by the build and by the installed package: makes Kokkos::kokkos of find_package(Kokkos) usable.
macro(sortie_repair_kokkos)
  # Debian's 3.4.1 names an include folder that does not exist; the true one is in a variable.
  get_target_property(_sortie_folders Kokkos::kokkos INTERFACE_INCLUDE_DIRECTORIES)
  foreach(_sortie_folder IN LISTS _sortie_folders)
    if(IS_ABSOLUTE "${_sortie_folder}" AND NOT EXISTS "${_sortie_folder}/Kokkos_Core.hpp"
       AND EXISTS "${Kokkos_INCLUDE_DIRS}/Kokkos_Core.hpp")
      set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Kokkos_INCLUDE_DIRS}")
    endif()
  endforeach()
  # Kokkos asks for -fopenmp only where the linker is driven by C++; programs with CUDA code are not.
  if("${Kokkos_DEVICES}" MATCHES "OPENMP")
    target_link_options(Kokkos::kokkos INTERFACE $<$<LINK_LANGUAGE:CUDA>:-fopenmp>)
  endif()
endmacro()
