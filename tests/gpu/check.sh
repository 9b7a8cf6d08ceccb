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
# Racecheck slows every kernel down some hundred times, and takes one program at a time: several share
# the GPU by turns and only get slower. It leaves out the tests that call the same small kernels
# thousands of times over, and the inputs of millions of items; what remains runs every kernel (of the
# segmented sort with unsigned keys only: the others run the same kernels).
set -u
build=$(cd "$1" && pwd)
shift
steps=("$@")
[ $# -gt 0 ] || steps=(tests memcheck racecheck initcheck)
logs=${LOGS:-$(mktemp -d)}
mkdir -p "$logs"
export SORTIE_TEST_BACKEND=cuda SORTIE_PROGRAM=$build/bin/sortie
programs=(core_cuda device_segmented_sort bench_device spgemm_device suffix_array_device segmented_sort spgemm suffix_array)
read -ra programs <<<"${PROGRAMS:-${programs[*]}}"

huge='*Large*'
repeated='*EveryKeyPattern*:*EveryLength*:*Giant*:*AllShortTexts*:*LongerThanTheReference*:CheckSuffixArray*'
repeated+=':*ManySegmentsOfEqualLength*:*PowerLaws*:*OfTheHostsTests*:*Million*:DeviceKeyPattern*:DeviceBitRange*'
for signed_or_floating in 1 2 4 5; do
  repeated+=":DeviceShapeTest/$signed_or_floating.*:DeviceIcs17Test/$signed_or_floating.*"
done
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
}

# Errors of calls are not reported: the tests make some fail on purpose. --error-exitcode makes what
# the tool finds a failure of the program.
sanitize() { # TOOL PROGRAM FILTER
  run "$1-$2" compute-sanitizer --tool "$1" --report-api-errors no --error-exitcode 9 \
    "$build/tests/$2_tests" --gtest_brief=1 --gtest_filter="$3"
}

for step in "${steps[@]}"; do
  case $step in
    tests)
      for program in "${programs[@]}" cli; do
        run "tests-$program" "$build/tests/${program}_tests" --gtest_brief=1
      done
      ;;
    memcheck) for program in "${programs[@]}"; do sanitize memcheck "$program" "-$huge"; done ;;
    racecheck | initcheck)
      for program in "${programs[@]}"; do sanitize "$step" "$program" "-$huge:$repeated"; done
      ;;
    *)
      echo "check.sh: found \"$step\", expected tests, memcheck, racecheck or initcheck" >&2
      exit 2
      ;;
  esac
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
