#!/usr/bin/env bash
# Fails and names the place when a tracked source is not formatted as .clang-format says.
# The version is fixed: every release of clang-format breaks some lines differently.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mapfile -t files < <(git -c safe.directory="$PWD" ls-files '*.hpp' '*.cpp' '*.cuh' '*.cu')
((${#files[@]} > 0)) || { echo "check_format.sh: found no tracked source" >&2; exit 1; }
clang-format-14 --dry-run -Werror "${files[@]}"
echo "Format: ${#files[@]} files are formatted."
