#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs both applications over a folder of real inputs and checks every result.
#
#   verify.sh SORTIE DATA [BACKEND]
#
# SORTIE   the program
# DATA     a folder with matrices/ and sequences/ below it, files as .mtx.xz and .fa.xz
# BACKEND  host (default) or cuda
#
# Matrices: C = A*A (A*A^T where A is not square), compared with Eigen by --verify. Of graphs whose
# triangles SNAP (snap.stanford.edu/data) has counted, also A*A with the mask A over plus-pair, which
# counts each six times.
# Sequences: the suffix array must equal libdivsufsort's, byte for byte, and pass the O(n) check; on
# CUDA that of dc3 must be the same. Patterns cut from the file must be found where a search of the text
# finds them.
# One line an input; the last line is "N passed, N failed". Exits with 1 when anything failed.
set -u
sortie=$1
data=$2
backend=${3:-host}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

report() { # NAME STATUS SECONDS
  if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  printf '%-44s %-6s %s s\n' "$1" "$([ "$2" = 0 ] && echo ok || echo FAILED)" "$3"
}

seconds_since() { awk -v a="$1" -v b="$(date +%s.%N)" 'BEGIN {printf "%.2f", b - a}'; }

while IFS= read -r file; do
  name=$(basename "$file" .xz)
  case $name in mangle*) continue ;; esac
  xz -dkc "$file" >"$work/input.mtx" || exit 1
  read -r rows cols _ < <(grep -v '^%' "$work/input.mtx" | grep -m1 '[0-9]')
  transpose=()
  [ "$rows" = "$cols" ] || transpose=(--transpose-b)
  start=$(date +%s.%N)
  "$sortie" spgemm "$work/input.mtx" "${transpose[@]}" --backend "$backend" --verify -q >&2
  report "spgemm $name" $? "$(seconds_since "$start")"
  case $name in
    email-Enron.mtx) triangles=727044 ;;
    facebook-combined.mtx) triangles=1612010 ;;
    soc-Epinions1-und.mtx) triangles=1624481 ;;
    *) continue ;;
  esac
  start=$(date +%s.%N)
  "$sortie" spgemm "$work/input.mtx" --mask "$work/input.mtx" --semiring plus-pair --precision i64 \
    --backend "$backend" -q -o - |
    awk -v expected="$triangles" '!/^%/ && n++ {sum += $3} END {exit sum != 6 * expected}'
  report "triangles $name" $? "$(seconds_since "$start")"
done < <(find "$data/matrices" -name '*.mtx.xz' | sort)

while IFS= read -r file; do
  name=$(basename "$file" .xz)
  xz -dkc "$file" >"$work/input.fa" || exit 1
  start=$(date +%s.%N)
  "$sortie" suffix-array "$work/input.fa" -o "$work/ours.sa" --backend "$backend" --verify -q >&2 &&
    "$sortie" suffix-array "$work/input.fa" -o "$work/theirs.sa" --backend host \
      --algorithm divsufsort -q >&2 &&
    cmp "$work/ours.sa" "$work/theirs.sa"
  report "suffix-array $name" $? "$(seconds_since "$start")"
  if [ "$backend" = cuda ]; then
    start=$(date +%s.%N)
    "$sortie" suffix-array "$work/input.fa" -o "$work/theirs.sa" --backend cuda --algorithm dc3 -q >&2 &&
      cmp "$work/ours.sa" "$work/theirs.sa"
    report "dc3 $name" $? "$(seconds_since "$start")"
  fi
  # Up to 100 000 patterns of up to 24 letters, from lines all over the file.
  awk '!/^>/ && length >= 12 && NR % 7 == 3 {print substr($0, 1, 24)}' "$work/input.fa" |
    awk 'NR <= 100000' >"$work/patterns"
  [ -s "$work/patterns" ] || awk '!/^>/ && length >= 12 {print substr($0, 1, 24)}' "$work/input.fa" >"$work/patterns"
  start=$(date +%s.%N)
  "$sortie" query "$work/input.fa" "$work/ours.sa" -f "$work/patterns" --max-hits 100 -o "$work/found" \
    --backend "$backend" --verify -q >&2 && [ "$(wc -l <"$work/found")" = "$(wc -l <"$work/patterns")" ]
  report "query $name" $? "$(seconds_since "$start")"
  rm -f "$work"/*.sa
done < <(find "$data/sequences" -name '*.fa.xz' | sort)

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
