# sortie_add_library(NAME room SOURCES ... [CUDA_SOURCES ...] [PUBLIC ...] [PRIVATE ...])
#
# One static library per room, target sortie_<name>, alias Sortie::<name>. Headers are included as
# <sortie/ROOM/...> in the tree as from an install: the build folder holds a link per room.
set(SORTIE_INCLUDE_DIR ${CMAKE_BINARY_DIR}/include)
if(NOT PROJECT_IS_TOP_LEVEL)
  set(SORTIE_INCLUDE_DIR ${CMAKE_CURRENT_BINARY_DIR}/include)
endif()
file(MAKE_DIRECTORY ${SORTIE_INCLUDE_DIR}/sortie)
foreach(room core segsort multisort matrices sequences apps)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${room} ${SORTIE_INCLUDE_DIR}/sortie/${room} SYMBOLIC)
endforeach()

function(sortie_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;CUDA_SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(SORTIE_HAVE_CUDA)
    list(APPEND ARG_SOURCES ${ARG_CUDA_SOURCES})
  endif()
  add_library(sortie_${name} STATIC ${ARG_SOURCES})
  add_library(Sortie::${name} ALIAS sortie_${name})
  set_target_properties(sortie_${name} PROPERTIES
    EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON CUDA_RUNTIME_LIBRARY Static)
  target_compile_features(sortie_${name} PUBLIC cxx_std_20)
  set_target_properties(sortie_${name} PROPERTIES CXX_EXTENSIONS OFF)
  if(SORTIE_HAVE_CUDA)
    target_compile_definitions(sortie_${name} PRIVATE SORTIE_HAVE_CUDA=1)
  endif()
  target_include_directories(sortie_${name} PUBLIC
    $<BUILD_INTERFACE:${SORTIE_INCLUDE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # Libraries that are headers only are not asked of those who link an installed Sortie.
  list(TRANSFORM ARG_PRIVATE REPLACE "^(nlohmann_json::.*|Eigen3::.*)$" "$<BUILD_INTERFACE:\\1>")
  target_link_libraries(sortie_${name} PUBLIC ${ARG_PUBLIC}
    PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:sortie_flags>)
  set_property(GLOBAL APPEND PROPERTY SORTIE_LIBRARIES sortie_${name})
endfunction()
