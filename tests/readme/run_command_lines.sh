#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run_command_lines.sh SOURCE PROGRAM: runs the command lines of README.md on small files.
# Those of `sortie bench` are left out: they take minutes, and tests/cli has them at a smaller size.
set -euo pipefail
source=$1
program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/bwa"
ln -s "$program" "$work/bin/sortie"
export PATH=$work/bin:$PATH
cp "$source/tests/data/matrices/valid/can___24.mtx" "$work/A.mtx"
cp "$work/A.mtx" "$work/B.mtx"
cp "$work/A.mtx" "$work/L.mtx"
{ # four rows an aggregate
  printf '%%%%MatrixMarket matrix coordinate pattern general\n24 6 24\n'
  for ((row = 0; row < 24; ++row)); do echo "$((row + 1)) $((row / 4 + 1))"; done
} >"$work/P.mtx"
printf 'a b 2\nb c 1\nd e\n' >"$work/graph.txt"
printf '{"text": "sorting networks sort in parallel"}\n{"text": "networks"}\n' >"$work/corpus.jsonl"
printf '>one\nGATTACA\n>two\nTAGACC\n' | gzip >"$work/genome.fa.gz"
printf '>read\nTTAC\n' >"$work/reads.fa"
letters=$(printf 'GATTACACCTGAGT%.0s' {1..5})
printf '>genome\n%s\n' "$letters" >"$work/genome.fa"
printf '>contig\nTT%s\n' "$letters" >"$work/contigs.fa"
printf '>read\n%s\n' "$letters" | gzip >"$work/reads.fq.gz"
printf 'dddd....cccc....bbbb....' >"$work/keys.bin"
cp "$work/keys.bin" "$work/pairs.bin"
cd "$work"

lines=$(awk '/^```/ { inside = /^```sh/ } inside && /^(sortie|zcat) / && !/^sortie bench/' "$source/README.md")
[ "$(wc -l <<<"$lines")" -ge 5 ] || { echo "README.md: found no command lines"; exit 1; }
while IFS= read -r line; do
  echo "+ $line"
  bash -euo pipefail -c "$line" </dev/null
done <<<"$lines"
for file in C.mtx C.npz T.mtx clusters.txt report.json corpus.sa clean.jsonl corpus.index bwa/genome.bwt bwa/genome.bwt.2bit.64 m.txt kmers.txt genome.sa genome.sa.json places.txt sorted.bin sorted_pairs.bin; do
  [ -s "$file" ] || { echo "found no $file, expected the command lines to write it"; exit 1; }
done
[ "$(wc -c <genome.sa)" = $((4 * 14)) ] || { echo "genome.sa: expected 14 positions of 4 bytes"; exit 1; }
[ "$(cat sorted.bin)" = '............bbbbccccdddd' ] || { echo "sorted.bin: expected the keys in order"; exit 1; }
