#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: spgemm_program.sh SORTIE START...
# Runs `sortie spgemm` on ranks, where START and a number start as many (mpirun -n), and compares its
# files with those of one process. Fails with a line that says what differs.
sortie=$1
shift
start=("$@")
# shellcheck source=tests/cluster/program_setup.sh
source "$(dirname "$(readlink -f "$0")")/program_setup.sh"

generate_matrix 200 2000 >a.mtx
awk 'BEGIN {
  print "%%MatrixMarket matrix coordinate integer symmetric\n200 200 300"
  for (i = 0; i < 300; ++i) { r = (i * 31) % 200; c = (i * 17) % (r + 1); print r + 1, c + 1, i % 9 }
}' >b.mtx
gzip -k a.mtx

# Options, and whether the files are equal byte for byte.
while read -r arguments; do
  env -u OMPI_COMM_WORLD_SIZE -u PMI_SIZE "$sortie" spgemm $arguments -q -o one.mtx
  for ranks in 1 2 5; do
    "${start[@]}" "$ranks" "$sortie" spgemm $arguments -q -o many.mtx --json report.json
    cmp one.mtx many.mtx || fail "$arguments on $ranks ranks: the file differs"
    grep -q '"planned_exchange_bytes"' report.json || fail "$arguments: the report lacks the traffic"
  done
done <<'END'
a.mtx
a.mtx b.mtx --verify
a.mtx --transpose-b --verify
b.mtx --structure-only --verify
a.mtx.gz a.mtx --precision f32
a.mtx --drop-zeros --verify
a.mtx --algorithm essc
END

"${start[@]}" 3 "$sortie" spgemm a.mtx -q --split -o parts.mtx
[[ $(ls parts.mtx.* | tr '\n' ' ') == "parts.mtx.0000 parts.mtx.0001 parts.mtx.0002 " ]] ||
  fail "--split: found $(ls parts.mtx.*)"

# Debian's builds of both libraries say that they do not take memory of GPUs.
"${start[@]}" 1 "$sortie" info >out
grep -Eq '^  CUDA-aware MPI +(yes, |no: .* is not CUDA-aware$)' out || fail "info: found $(cat out), expected CUDA-aware MPI"

# Errors: the exit code, one line, and no file.
expect_error() { # code, words of the line, arguments
  local code=0
  local expected=$1 words=$2
  shift 2
  "${start[@]}" 3 "$sortie" spgemm "$@" -q >out 2>err || code=$?
  [[ $code == "$expected" ]] || fail "$*: exit code $code, expected $expected"
  [[ $(grep -c '^sortie: ' err) == 1 ]] || fail "$*: $(cat err)"
  grep -q "$words" err || fail "$*: found $(cat err), expected $words"
  [[ ! -e new.mtx ]] || fail "$*: left a file"
}
sed '1500s/.*/1 x 3/' a.mtx >bad.mtx
expect_error 1 'rank [0-2]: bad.mtx:1500: found "x"' bad.mtx -o new.mtx
expect_error 1 'rank 0: none.mtx' none.mtx -o new.mtx
expect_error 2 'NAME.npz on ranks' a.mtx -o new.npz
expect_error 2 'dry-run on ranks' a.mtx --dry-run
expect_error 2 'found --mask on ranks' a.mtx --mask a.mtx -o new.mtx
expect_error 2 'found --semiring min-plus on ranks' a.mtx --semiring min-plus -o new.mtx
expect_error 1 'ranks are enough' a.mtx --max-memory 1K -o new.mtx
