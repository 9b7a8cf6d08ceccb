# SPDX-License-Identifier: Apache-2.0

# Libraries that have no CMake package everywhere, found by their header and their name. This file is installed as well:
# users of a static Sortie link the same libraries.

# sortie_find_external(NAME HEADER LIBRARY): the imported target SortieExternal::NAME, if the library is found.
# The file is SORTIE_<NAME>_LIBRARY.
function(sortie_find_external name header library)
  string(TOUPPER ${name} prefix)
  set(prefix SORTIE_${prefix})
  find_path(${prefix}_INCLUDE_DIR ${header})
  find_library(${prefix}_LIBRARY ${library})
  mark_as_advanced(${prefix}_INCLUDE_DIR ${prefix}_LIBRARY)
  if(${prefix}_INCLUDE_DIR AND ${prefix}_LIBRARY AND NOT TARGET SortieExternal::${name})
    add_library(SortieExternal::${name} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(SortieExternal::${name} PROPERTIES
      IMPORTED_LOCATION ${${prefix}_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${${prefix}_INCLUDE_DIR})
  endif()
endfunction()
