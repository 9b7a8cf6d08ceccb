# SPDX-License-Identifier: Apache-2.0

# The parts of the library, and the library that consists of them.
#
# sortie_add_part(NAME SOURCES ... [CUDA_SOURCES ...] [PUBLIC parts ...] [PRIVATE libraries ...])
#
# A part is a folder of the tree. Its sources are compiled once, as an object library; all parts together form the
# library Sortie::sortie. Headers are included by their paths from the root, public ones as <sortie/X.hpp>.

# Usage requirements of every source of the tree; not exported.
add_library(sortie_tree INTERFACE)
target_include_directories(sortie_tree INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_features(sortie_tree INTERFACE cxx_std_20)
target_link_libraries(sortie_tree INTERFACE sortie_flags)
if(SORTIE_HAVE_CUDA)
  # Host sources include the header of the CUDA runtime as well.
  target_link_libraries(sortie_tree INTERFACE CUDA::cudart_static)
endif()

function(sortie_add_part name)
  cmake_parse_arguments(ARG "" "" "SOURCES;CUDA_SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(SORTIE_HAVE_CUDA)
    list(APPEND ARG_SOURCES ${ARG_CUDA_SOURCES})
  endif()
  add_library(sortie_${name} OBJECT ${ARG_SOURCES})
  set_target_properties(sortie_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(SORTIE_HAVE_CUDA)
    target_compile_definitions(sortie_${name} PRIVATE SORTIE_HAVE_CUDA=1)
  endif()
  target_link_libraries(sortie_${name} PRIVATE sortie_tree ${ARG_PRIVATE})
  sortie_compile_together(sortie_${name})
  set_property(GLOBAL APPEND PROPERTY SORTIE_PARTS ${name})
  # Header-only libraries are not required of users of an installed Sortie.
  list(FILTER ARG_PRIVATE EXCLUDE REGEX "^nlohmann_json::")
  set_property(GLOBAL APPEND PROPERTY SORTIE_LIBRARIES_OF_PARTS ${ARG_PRIVATE})
endfunction()

# sortie_part_links(NAME libraries ...): further libraries of a part.
function(sortie_part_links name)
  target_link_libraries(sortie_${name} PRIVATE ${ARGN})
  set_property(GLOBAL APPEND PROPERTY SORTIE_LIBRARIES_OF_PARTS ${ARGN})
endfunction()

# sortie_define_library(TARGET KIND): a library of the objects of all parts.
function(sortie_define_library target kind)
  get_property(parts GLOBAL PROPERTY SORTIE_PARTS)
  get_property(libraries GLOBAL PROPERTY SORTIE_LIBRARIES_OF_PARTS)
  list(REMOVE_DUPLICATES libraries)
  set(objects ${parts})
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:sortie_\\1>")
  add_library(${target} ${kind} ${objects})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME sortie EXPORT_NAME sortie LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE ${libraries})
  if(SORTIE_HAVE_CUDA)
    # DeviceSegmentedSort returns cudaError_t, so its users need the headers of the toolkit.
    target_link_libraries(${target} PUBLIC CUDA::toolkit PRIVATE CUDA::cudart_static)
    # nvcc's default is C++17. Not by cuda_std_20, which CMake 3.25 does not know. Sources of this tree have it in their flags.
    set(cuda_without_standard $<COMPILE_LANGUAGE:CUDA>,$<NOT:$<BOOL:$<TARGET_PROPERTY:CUDA_STANDARD>>>)
    target_compile_options(${target} INTERFACE $<INSTALL_INTERFACE:$<$<AND:${cuda_without_standard}>:-std=c++20>>)
    if(NOT PROJECT_IS_TOP_LEVEL)
      target_compile_options(${target} INTERFACE $<BUILD_INTERFACE:$<$<AND:${cuda_without_standard}>:-std=c++20>>)
    endif()
  endif()
  if(SORTIE_SANITIZE AND kind STREQUAL "SHARED")
    target_link_options(${target} PRIVATE -fsanitize=${SORTIE_SANITIZE})
  endif()
  if(kind STREQUAL "SHARED")
    # No symbols of the static libraries inside are exported, so a program may link its own versions.
    target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL LINKER:--no-undefined
      LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/sortie.map)
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/sortie.map)
  endif()
endfunction()

# The library that the program and the tests link: it provides all symbols, including internals.
#   sortie_static   always
#   sortie_shared   always: for programs in C and Python, and the tests of its exports
#   Sortie::sortie  the one of the two that find_package(Sortie) gives, too
macro(sortie_finish_library)
  sortie_define_library(sortie_static STATIC)
  sortie_define_library(sortie_shared SHARED)
  if(BUILD_SHARED_LIBS)
    set(SORTIE_INSTALLED_LIBRARY sortie_shared)
    set_target_properties(sortie_static PROPERTIES OUTPUT_NAME sortie_internal)
  else()
    set(SORTIE_INSTALLED_LIBRARY sortie_static)
  endif()
  add_library(Sortie::sortie ALIAS ${SORTIE_INSTALLED_LIBRARY})
  # Parts by name, for find_package(Sortie COMPONENTS ...): all of them are in the same library.
  get_property(SORTIE_COMPONENTS GLOBAL PROPERTY SORTIE_PARTS)
  foreach(component IN LISTS SORTIE_COMPONENTS)
    add_library(sortie_component_${component} INTERFACE)
    set_target_properties(sortie_component_${component} PROPERTIES EXPORT_NAME ${component})
    target_link_libraries(sortie_component_${component} INTERFACE ${SORTIE_INSTALLED_LIBRARY})
    add_library(Sortie::${component} ALIAS sortie_component_${component})
  endforeach()
  # For the program and the tests.
  add_library(sortie_internals INTERFACE)
  target_link_libraries(sortie_internals INTERFACE sortie_static sortie_tree)
endmacro()
