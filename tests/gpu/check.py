#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the GPU tests, plainly and under compute-sanitizer, and records the counts in one JSON file.

    check.py build/tests gpu-run.json
    check.py build/tests gpu-run.json --tools tests memcheck --jobs 8 --shards memcheck=4 --limit 300
    check.py build/tests gpu-run.json --tools racecheck --add --filter racecheck:spgemm='Multiply/0.*'
    check.py build/tests gpu-run.json --tools memcheck racecheck --short --add --jobs 16 --shards racecheck=16 --shards memcheck=6

TESTS is the folder of the test programs (NAME_tests). The file is rewritten after each process, so a
run that is stopped leaves what it had. --add keeps what an earlier call wrote for other programs and
tools; each entry names the commit that it was measured at. One line for each process; the exit code
is 1 when a test failed, a tool found something, or a process did not end.
`table.py` makes the table of docs/gpu-runs.md from the file.

Needs Python 3.9, and compute-sanitizer for everything but `tests`.

Filters: memcheck leaves out inputs of more than 2^31 items, and the rows of a million products for all
value types but one, which take half a minute each, long matches between genomes, and sorts of the classics
of many keys. racecheck slows kernels down some hundred times. It
therefore looks at Sortie's own kernels only, and runs small tests that together launch every kernel,
for unsigned keys or 32-bit positions where other types launch the same ones. It cannot follow
block_sort_kernel with teams of different sizes (docs/sanitizers.md), so that kernel has a run of its own
with few items in teams of one size. SegsortPeers.SortEveryShape is left out: the bench measures no sort that takes more
than 2 s, and racecheck slows some down to more than that. With --short, memcheck runs a part of the tests of the
sorting layer too, and nothing of other programs: on one GPU with 16 cores each tool takes about a minute.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib

TOOLS = ["tests", "memcheck", "racecheck", "initcheck"]
LARGE = "*Large*"
MEMCHECK = f"-{LARGE}:CInterfaceMemory*:LongRows/0.*:LongRows/1.*:LongRows/3.*:LongRows/4.*:LongRows/5.*:WriteMatches.LongMatches*"
# What memcheck leaves out of a program beside these: sorts that take it minutes; smaller tests launch their kernels.
# Of the classics, selection, insertion and transposition take a round for each key.
MEMCHECK_FURTHER = {"papers_device": ":*Classics.SortManyKeys*:*Classics.SortPairs*:*Classics.SortAnyLength/*ion:*Classics.CountTransactions/*ion",
                    "multisort_device": ":DeviceHostSort.BeyondTheMemory*"}
# The programs of the sorting layer, and what memcheck runs of each with --short. None: what it always runs.
SHORT = {
    "device_segmented_sort": "DeviceSegmentedSortTest.*:DeviceSegment*:DeviceNarrowKeys/*.SmallInputs:DeviceNarrowKeys/*.ForTools"
                             ":DeviceNarrowKeys/1.OneSegmentForTools:DeviceTeamsTest/*:DeviceSortOptions*:DeviceKeyPatternTest/0.*-*Large*",
    "device_sort": "DeviceArraySort/1.*:DeviceArraySort/7.*:DeviceArraySort/5.Desc*:DeviceArraySort/10.*:DeviceArraySortByDigits/*"
                   ":DeviceArraySortOfMagnitudes/*.ShortArrays:DeviceArraySortOfOrdered/0.*",
    "device_top_k": "DeviceTopKForTools.*:DeviceTopKGraph.*:DeviceTopKSegmentsTest.OwnK*:DeviceTopKSegmentsTest.ShortTeams",
    "segmented_sort": "SegmentedSortTest/5.*:SegmentedSortTest/18.*:SegmentOffset*:HalfKeys*",
    "sorting_device": None,
    "multisort_device": "DeviceSort.NotANumber*:*ChangedPartsOfRmgSort.OneSort*:DeviceHostSort.ReportsTheRepair*:DeviceSortTest/0.Unequal*",
    "multisort_merge": "MergeSortOfU32.AFewTilesOfPairs:*OfFloatingPoint*:*Errors*:MergeSort/0.EveryLengthAndCut",
    "papers_device": "DeviceIcs17BitRangeTest.*:DeviceIcs17CountTest.*:*Classics.OneSortOfPairs*",
    "bitonic_device": "Bitonic/0.*:Bitonic/5.EveryLength:BitonicOfFloatingPoint.*:BitonicErrors.*:BitonicOfLargestKeys.*",
    "c_interface": "CSort/0.*:CSort/4.*:CSortErrors.*:CHalf*:CTopK/0.*:CTopK/4.*:CTopKResults.*:CTopKErrors.*",
}
# Programs, and what racecheck and initcheck run of each.
PROGRAMS = {
    "core_cuda": f"-{LARGE}",
    "device_segmented_sort": "DeviceSegmentedSortTest.*:DeviceShapeTest/0.OneSegment*:DeviceShapeTest/0.Each*:DeviceShapeTest/6.OneSegment*"
                             ":DeviceSegmentValues/1.*:DeviceSegmentBits/1.*:DeviceNarrowKeys/1.Threads:DeviceNarrowKeys/1.SmallInputs:DeviceNarrowKeys/3.SmallInputs"
                             ":DeviceNarrowKeys/1.*ForTools:DeviceNarrowKeys/3.*ForTools"
                             "-*SortsOfTheSameData*:*ALargeGiant*",
    "device_sort": "DeviceArraySort/1.EveryD*:DeviceArraySort/7.EveryD*:DeviceArraySort/5.Desc*:DeviceArraySortByDigits/1.BucketsOf*"
                   ":DeviceArraySortByDigits/0.DigitsOf*:DeviceArraySortByDigits/0.RanksOf*:DeviceArraySort/10.Desc*"
                   ":DeviceArraySort/1.CarriedValuesF*:DeviceArraySort/7.CarriedValuesF*",
    "device_top_k": "DeviceTopKSegmentsTest.OwnK*:DeviceTopKSegmentsTest.ShortTeams:DeviceTopKGraph.*",
    "papers_device": "DeviceIcs17BitRangeTest.*:DeviceIcs17CountTest.*:*Classics.OneSortOfPairs*",
    "bitonic_device": "BitonicOfFloatingPoint.*:BitonicErrors.*",
    "dc3_device": "*DeviceConstruction.EqualsReferenceOnShort*",
    "bench_device": "SegsortPeers.*:TuneOnDevice.EveryBinding*-*SortEveryShape",
    "spgemm_device": "*/0.*-*Million*:*BordersOfBins*:*SameBits*",
    "spgemm_semiring": "SemiringTest/3.*-*SameBits*",
    "spgemm_galerkin": "Galerkin/0.Aggregation:Galerkin/0.Several*",
    "graph_clusters": "FindClusters.Two*:FindClusters.Clusters*",
    "suffix_array_device": "DeviceBuild/0.*:DeviceRanges/0.EqualReference*:DeviceRanges/0.RowsAre*:DeviceRanges/0.MirroredTextsOf*"
                           "-*HoldsNoMoreMemory*:*OrdersLargeGroups*",
    "segmented_sort": "SegmentedSortTest/1.SortsEveryShape:SegmentedSortTest/12.SortsEveryShape:SegmentOffsetTest/3.*:HalfKeys/0.Segments",
    "spgemm": "Multiply/0.*-*ColumnsBeyondMemory*",
    "suffix_array": "-*/1.*:*LongerThanTheReference*:CheckSuffixArray*:*AllShortTexts*:*Million*",
    "genome_index": "GenomeIndex.Files*:StarAnnotation.FilesAreThoseOfStar:FmIndex.FilesAre*",
    "genome_matches": "WriteMatches.LongMatches*:WriteMatches.ShortMatches*",
    "kmer_count": "*WithoutKmers*:Lengths/CountKmers.PassesOnAGpu*/5:Lengths/CountKmers.FiguresHave*/5",
    "inverted_index": "BuildIndex.NoDocuments*:BuildIndex.StemsJoin*:BuildIndex.LongWords*",
    "text_deduplication_device": "FindDuplicates.Removes*:FindDuplicates.Counts*:FindDuplicates.Runs*:DeviceSearch.Says*:DeviceStream.GoesOn*",
    "sorting_device": "ResidentSortOfFiles.TakesBudgets*",
    "multisort_device": "DeviceSort.NotANumber*:*ChangedPartsOfRmgSort.OneSort*:DeviceHostSort.ReportsTheRepair*",
    "multisort_merge": "MergeSortOfU32.AFewTilesOfPairs:*OfFloatingPoint*:*Errors*",
    "c_interface": "CSort/4.Descending:CSort/0.Positions:CSpgemm/1.PlanTakesNewValues:CSuffixes/0.*:CTopKResults.KeysAlone",
    # Products on several threads: racecheck loses track of overlapping launches (docs/sanitizers.md).
    "cluster_devices": "DeviceSuffixArrays/0.OfTricky*:RankDevices.*",
    "cli": None,  # starts the program, which the tools do not follow: `tests` only
}
RACECHECK_KERNELS = ["--kernel-name", "kns=sortie", "--kernel-name-exclude", "kns=block_sort_kernel"]
# Further runs of a tool: (program, tool) -> (filter, options).
FURTHER = {("device_segmented_sort", "racecheck"): ("DeviceTeamsTest/*.FewItems*-DeviceTeamsTest/1.FewItemsInLargeTiles:DeviceTeamsTest/1.FewItemsInOneLaunch",
                                                   ["--kernel-name", "kns=sortie"]),
           ("device_top_k", "racecheck"): ("DeviceTopKForTools.*", RACECHECK_KERNELS)}
FOUND_SOMETHING = 9  # the tool's exit code; a failed test gives 1, a missing GPU 77


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, metavar="TESTS")
    parser.add_argument("output", type=pathlib.Path, metavar="OUT.json")
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=TOOLS[:3], help="default: tests memcheck racecheck")
    parser.add_argument("--programs", nargs="+", metavar="NAME", help="default: all that this file names")
    parser.add_argument("--limit", type=int, default=600, metavar="SECONDS", help="for each process (default: 600)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes at a time, which share the cores (default: 1)")
    parser.add_argument("--filter", action="append", default=[], metavar="TOOL[:PROGRAM]=FILTER",
                        help="GoogleTest filter in place of the one in this file; may be repeated")
    parser.add_argument("--shards", action="append", default=[], metavar="TOOL[:PROGRAM]=N",
                        help="processes that share the tests of a program; may be repeated")
    parser.add_argument("--short", action="store_true", help="programs of the sorting layer only, with fewer tests under memcheck")
    parser.add_argument("--sortie", type=pathlib.Path, metavar="FILE", help="the program (default: TESTS/../bin/sortie)")
    parser.add_argument("--commit", help="default: what git says here")
    parser.add_argument("--logs", type=pathlib.Path, metavar="FOLDER", help="for full output (default: a temporary one)")
    parser.add_argument("--add", action="store_true", help="keep entries of OUT.json that this call does not make again")
    return parser.parse_args()


def by_tool(settings, option):
    """{(tool, program or None): text} of TOOL[:PROGRAM]=TEXT"""
    result = {}
    for setting in settings:
        key, separator, text = setting.partition("=")
        tool, _, program = key.partition(":")
        if not separator or tool not in TOOLS or (program and program not in PROGRAMS):
            sys.exit(f"check.py: {option}: found \"{setting}\", expected TOOL=... or TOOL:PROGRAM=...")
        result[tool, program or None] = text
    return result


def setting(settings, tool, program, default):
    return settings.get((tool, program), settings.get((tool, None), default))


def output_of(*command, environment=None):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def machine():
    """Name and number of GPUs, driver, CUDA version that the driver serves, version of the tools."""
    gpus = output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").strip().splitlines()
    name, _, driver = (gpus[0] if gpus else "unknown, unknown").partition(", ")
    cuda = re.search(r"CUDA Version: *([\d.]+)", output_of("nvidia-smi"))
    sanitizer = re.search(r"[Vv]ersion ([\d.]+)", output_of("compute-sanitizer", "--version"))
    return {"gpu": name, "gpus": len(gpus), "driver": driver, "cuda": cuda[1] if cuda else "unknown",
            "compute_sanitizer": sanitizer[1] if sanitizer else "unknown"}


def number_of_tests(path, filter):
    """How many tests of a program a filter selects; None where the program does not say."""
    # A list for the host starts no GPU.
    lines = output_of(str(path.resolve()), "--gtest_list_tests", f"--gtest_filter={filter}",
                      environment={**os.environ, "SORTIE_TEST_BACKEND": "host"}).splitlines()
    return sum(line.startswith("  ") for line in lines) or None


def parts_of(program, tool, arguments, filters, shards):
    """What is run of a program under a tool: (filter, options of the tool, shard, number of shards). At least a test each."""
    own = "*" if tool == "tests" else MEMCHECK + MEMCHECK_FURTHER.get(program, "") if tool == "memcheck" else PROGRAMS[program]
    if arguments.short and tool == "memcheck":
        own = SHORT[program] or own
    runs = [(setting(filters, tool, program, own), RACECHECK_KERNELS if tool == "racecheck" else [])]
    if (program, tool) in FURTHER:
        runs.insert(0, FURTHER[program, tool])  # first: they take longest
    most = int(setting(shards, tool, program, 1))
    path = arguments.folder / f"{program}_tests"
    numbers = [min(most, number_of_tests(path, filter) or most) if most > 1 else most for filter, _ in runs]
    return [(*run, shard, number) for run, number in zip(runs, numbers) for shard in range(number)]


def counts_of_report(path):
    """Passed, failed and skipped tests by GoogleTest's JSON; None without one."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return None
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for suite in report["testsuites"]:
        for test in suite["testsuite"]:
            if test["status"] == "RUN":
                counts["failed" if test.get("failures") else
                       "skipped" if test["result"] == "SKIPPED" else "passed"] += 1
    return counts


def counts_of_log(text):
    """The same of a process that was stopped, by what it printed."""
    return {name: len(re.findall(rf"^\[ *{word} *\] .*\(\d+ ms\)", text, re.MULTILINE))
            for name, word in (("passed", "OK"), ("failed", "FAILED"), ("skipped", "SKIPPED"))}


def findings_of(tool, text):
    """Errors or hazards that the tool found; None where it printed no summary (of each process, if several)."""
    word = r"RACECHECK SUMMARY: (\d+) hazard" if tool == "racecheck" else r"ERROR SUMMARY: (\d+) error"
    numbers = re.findall(word, text)
    return sum(map(int, numbers)) if numbers else None


def first_messages(text):
    lines = [line for line in text.splitlines() if re.match(r"=========\s+\S|\[ *FAILED|.*Failure$", line)
             and not re.search(r"COMPUTE-SANITIZER|SUMMARY: 0", line)]
    # Without folders: they are those of the machine that built.
    return [re.sub(r"/\S*/", "", line)[:200] for line in lines[:12]]


class Runner:
    def __init__(self, arguments, logs):
        self.processes = set()  # that run now; each leads a session of its own, which nothing else would end
        self.arguments, self.logs = arguments, logs
        sortie = arguments.sortie or arguments.folder.resolve().parent / "bin" / "sortie"
        # Processes that each have as many threads as cores wait for each other: tests took ten times as long.
        # Threads sleep while they wait, as under ctest on the host.
        threads = max(1, len(os.sched_getaffinity(0)) // arguments.jobs)
        self.environment = {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive", **os.environ,
                            "SORTIE_TEST_BACKEND": "cuda", "SORTIE_PROGRAM": str(sortie.resolve())}
        if arguments.jobs == 1:
            self.environment["SORTIE_TEST_ALONE"] = "1"  # free memory of the GPU can be compared

    def stop(self, *_):
        """Ends all processes and this program: a run that is stopped must not leave load on the GPU."""
        for process in list(self.processes):
            os.killpg(process.pid, signal.SIGKILL)
        os._exit(143)

    def run(self, program, tool, part):
        """Runs one process and returns its entry."""
        filter, options, shard, shards = part
        # Several runs of one program differ in their filters.
        name = "-".join([tool, program, f"{zlib.crc32(repr((filter, options)).encode()):08x}", str(shard)])
        path = self.arguments.folder / f"{program}_tests"
        entry = {"filter": filter, "shard": shard, "shards": shards, "seconds": 0, "exit_code": None, "ended": False,
                 "passed": 0, "failed": 0, "skipped": 0, "findings": None, "messages": []}
        if not path.exists():
            return {**entry, "messages": [f"no program {path.name}"]}
        report = self.logs / f"{name}.gtest.json"
        command = [str(path.resolve()), f"--gtest_filter={filter}", f"--gtest_output=json:{report}"]
        if tool != "tests":
            # Errors of calls are not reported: tests make some fail on purpose.
            command = ["compute-sanitizer", "--tool", tool, *options, "--report-api-errors", "no", "--error-exitcode",
                       str(FOUND_SOMETHING), *command]
        environment = {**self.environment, "GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(shard)}
        log = self.logs / f"{name}.log"
        start = time.monotonic()
        with open(log, "wb") as file:
            try:
                process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=environment,
                                           start_new_session=True)
            except OSError as error:
                return {**entry, "messages": [str(error)]}
            self.processes.add(process)
            try:
                entry["exit_code"] = process.wait(self.arguments.limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # its own session: the tool and the program beneath it
                process.wait()
            self.processes.discard(process)
        text = log.read_text(encoding="utf-8", errors="replace")
        counts = counts_of_report(report)
        entry.update(counts or counts_of_log(text))
        entry["seconds"] = round(time.monotonic() - start, 1)
        entry["findings"] = None if tool == "tests" else findings_of(tool, text)
        entry["ended"] = entry["exit_code"] is not None and counts is not None
        entry["messages"] = [] if is_good(tool, entry) else first_messages(text)
        return entry


def is_good(tool, entry):
    return entry["ended"] and entry["exit_code"] == 0 and not entry["failed"] and (tool == "tests" or entry["findings"] == 0)


def describe(program, tool, entry):
    state = "" if entry["ended"] else ", did not end"
    found = "" if tool == "tests" else f", {entry['findings']} findings"
    part = f" {entry['shard'] + 1}/{entry['shards']}" if entry["shards"] > 1 else ""
    return (f"{'ok' if is_good(tool, entry) else 'FAILED':6} {tool} {program}{part}: {entry['passed']} passed, "
            f"{entry['failed']} failed, {entry['skipped']} skipped{found}{state}, {entry['seconds']} s")


def main():
    arguments = parse_arguments()
    filters, shards = by_tool(arguments.filter, "--filter"), by_tool(arguments.shards, "--shards")
    known = list(SHORT if arguments.short else PROGRAMS)
    programs = arguments.programs or known
    for program in programs:
        if program not in known:
            sys.exit(f"check.py: --programs: found \"{program}\", expected one of {', '.join(known)}")
    commit = arguments.commit or output_of("git", "describe", "--always", "--dirty").strip()
    if not commit:
        sys.exit("check.py: no git repository here; --commit must name the commit")
    logs = arguments.logs or pathlib.Path(tempfile.mkdtemp(prefix="sortie-gpu-"))
    logs.mkdir(parents=True, exist_ok=True)
    result = {"commit": commit, "date": datetime.date.today().isoformat(), **machine(), "programs": {}}
    if arguments.add and arguments.output.exists():
        result["programs"] = json.loads(arguments.output.read_text(encoding="utf-8"))["programs"]

    work = [(program, tool, part) for tool in arguments.tools for program in programs
            if tool == "tests" or PROGRAMS[program] is not None
            for part in parts_of(program, tool, arguments, filters, shards)]
    for program, tool, _ in work:
        runs = sum((p, t) == (program, tool) for p, t, _ in work)
        result["programs"].setdefault(program, {})[tool] = {"commit": commit, "runs": runs, "parts": []}
    runner = Runner(arguments, logs)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, runner.stop)
    lock = threading.Lock()

    def run(item):
        program, tool, part = item
        entry = runner.run(program, tool, part)
        with lock:
            result["programs"][program][tool]["parts"].append(entry)
            # Of those that have begun only: a tool that is not reached stays "not run".
            written = {p: {t: c for t, c in tools.items() if c["parts"]} for p, tools in result["programs"].items()}
            arguments.output.write_text(json.dumps({**result, "programs": written}, indent=1) + "\n", encoding="utf-8")
            print(describe(program, tool, entry), flush=True)
            for message in entry["messages"]:
                print("   " + message, flush=True)
        return is_good(tool, entry)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        good = list(pool.map(run, work))
    print(f"{sum(good)} good, {len(good) - sum(good)} not; logs in {logs}")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
