#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `sortie suffix-array` on ranks writes the files of one machine, and refuses what ranks do not have.
#
#   suffix_array_program.sh SORTIE DATA LAUNCHER...
#
# SORTIE    the program; DATA  the folder tests/data
# LAUNCHER  starts ranks: mpirun and its options, up to the one before their number
set -u
sortie=$1
data=$2
shift 2
launcher=("$@")
work=$(mktemp -d)
inputs=$(mktemp -d)
trap 'rm -rf "$work" "$inputs"' EXIT
failed=0

fail() {
  echo "$*"
  failed=1
}

# compare RANKS INPUT OPTION...
compare() {
  local ranks=$1 input=$2
  shift 2
  rm -f "$work"/*
  "$sortie" suffix-array "$input" -q -t 1 -o "$work/a.sa" --lcp "$work/a.lcp" --bwt "$work/a.bwt" "$@" ||
    fail "$input $*: one machine"
  "${launcher[@]}" "$ranks" "$sortie" suffix-array "$input" -q -t 1 -o "$work/b.sa" --lcp "$work/b.lcp" \
    --bwt "$work/b.bwt" --verify "$@" || fail "$input $*: $ranks ranks"
  for array in sa lcp bwt; do
    cmp "$work/a.$array" "$work/b.$array" || fail "$input $*: $array on $ranks ranks"
    cmp "$work/a.$array.json" "$work/b.$array.json" || fail "$input $*: $array.json on $ranks ranks"
  done
}

# refuse CODE WORDS ARGUMENT...: two ranks end with this code and one line with these words, and leave no
# file.
refuse() {
  local code=$1 words=$2
  shift 2
  rm -f "$work"/*
  "${launcher[@]}" 2 "$sortie" suffix-array "$@" >"$work/out" 2>"$work/err"
  local found=$?
  [ "$found" = "$code" ] || fail "$*: found exit code $found, expected $code"
  [ "$(grep -c '^sortie: ' "$work/err")" = 1 ] || fail "$*: found $(cat "$work/err"), expected one line"
  grep -qF "$words" "$work/err" || fail "$*: found $(cat "$work/err"), expected $words"
  rm "$work/out" "$work/err"
  [ -z "$(ls -A "$work")" ] || fail "$*: found $(ls -A "$work"), expected no file"
}

sequences=$data/sequences/valid
compare 3 "$sequences/lambda_phage.fa.gz"
compare 3 "$sequences/odd_records.fa" --width 40 --case keep
compare 2 "$sequences/mirbase_hairpin_200.fa" --reverse-complement --ambiguous separate --width 64
compare 3 "$sequences/lambda_phage.bgzf.fa.gz" --reverse-complement --repeat 2
compare 2 "$sequences/proteins_50.fa"
compare 2 "$sequences/wrapped.fq" --ambiguous unify --case keep
printf '>a\nACGT\n' >"$inputs/short.fa" # fewer letters than ranks
compare 5 "$inputs/short.fa"

input=$sequences/odd_records.fa
refuse 2 "found --inverse, expected only -o, --lcp and --bwt" "$input" --inverse "$work/i"
refuse 2 "found --documents, expected only -o, --lcp and --bwt" "$input" --documents "$work/d"
refuse 2 "found --text, expected an array of binary numbers" "$input" --text -o "$work/t"
refuse 2 "found --max-context, expected the order of all letters" "$input" --max-context 3
refuse 2 "found a stream for an array, expected a file" "$input" -o -
refuse 1 "rank 0: $work/none.fa: " "$work/none.fa" -o "$work/t"
refuse 1 "1.00 KiB (1024 bytes) are free" "$sequences/lambda_phage.fa.gz" --max-memory 1K -o "$work/t"
exit $failed
