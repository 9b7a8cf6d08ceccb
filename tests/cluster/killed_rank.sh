#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: killed_rank.sh SORTIE START...
# Runs a job on three ranks, where START and a number start as many (mpirun -n), and kills one of them
# while all wait for input. The job must end within 10 seconds, with an error and without an output;
# a temporary file beside it may be left. Fails with a line that says what is wrong.
sortie=$1
shift
start=("$@")
# shellcheck source=tests/cluster/program_setup.sh
source "$(dirname "$(readlink -f "$0")")/program_setup.sh"
mkdir output
mkfifo input
exec 3<>input # records never come

# The processes of ranks in this folder.
running_ranks() {
  for process in /proc/[0-9]*; do
    [[ "$(readlink "$process/cwd")" == "$folder" ]] || continue
    [[ "$(readlink "$process/exe")" == */sortie-@(openmpi|mpich|mpi) ]] && echo "${process#/proc/}"
  done 2>/dev/null | sort -n
}

for victim in 0 1 2; do
  timeout 60 "${start[@]}" 3 "$sortie" sort input --type u32 -o output/sorted.bin >messages 2>&1 3>&- &
  job=$!
  ranks=()
  for ((i = 0; i < 300 && ${#ranks[@]} != 3; ++i)); do
    sleep 0.1
    # Rank 0 copies its input to a temporary file once all ranks have begun.
    [[ -z "$(find output -name '.sortie-*.tmp')" ]] || mapfile -t ranks < <(running_ranks)
  done
  [[ ${#ranks[@]} == 3 ]] || fail "found ${#ranks[@]} ranks that wait for input, expected 3"
  kill -9 "${ranks[victim]}"
  begin=$SECONDS
  ! wait "$job" || fail "rank $victim was killed: found exit code 0, expected an error"
  ((SECONDS - begin <= 10)) || fail "the job ended $((SECONDS - begin)) s after a rank was killed"
  [[ -z "$(find output -type f ! -name '.sortie-*.tmp')" ]] || fail "found an output of a killed job"
  find output -type f -delete
done
echo "killed ranks: each job ended with an error and without an output"
