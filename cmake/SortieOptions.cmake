# SPDX-License-Identifier: Apache-2.0

# Build options, and the flags of every target of Sortie.
option(SORTIE_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(SORTIE_APPS "Build the applications and the program `sortie`" ON)
option(BUILD_SHARED_LIBS "Sortie::sortie is libsortie.so; libsortie.a is not installed" OFF)
option(SORTIE_INSTALL "Generate the install rules" ${PROJECT_IS_TOP_LEVEL})
option(SORTIE_WARNINGS_AS_ERRORS "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
set(SORTIE_SANITIZE OFF CACHE STRING "Sanitizers: OFF, address,undefined or thread")
set_property(CACHE SORTIE_SANITIZE PROPERTY STRINGS OFF address,undefined thread)
option(SORTIE_UNITY "Compile the host sources of a folder several at a time" ${PROJECT_IS_TOP_LEVEL})
set(SORTIE_CUDA AUTO CACHE STRING "CUDA backend: AUTO (when nvcc is found), ON or OFF")
set_property(CACHE SORTIE_CUDA PROPERTY STRINGS AUTO ON OFF)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
if(NOT PROJECT_IS_TOP_LEVEL)
  # The libraries link targets of other packages, and the enclosing project links the libraries.
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL TRUE)
endif()
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endif()
include(GNUInstallDirs)

# Usage requirements shared by all targets of the tree; not exported.
add_library(sortie_flags INTERFACE)
target_compile_options(sortie_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra $<$<BOOL:${SORTIE_WARNINGS_AS_ERRORS}>:-Werror>>
  # By flag, since CMake 3.25.1 (Debian 12) does not support C++20 for nvcc.
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 -Xcompiler=-Wall,-Wextra --extended-lambda --expt-relaxed-constexpr
    $<$<BOOL:${SORTIE_WARNINGS_AS_ERRORS}>:-Werror=all-warnings -Xcompiler=-Werror>>)
if(SORTIE_SANITIZE)
  # Variable tracking through the sorting networks takes GCC minutes.
  target_compile_options(sortie_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${SORTIE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-var-tracking-assignments>)
  target_link_options(sortie_flags INTERFACE -fsanitize=${SORTIE_SANITIZE})
endif()

# sortie_place_device_sources(TARGET): the CUDA sources of the target have translation units of their own. Where device
# code is optimised less, four of them share one: then most of their time is that of the headers. Left out are sources with
# SKIP_UNITY_BUILD_INCLUSION, which have names that others have, too, and those with options of their own.
function(sortie_place_device_sources target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(build_folder ${target} BINARY_DIR)
  list(FILTER sources INCLUDE REGEX "\\.cu$")
  foreach(source IN LISTS sources)
    foreach(property IN ITEMS SKIP_UNITY_BUILD_INCLUSION COMPILE_OPTIONS COMPILE_DEFINITIONS)
      get_source_file_property(value ${source} TARGET_DIRECTORY ${target} ${property})
      if(value)
        list(REMOVE_ITEM sources ${source})
      endif()
    endforeach()
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
  if(NOT SORTIE_NVCC_COMPILES_FAST)
    return()
  endif()
  # As for host sources, see sortie_compile_together().
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wno-subobject-linkage>)
  set(unit 0)
  while(sources)
    list(SUBLIST sources 0 4 members)
    list(REMOVE_ITEM sources ${members})
    list(LENGTH members count)
    if(count EQUAL 1)
      return()  # the last one
    endif()
    set(includes "")
    foreach(member IN LISTS members)
      get_filename_component(path ${member} ABSOLUTE BASE_DIR ${folder})
      string(APPEND includes "#include \"${path}\"\n")
    endforeach()
    set(source ${build_folder}/device_units/${target}_${unit}.cu)
    file(GENERATE OUTPUT ${source} CONTENT "${includes}")
    set_source_files_properties(${members} TARGET_DIRECTORY ${target} PROPERTIES HEADER_FILE_ONLY ON)
    target_sources(${target} PRIVATE ${source})
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    math(EXPR unit "${unit} + 1")
  endwhile()
endfunction()

# sortie_compile_together(TARGET): host sources share a translation unit, six at a time, since most of their time is that
# of the headers. Sources with options of their own are left out. The presets debug, asan and tsan compile each source
# by itself, which finds missing includes.
function(sortie_compile_together target)
  if(SORTIE_UNITY)
    # CMake 3.31 and newer would do the same with device code. Folders below add sources, so this waits for them.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL sortie_place_device_sources ${target})")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
    # GCC takes a unit of several sources for a header with an anonymous namespace.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()
