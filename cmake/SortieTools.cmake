# SPDX-License-Identifier: Apache-2.0

# Targets for developers, where their tools are installed:
#   api-docs  API pages of the public headers in <build>/api-docs (Doxygen); a warning is an error
#   tidy      clang-tidy on all host sources, with the checks of .clang-tidy; only in the preset `tidy`, since clang-tidy
#             reads neither nvcc's command lines nor sources that are compiled together
find_program(SORTIE_DOXYGEN doxygen)
find_program(SORTIE_RUN_CLANG_TIDY run-clang-tidy-14)
mark_as_advanced(SORTIE_DOXYGEN SORTIE_RUN_CLANG_TIDY)

if(SORTIE_DOXYGEN)
  configure_file(docs/Doxyfile.in ${PROJECT_BINARY_DIR}/Doxyfile @ONLY)
  add_custom_target(api-docs COMMAND ${SORTIE_DOXYGEN} ${PROJECT_BINARY_DIR}/Doxyfile
    COMMENT "API pages: ${PROJECT_BINARY_DIR}/api-docs/html/index.html" VERBATIM)
endif()
if(SORTIE_RUN_CLANG_TIDY AND CMAKE_EXPORT_COMPILE_COMMANDS AND NOT SORTIE_HAVE_CUDA AND NOT SORTIE_UNITY)
  add_custom_target(tidy
    COMMAND ${SORTIE_RUN_CLANG_TIDY} -quiet -p ${PROJECT_BINARY_DIR} "^${PROJECT_SOURCE_DIR}/[^.].*[.]cpp$"
    COMMENT "clang-tidy on all host sources" VERBATIM USES_TERMINAL)
endif()
