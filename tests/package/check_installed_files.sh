#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# check_installed_files.sh PREFIX LIBRARY_FOLDER VERSION KIND HAS_PROGRAM HAS_MANUAL
# The folder PREFIX holds all that is installed. KIND is `static` or `shared`, HAS_... are ON or OFF.
set -euo pipefail
prefix=$1 libraries=$1/$2 version=$3 kind=$4 has_program=$5 has_manual=$6
expected=("$libraries/libsortie.so" "$libraries/libsortie.so.${version%.*}" "$libraries/libsortie.so.$version"
  "$libraries/pkgconfig/sortie.pc" "$libraries/cmake/Sortie/SortieConfig.cmake" "$prefix/include/sortie/sort.hpp")
if [[ $kind == static ]]; then expected+=("$libraries/libsortie.a" "$libraries/pkgconfig/sortie-static.pc"); fi
if [[ $has_program == ON ]]; then
  expected+=("$prefix/bin/sortie" "$prefix/include/sortie/sortie.h" "$prefix/share/bash-completion/completions/sortie")
  compgen -G "$prefix/share/zsh/*/_sortie" >/dev/null || { echo "found no completion for zsh"; exit 1; }
fi
if [[ $has_manual == ON ]]; then
  expected+=("$prefix/share/man/man1/sortie.1.gz")
  # All subcommands but that of sortie-bench.
  mapfile -t subcommands < <("$prefix/bin/sortie" --help | sed -n '/^Subcommands:/,$s/^  \([a-z-]*\) .*/\1/p' | grep -v '^bench$')
  ((${#subcommands[@]} >= 6)) || { echo "found ${#subcommands[@]} subcommands in the help, expected 6 or more"; exit 1; }
  for subcommand in "${subcommands[@]}"; do expected+=("$prefix/share/man/man1/sortie-$subcommand.1.gz"); done
fi
missing=()
for file in "${expected[@]}"; do [[ -s $file ]] || missing+=("$file"); done
if ((${#missing[@]} > 0)); then
  echo "found no:"
  printf '  %s\n' "${missing[@]}"
  exit 1
fi
echo "found all of ${#expected[@]} files"
