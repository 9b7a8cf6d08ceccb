#!/usr/bin/env bash
# Runs all GPU tests of a build, then the same programs under compute-sanitizer.
#
#   check.sh BUILD [tests|memcheck|racecheck|initcheck ...]   default: all, one after another
#
# BUILD  a build folder of Sortie, or a copy of its tests/ and bin/ on a machine with a GPU
# LOGS   (environment) folder for the full output; default: a temporary one
# PROGRAMS  (environment) names of the test programs to run, for instance "spgemm suffix_array"
#
# One line a program; the last line is "N passed, N failed". Exits with 1 when anything failed.
#
# Racecheck slows every kernel down some hundred times. So it looks at Sortie's own kernels only (those
# of cuSPARSE and CUB would take most of the time), takes one program at a time (several share the GPU
# by turns and only get slower), and runs tests that are small and together run every kernel, with
# unsigned keys or 32-bit positions only where the others run the same ones. That ends in some minutes.
#
# Racecheck counts the barriers that each warp has been at, and takes two accesses for a race when
# their warps' counts differ. So it does not follow a block whose warps are in teams first of one
# size and then of another, since teams pass different numbers of barriers on their own work: it
# reports races in a kernel of ten lines (docs/gpu-runs.md has it) and in block_sort_kernel. That
# kernel is therefore checked with teams of one size at a time, and the others with all tests.
set -u
build=$(cd "$1" && pwd)
shift
steps=("$@")
[ $# -gt 0 ] || steps=(tests memcheck racecheck initcheck)
logs=${LOGS:-$(mktemp -d)}
mkdir -p "$logs"
export SORTIE_TEST_BACKEND=cuda SORTIE_PROGRAM=$build/bin/sortie
programs=(core_cuda device_segmented_sort bench_device spgemm_device suffix_array_device segmented_sort spgemm
  suffix_array multisort_device multisort_merge)
read -ra programs <<<"${PROGRAMS:-${programs[*]}}"

huge='*Large*'
# Rows of a million products take memcheck half a minute for each type: one type will do.
other_types='LongRows/0.*:LongRows/1.*:LongRows/3.*:LongRows/4.*:LongRows/5.*'
# What racecheck and initcheck run of a program; of those not named, all but huge inputs.
declare -A small=(
  [device_segmented_sort]='DeviceSegmentedSortTest.*:DeviceShapeTest/0.OneSegment*:DeviceShapeTest/0.Each*-*SortsOfTheSameData*'
  [bench_device]='SegsortPeers.*:TuneOnDevice.EveryBinding*'
  [spgemm_device]='*/0.*-*Million*:*BordersOfBins*:*SameBits*'
  [suffix_array_device]='DeviceBuild/0.*:DeviceRanges/0.EqualReference*-*HoldsNoMoreMemory*'
  [segmented_sort]='SegmentedSortTest/?.SortsEveryShape:SegmentOffset*'
  [spgemm]='Multiply/0.*-*ColumnsBeyondMemory*'
  [multisort_device]='DeviceSort.NotANumber*'
  [multisort_merge]='MergeSortOfU32.AFewTilesOfPairs:*OfFloatingPoint*:*Errors*'
  [suffix_array]='-*/1.*:*LongerThanTheReference*:CheckSuffixArray*:*AllShortTexts*:*Million*'
)
passed=0
failed=0

# run NAME COMMAND ...: passes when the command exits with 0
run() {
  local name=$1 start=$SECONDS status=0
  shift
  "$@" >"$logs/$name.log" 2>&1 || status=$?
  if [ $status = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED (exit code %s, see %s) ' $status "$logs/$name.log"
  fi
  printf '%s: %s %s %s s\n' "$name" \
    "$(grep -E '^\[  (PASSED|SKIPPED|FAILED) ' "$logs/$name.log" | tr '\n' ' ')" \
    "$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$logs/$name.log" | tr -d '=')" $((SECONDS - start))
  # The log may stay on a machine that is gone: the first findings are shown, too.
  [ $status = 0 ] || grep -m 12 -E '^=========|\[  FAILED|Failure$' "$logs/$name.log" | cut -c1-200
}

# Errors of calls are not reported: the tests make some fail on purpose. --error-exitcode makes what
# the tool finds a failure of the program.
sanitize() { # TOOL PROGRAM FILTER [NAME] [OPTIONS OF THE TOOL ...]
  local tool=$1 program=$2 filter=$3 name=${4:-$1-$2}
  shift $(($# < 4 ? $# : 4))
  run "$name" compute-sanitizer --tool "$tool" "$@" --report-api-errors no --error-exitcode 9 \
    "$build/tests/${program}_tests" --gtest_filter="$filter"
}

for step in "${steps[@]}"; do
  case $step in
    tests)
      for program in "${programs[@]}" cli; do
        run "tests-$program" "$build/tests/${program}_tests" --gtest_brief=1
      done
      ;;
    memcheck) for program in "${programs[@]}"; do sanitize memcheck "$program" "-$huge:$other_types"; done ;;
    racecheck)
      for program in "${programs[@]}"; do
        sanitize racecheck "$program" "${small[$program]:--$huge}" "" \
          --kernel-name kns=sortie --kernel-name-exclude kns=block_sort_kernel
        [ "$program" != device_segmented_sort ] ||
          sanitize racecheck "$program" 'DeviceTeamsTest/*' racecheck-teams \
            --kernel-name kns=block_sort_kernel
      done
      ;;
    initcheck)
      for program in "${programs[@]}"; do
        sanitize initcheck "$program" "${small[$program]:--$huge}"
      done
      ;;
    *)
      echo "check.sh: found \"$step\", expected tests, memcheck, racecheck or initcheck" >&2
      exit 2
      ;;
  esac
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
