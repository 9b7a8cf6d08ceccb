#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: device_program.sh SORTIE DATA LAUNCHER...
# Compares the files of `sortie spgemm`, `sortie suffix-array` and `sortie sort` on several devices, by
# --gpus and on ranks that LAUNCHER and a number start, with those of one device. Exits with 77 without
# a GPU.
sortie=$1
sequences=$2/sequences/valid
shift 2
launcher=("$@")
# shellcheck source=tests/cluster/program_setup.sh
source "$(dirname "$(readlink -f "$0")")/program_setup.sh"

if ! "$sortie" spgemm "$sequences/none" --backend cuda -q 2>err && grep -q 'cuda backend cannot run' err; then
  echo "SKIPPED: $(cat err)"
  exit 77
fi

generate_matrix 300 4000 >a.mtx
gzip -k a.mtx

# compare FILES WORDS COMMAND...: the files of one device, of --gpus 1, 2 and 3, and of 1, 2 and 3 ranks;
# %f in the command is the name of a file without its end. WORDS are in the summary of 3 devices.
compare() {
  local files=$1 words=$2 number way
  shift 2
  "$sortie" "${@//%f/one}" --backend cuda -q
  for number in 1 2 3; do
    for way in gpus ranks; do
      rm -f many.*
      if [[ $way == gpus ]]; then
        "$sortie" "${@//%f/many}" --gpus $number --json report.json 2>err
        [[ $number == 1 ]] || grep -q '"gpus"' report.json || fail "$*: no figure of GPUs"
        [[ $number != 3 ]] || grep -q "$words" err || fail "$*: found $(cat err), expected $words"
      else
        "${launcher[@]}" $number "$sortie" "${@//%f/many}" --backend cuda -q
      fi
      for file in $files; do
        cmp "one.$file" "many.$file" || fail "$*: $file of $number $way differs"
      done
    done
  done
}

on_devices='on \(3 GPUs\|3 logical devices on [12] GPU\)'
compare mtx "$on_devices" spgemm a.mtx -o %f.mtx --verify
compare mtx "$on_devices" spgemm a.mtx.gz a.mtx --transpose-b --precision f32 -o %f.mtx --verify
compare mtx "$on_devices" spgemm a.mtx --structure-only -o %f.mtx --verify
compare mtx "$on_devices" spgemm a.mtx --algorithm essc --drop-zeros -o %f.mtx --verify
for exchange in auto staged; do
  words='by peer copies'
  [[ $exchange == auto ]] || words='through host memory: as SORTIE_EXCHANGE asks for'
  SORTIE_EXCHANGE=$exchange "$sortie" spgemm a.mtx --algorithm essc --drop-zeros --gpus 3 -o many.mtx 2>err
  cmp one.mtx many.mtx || fail "spgemm, SORTIE_EXCHANGE=$exchange: the files differ"
  grep -q "exchange $words" err || fail "spgemm: found $(cat err), expected exchange $words"
done
arrays='sa sa.json lcp bwt'
compare "$arrays" "$on_devices" suffix-array "$sequences/lambda_phage.fa.gz" -o %f.sa --lcp %f.lcp --bwt %f.bwt --verify
compare "$arrays" "$on_devices" suffix-array "$sequences/odd_records.fa" --width 40 -o %f.sa --lcp %f.lcp --bwt %f.bwt
compare "sa" "$on_devices" suffix-array "$sequences/mirbase_hairpin_200.fa" --reverse-complement -o %f.sa

# Ranks sort on their GPUs, by NCCL where each has one and this process finds NCCL.
head -c 4000000 /dev/urandom >keys
"$sortie" sort keys --type u32 --values u32 --stable --backend host -q -o one.sorted
gpus=$("$sortie" info --json | grep -c '"compute_capability"')
"$sortie" info | grep -q '^  NCCL  *[0-9]' && has_nccl=1 || has_nccl=0
for number in 2 3; do
  path='through host memory'
  ((gpus < number || !has_nccl)) || path='by NCCL'
  for transport in auto staged; do
    [[ $transport == auto ]] || path='through host memory: as asked for'
    "${launcher[@]}" $number "$sortie" sort keys --type u32 --values u32 --backend cuda --transport $transport \
      --verify -o many.sorted 2>err
    cmp one.sorted many.sorted || fail "sort on $number ranks, --transport $transport: the files differ"
    grep -q "exchange $path" err || fail "sort on $number ranks: found $(cat err), expected exchange $path"
  done
done

# Errors: the exit code, one line, and no file.
expect_error() { # code, words of the line, command
  local code=0 expected=$1 words=$2
  shift 2
  "$@" -q -o new.out 2>err || code=$?
  [[ $code == "$expected" ]] || fail "$*: exit code $code, expected $expected"
  [[ $(grep -c '^sortie: ' err) == 1 ]] || fail "$*: found $(cat err), expected one line"
  grep -q -e "$words" err || fail "$*: found $(cat err), expected $words"
  [[ ! -e new.out ]] || fail "$*: left a file"
}
sed '1500s/.*/1 x 3/' a.mtx >bad.mtx
expect_error 1 'bad.mtx:1500: found "x"' "$sortie" spgemm bad.mtx --gpus 2
expect_error 1 'none.fa' "$sortie" suffix-array none.fa --gpus 2
expect_error 1 'rank 0: .*suffix array in ranges' "$sortie" suffix-array "$sequences/lambda_phage.fa.gz" --gpus 2 --max-memory 1K
expect_error 2 'found --gpus with --backend host' "$sortie" spgemm a.mtx --gpus 2 --backend host
expect_error 2 'found --algorithm libdivsufsort with --gpus' "$sortie" suffix-array "$sequences/odd_records.fa" --gpus 2 \
  --algorithm libdivsufsort
expect_error 2 'found --gpus on ranks' "${launcher[@]}" 2 "$sortie" spgemm a.mtx --gpus 2
expect_error 2 'found --gpus, expected one device' "${launcher[@]}" 2 "$sortie" suffix-array "$sequences/odd_records.fa" --gpus 2
