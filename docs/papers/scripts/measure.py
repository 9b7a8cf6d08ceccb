# SPDX-License-Identifier: Apache-2.0
"""Runs the bench for the pages, and keeps its reports."""

import json
import lzma
import math
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

from ncu_counters import count_by_ncu, gpu_names
from reports import RESULTS
from runs import ON_GPUS, RUNS

ROOT = pathlib.Path(__file__).resolve().parents[3]  # of the repository: the bench names files from here


def run_bench(bench, lines):
    """The report of one run; or of several, with the rows of all, whose cases tell the number of items. None without any."""
    whole = None
    for line in [lines] if isinstance(lines, str) else lines:
        done = subprocess.run([bench, *shlex.split(line), "--json", "-"], stdout=subprocess.PIPE, cwd=ROOT, check=False)
        if done.returncode not in (0, 1) or not done.stdout:
            print(f"pages.py: no report, exit code {done.returncode}: {line}", file=sys.stderr)
            continue
        one = json.loads(done.stdout)
        if not isinstance(lines, str):
            for row in one["rows"]:
                row["case"] = f"2^{int(math.log2(row['items']))} {row['case']}"
                row["method"] += f", {one['threads']} threads" if one["backend"] == "host" else ""
        if whole is None:
            whole = one
        else:
            whole["rows"] += one["rows"]
            whole["command"] += ["and", *one["command"]]
    return whole


def require_gpu(bench):
    """Ends the program where BENCH cannot measure, so that no report of a GPU is replaced by one of the host."""
    try:
        done = subprocess.run([bench, "bench", "links", "--gpus", "1", "--bytes", "1M", "--repeat", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        found = done.stderr.strip().splitlines()[-1] if done.returncode else ""
    except OSError as error:
        found = str(error)
    if found:
        sys.exit(f"pages.py: --measure: found \"{found}\", expected sortie-bench of a build with CUDA, and a GPU. Nothing was measured. "
                 "Without --measure, the pages are written from the reports in docs/results/papers.")
    gpus = len(gpu_names())
    for number in ON_GPUS:
        if gpus < number:
            print(f"pages.py: {max(gpus, 1)} GPU{'s' if gpus > 1 else ''}: reports of {number} GPUs (-x{number}) stay as they are", file=sys.stderr)
    if not shutil.which("ncu"):
        print("pages.py: no ncu (Nsight Compute): the counters of Capannini's Table 1 stay as they are", file=sys.stderr)


def measure(bench, pages):
    bench = os.path.abspath(bench)
    require_gpu(bench)
    RESULTS.mkdir(parents=True, exist_ok=True)
    for page in pages or RUNS:
        if page == "capannini-2011" and shutil.which("ncu"):
            with lzma.open(RESULTS / "capannini-counters.json.xz", "wt", encoding="utf-8") as file:
                json.dump(count_by_ncu(bench, 3600), file)
        runs = dict(RUNS[page])
        for number, pages_on in ON_GPUS.items():
            if len(gpu_names()) >= number:
                runs |= pages_on.get(page, {})
        for name, lines in runs.items():
            if found := run_bench(bench, lines):
                with lzma.open(RESULTS / f"{name}.json.xz", "wb", preset=9 | lzma.PRESET_EXTREME) as file:
                    file.write(json.dumps(found, indent=2).encode())
