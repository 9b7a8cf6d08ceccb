# SPDX-License-Identifier: Apache-2.0

# SORTIE_COMMIT: the short commit hash of the source tree, with "-dirty" appended if it has changes;
# "unknown" outside git, or if Sortie is a folder of another repository.
set(SORTIE_COMMIT unknown)
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty --exclude *
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE SORTIE_COMMIT_DESCRIPTION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
    RESULT_VARIABLE SORTIE_COMMIT_STATUS)
  if(SORTIE_COMMIT_STATUS EQUAL 0)
    set(SORTIE_COMMIT ${SORTIE_COMMIT_DESCRIPTION})
  endif()
endif()
