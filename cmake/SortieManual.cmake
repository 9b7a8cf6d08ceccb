# SPDX-License-Identifier: Apache-2.0

# Manual pages and shell completions, which the program writes itself: the target sortie_manual. They are installed if
# they were made, with the program.
#   SORTIE_MANUAL  what the configure summary says of the manual pages
find_program(SORTIE_HELP2MAN help2man)
mark_as_advanced(SORTIE_HELP2MAN)
set(manual_folder ${PROJECT_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${manual_folder})
set(manual_files "")

# Zsh reads the folder of Debian's packages below /usr only.
set(zsh_folder ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND EXISTS /etc/debian_version)
  set(zsh_folder ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
endif()
set(bash_file sortie)
set(bash_folder ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
set(zsh_file _sortie)
foreach(shell IN ITEMS bash zsh)
  set(file ${manual_folder}/${${shell}_file})
  add_custom_command(OUTPUT ${file} COMMAND sortie_program completion ${shell} > ${file} DEPENDS sortie_program VERBATIM
    COMMENT "Completion for ${shell}")
  list(APPEND manual_files ${file})
  install(FILES ${file} DESTINATION ${${shell}_folder} COMPONENT program OPTIONAL)
endforeach()

if(SORTIE_HELP2MAN)
  set(SORTIE_MANUAL "by ${SORTIE_HELP2MAN}")
  set(SORTIE_MANUAL_PAGES sortie)
  # Those of the program; a test compares them with its help.
  foreach(subcommand IN ITEMS spgemm cluster suffix-array query sort dedup matches index inverted-index kmers search info completion)
    list(APPEND SORTIE_MANUAL_PAGES sortie-${subcommand})
  endforeach()
  foreach(page IN LISTS SORTIE_MANUAL_PAGES)
    set(file ${manual_folder}/${page}.1)
    add_custom_command(OUTPUT ${file}.gz
      COMMAND ${PROJECT_SOURCE_DIR}/cmake/make_manual_page.sh ${SORTIE_HELP2MAN} $<TARGET_FILE:sortie_program>
        ${PROJECT_VERSION} ${page} ${file} ${SORTIE_MANUAL_PAGES}
      DEPENDS sortie_program cmake/make_manual_page.sh VERBATIM COMMENT "Manual page ${page}(1)")
    list(APPEND manual_files ${file}.gz)
    install(FILES ${file}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program OPTIONAL)
  endforeach()
else()
  set(SORTIE_MANUAL "no: help2man was not found (Debian: apt-get install help2man)")
  set(SORTIE_MANUAL_PAGES "")
endif()
add_custom_target(sortie_manual ALL DEPENDS ${manual_files})
