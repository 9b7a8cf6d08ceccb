# SPDX-License-Identifier: Apache-2.0
"""Counters of Capannini's Table 1, read by Nsight Compute."""

import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# Counters of Nsight Compute by the name that the page gives them.
COUNTERS = {
    "bank conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared",
    "loads": "l1tex__t_requests_pipe_lsu_mem_global_op_ld",
    "stores": "l1tex__t_requests_pipe_lsu_mem_global_op_st",
    "load sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld",
    "store sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st",
    "shared wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared",
    "warp instructions": "smsp__inst_executed",
    "thread instructions": "smsp__thread_inst_executed",
    "divergent branches": "smsp__sass_branch_targets_threads_divergent",
}
# Each run of ncu: (exponents of the first and the last number of keys, which grow by factors of four; counters). The first two are
# what Table 1 prints. Divergent branches need patched kernels, and several counters need several passes of a kernel.
COUNTED = [((20, 26), ("bank conflicts", "shared wavefronts")), ((20, 26), ("divergent branches",)),
           ((16, 20), ("warp instructions", "thread instructions")), ((20, 20), ("loads", "stores", "load sectors", "store sectors"))]
# Kernels by the row of bench sort --classics, which are in this order for each number of keys.
COUNTED_KERNELS = {
    "quicksort": r"split_kernel|fill_kernel|[^_]sort_kernel",
    "tiled radix": r"classics::.*(sort_tiles|sum_tiles|scan_sums|scan_tiles|move_runs)_kernel",
    "sortie bitonic": r"network_pass_kernel|multisort::(bitonic::)?sort_tiles_kernel",
}
# Of bitonic sort, quicksort and radix sort; "n.a.": not runnable in the memory of the device.


def gpu_names():
    if not shutil.which("nvidia-smi"):
        return []
    command = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout.splitlines()


def kernels_by_ncu(bench, exponents, names, seconds):
    """[(kernel, {counter: value})] of the first sort of each row, in the order of launches; None where that fails or takes longer."""
    # Keys of 32 random bits are uniform; of those of the case uniform, transactions would be counted, which takes long.
    arguments = ["bench", "sort", "--classics", "--from", str(2 ** exponents[0]), "--items", str(2 ** exponents[1]), "--case", "entropy:32", "--repeat", "1",
                 "--algorithm", *COUNTED_KERNELS]
    command = ["ncu", "--csv", "--profile-from-start", "off", "--kernel-name-base", "demangled", "--cache-control", "none", "--clock-control", "none",
               "--metrics", ",".join(COUNTERS[n] + ".sum" for n in names), bench, *arguments]
    # A file, as a pipe would stay open for as long as a program that ncu leaves behind.
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, start_new_session=True)
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
        output.seek(0)
        printed = output.read().splitlines()
    kernels = {}  # by their numbers, in the order of launches
    by_metric = {metric + ".sum": name for name, metric in COUNTERS.items()}
    for row in csv.DictReader(line for line in printed if line.startswith('"')):
        if name := by_metric.get(row["Metric Name"]):
            kernel = kernels.setdefault(int(row["ID"]), (row["Kernel Name"], {}))
            if re.fullmatch(r"[\d.,]+", row["Metric Value"]):
                kernel[1][name] = float(row["Metric Value"].replace(",", ""))
    if code != 0:
        print(f"pages.py: ncu, {', '.join(names)}: exit code {code} after {len(kernels)} kernels", *(line for line in printed if line.startswith("==")), sep="\n",
              file=sys.stderr, flush=True)
        return None
    return [kernels[number] for number in sorted(kernels)]


def sums_of_sorts(kernels, exponents):
    """{(exponent, row): {counter: sum}} of kernels in the order of launches."""
    sums, e, last = {}, exponents[0], None
    for kernel, values in kernels:
        row = next((r for r, pattern in COUNTED_KERNELS.items() if re.search(pattern, kernel)), None)
        if row is None:
            print(f"pages.py: not counted: {kernel}, which is of none of the three sorts", file=sys.stderr)
            continue
        if last and list(COUNTED_KERNELS).index(row) < list(COUNTED_KERNELS).index(last):
            e += 2
        last = row
        sum_of = sums.setdefault((e, row), {"kernels": 0})
        sum_of["kernels"] += 1
        for name, value in values.items():
            sum_of[name] = sum_of.get(name, 0) + value
    return sums


def count_by_ncu(bench, seconds):
    """Counters of Table 1, each of one array. A run of ncu that takes too long is left out."""
    end = time.monotonic() + seconds
    found = {"gpu": next(iter(gpu_names()), ""), "commit": "", "counts": {}}
    for exponents, names in COUNTED:
        begin = time.monotonic()
        kernels = kernels_by_ncu(bench, exponents, names, min(end - begin, seconds / 2)) if end - begin > 2 else None
        sums = sums_of_sorts(kernels or [], exponents)
        for (e, row), values in sums.items():
            counts = found["counts"].setdefault(f"2^{e}", {}).setdefault(row, {})
            counts |= values
        print(f"pages.py: {', '.join(names)}: {time.monotonic() - begin:.1f} s, kernels of sorts: "
              f"{', '.join(f'2^{e} {row} ' + str(values['kernels']) for (e, row), values in sums.items())}",
              file=sys.stderr, flush=True)
    return found
