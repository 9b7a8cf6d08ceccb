#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Fails and names the location if a source is not formatted according to .clang-format.
# The version is fixed: releases of clang-format break some lines differently.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mapfile -t files < <(git -c safe.directory="$PWD" ls-files --cached --others --exclude-standard \
  '*.h' '*.c' '*.hpp' '*.cpp' '*.cuh' '*.cu' | while read -r file; do [[ ! -e $file ]] || echo "$file"; done)
((${#files[@]} > 0)) || { echo "check_format.sh: found no source" >&2; exit 1; }
clang-format-14 --dry-run -Werror "${files[@]}"
echo "Format: ${#files[@]} files are formatted."
