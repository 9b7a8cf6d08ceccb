# SPDX-License-Identifier: Apache-2.0

# Explicit instantiations, one source each, so that they are compiled in parallel. The sources are generated in the
# build folder; their code is given in the CMakeLists.txt files.

# SORTIE_KEY_WIDTHS: bits of the unsigned integers that keys are encoded as, from the list of key types.
set(SORTIE_KEY_TYPES_HEADER ${PROJECT_SOURCE_DIR}/include/sortie/key_types.hpp)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${SORTIE_KEY_TYPES_HEADER})
file(READ ${SORTIE_KEY_TYPES_HEADER} SORTIE_KEY_TYPES)
string(REGEX MATCHALL "X\\(u[0-9]+, std::uint[0-9]+_t, unsigned_integer\\)" SORTIE_KEY_WIDTHS "${SORTIE_KEY_TYPES}")
list(TRANSFORM SORTIE_KEY_WIDTHS REPLACE "^X\\(u([0-9]+),.*$" "\\1")
if(NOT SORTIE_KEY_WIDTHS STREQUAL "8;16;32;64")
  message(FATAL_ERROR "${SORTIE_KEY_TYPES_HEADER}: found unsigned keys of the widths ${SORTIE_KEY_WIDTHS}, expected 8;16;32;64")
endif()
# Key widths of segmented sort; they must be those of SegmentKey in key_types.hpp.
set(SORTIE_SEGMENT_KEY_WIDTHS ${SORTIE_KEY_WIDTHS})
list(FILTER SORTIE_SEGMENT_KEY_WIDTHS INCLUDE REGEX "32|64")
# Bits of the payload values; 0: keys only.
set(SORTIE_VALUE_WIDTHS 0 32 64)
set(SORTIE_VALUE_TYPE_0 NoValue)
set(SORTIE_VALUE_TYPE_32 std::uint32_t)
set(SORTIE_VALUE_TYPE_64 std::uint64_t)

# sortie_add_instance(PART NAME HEADERS NAMESPACE CODE): the source NAME, which includes HEADERS and contains CODE.
# A source of device code takes 5 s for its headers, so it has as many instances as fit in 20 s. With fewer optimisations,
# instances take little beside the headers: all those of a part with the same headers and namespace are one source then, as
# are those of host code without optimisations where SORTIE_UNITY is on.
function(sortie_add_instance part name headers namespace code)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/instances/${name})
  set(includes "")
  foreach(header IN LISTS headers)
    string(APPEND includes "#include \"${header}\"\n")
  endforeach()
  set(together OFF)
  if(name MATCHES "\\.cu$")
    set(together ${SORTIE_NVCC_COMPILES_FAST})
  elseif(SORTIE_UNITY AND CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(together ON)
  endif()
  if(together)
    string(MAKE_C_IDENTIFIER "SORTIE_INSTANCES_${namespace}_${headers}" property)
    get_target_property(has_source sortie_${part} ${property})
    set_property(TARGET sortie_${part} APPEND_STRING PROPERTY ${property} "${code}\n")
    if(has_source)
      return()
    endif()
    set(code "$<TARGET_PROPERTY:sortie_${part},${property}>")
  endif()
  file(GENERATE OUTPUT ${source} CONTENT "${includes}
namespace ${namespace} {
${code}
}  // namespace ${namespace}
")
  target_sources(sortie_${part} PRIVATE ${source})
  if(NOT name MATCHES "\\.cu$") # see sortie_place_device_sources()
    set_source_files_properties(${source} TARGET_DIRECTORY sortie_${part} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# sortie_add_device_sources(PART NAME SOURCES ...): sources of device code, given by their paths from the root, as one
# translation unit NAME, since each would take 3 to 6 s for its headers. Without SORTIE_UNITY, each is compiled by itself.
function(sortie_add_device_sources part name)
  if(SORTIE_UNITY)
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/instances/${name})
    list(TRANSFORM ARGN REPLACE "(.+)" "#include \"\\1\"" OUTPUT_VARIABLE includes)
    list(JOIN includes "\n" includes)
    file(CONFIGURE OUTPUT ${unit} @ONLY CONTENT "${includes}\n")
    set(sources ${unit})
  else()
    list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE sources)
  endif()
  target_sources(sortie_${part} PRIVATE ${sources})
  set_source_files_properties(${sources} TARGET_DIRECTORY sortie_${part} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
