#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs sort, spgemm and suffix-array over a folder of real inputs on several ranks, and compares each
# output with that of one process, byte by byte.
#
#   compare_ranks.sh SORTIE DATA RANKS START...
#
# SORTIE  the program
# DATA    a folder with matrices/ and sequences/ below it, files as .mtx.xz and .fa.xz
# RANKS   their number
# START   and a number start as many processes (mpirun -n)
#
# Matrices: C = A*A (A*A^T where A is not square). Sequences: suffix array, LCP array and BWT. All files:
# their bytes, sorted as numbers of 64 bits.
# One line an input; the last line is "N equal, N different". Exits with 1 when anything differed.
set -u
sortie=$1
data=$2
ranks=$3
shift 3
start=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
equal=0
different=0

# compare NAME OUTPUTS ARGUMENTS...: OUTPUTS are options with names of files, as in "-o c.mtx".
compare() {
  local name=$1 outputs=$2 status=equal
  shift 2
  local one=() many=() files=()
  for word in $outputs; do
    case $word in
      -*) one+=("$word") && many+=("$word") ;;
      *) one+=("$work/one.$word") && many+=("$work/many.$word") && files+=("$word") ;;
    esac
  done
  "$sortie" "$@" --backend host "${one[@]}" -q >&2 </dev/null || status=FAILED
  "${start[@]}" "$ranks" "$sortie" "$@" --backend host "${many[@]}" -q >&2 </dev/null || status=FAILED
  for file in "${files[@]}"; do
    cmp "$work/one.$file" "$work/many.$file" >&2 || status=DIFFERENT
    rm -f "$work/one.$file" "$work/many.$file"
  done
  if [ "$status" = equal ]; then equal=$((equal + 1)); else different=$((different + 1)); fi
  printf '%-60s %s\n' "$name" "$status"
}

sort_bytes() { # NAME FILE
  truncate -s $(($(stat -c %s "$2") / 8 * 8)) "$2"
  compare "sort $1" "-o sorted" sort "$2" --type u64
}

while IFS= read -r file; do
  name=$(basename "$file" .xz)
  case $name in mangle*) continue ;; esac
  xz -dkc "$file" >"$work/input.mtx" || exit 1
  read -r rows cols _ < <(grep -v '^%' "$work/input.mtx" | grep -m1 '[0-9]')
  transpose=()
  [ "$rows" = "$cols" ] || transpose=(--transpose-b)
  compare "spgemm $name" "-o c.mtx" spgemm "$work/input.mtx" "${transpose[@]}"
  sort_bytes "$name" "$work/input.mtx"
done < <(find "$data/matrices" -name '*.mtx.xz' | sort)

while IFS= read -r file; do
  name=$(basename "$file" .xz)
  xz -dkc "$file" >"$work/input.fa" || exit 1
  compare "suffix-array $name" "-o sa --lcp lcp --bwt bwt" suffix-array "$work/input.fa"
  sort_bytes "$name" "$work/input.fa"
done < <(find "$data/sequences" -name '*.fa.xz' | sort)

echo "$equal equal, $different different"
[ "$different" = 0 ]
