#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: exchange_of_ranks.sh SORTIE KEYS LAUNCHER...
#
# Seconds of `sortie sort --backend cuda` of KEYS random keys, u32 and u64, from a file in memory to
# another, on two ranks that LAUNCHER and a number start, with the exchange from GPU to GPU and through
# host memory, and of one process with --gpus 2; in turns, three times. Prints a line for each run: the
# seconds of the sort, of its phases, and of the program. All files have to be equal.
#
# NCCL is found where the loader finds libnccl.so.2, or in PyTorch's packages.
set -euo pipefail
sortie=$1
keys=$2
shift 2
launcher=("$@")
folder=$(mktemp -d /dev/shm/sortie.XXXXXX)
trap 'rm -rf "$folder"' EXIT

if ! "$sortie" info | grep -q '^  NCCL  *[0-9]'; then
  nccl=$(python3 -c 'import nvidia.nccl as n; print(list(n.__path__)[0] + "/lib")')
  export LD_LIBRARY_PATH=$nccl${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
export NCCL_NVLS_ENABLE=0 # no NVLink multicast
"$sortie" info | grep -A1 '^  NCCL\|^CUDA device'

show() { # WAY TYPE
  python3 - "$folder/report.json" "$1" "$2" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
def seconds(name):
    return sum(p["seconds"] for p in report["phases"] if p["name"] == name and p.get("within", "sort") == "sort")
parts = ["connect", "copy in", "local sort", "splits", "exchange", "sort received", "merge", "copy out"]
print(f"{sys.argv[2]:6} {sys.argv[3]} sort {seconds('sort'):.3f} s, all {report['wall_seconds']:.3f} s:",
      ", ".join(f"{p} {seconds(p):.3f}" for p in parts if seconds(p)), report["figures"].get("exchange_path", ""))
PYTHON
}

for type in u32 u64; do
  head -c $((keys * ${type#u} / 8)) /dev/urandom >"$folder/keys"
  for turn in 1 2 3; do
    for way in auto staged gpus; do
      if [[ $way == gpus ]]; then
        "$sortie" sort "$folder/keys" --type $type --backend cuda --gpus 2 -q --json "$folder/report.json" -o "$folder/one"
      else
        "${launcher[@]}" 2 "$sortie" sort "$folder/keys" --type $type --backend cuda --transport $way -q \
          --json "$folder/report.json" -o "$folder/$way"
      fi
      show $way $type
    done
    [[ $turn != 1 ]] || { cmp "$folder/one" "$folder/auto" && cmp "$folder/one" "$folder/staged"; }
    rm "$folder"/{one,auto,staged}
  done
done
