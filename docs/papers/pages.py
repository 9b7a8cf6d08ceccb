#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the figures of the papers, and writes the generated parts of the pages in this folder.

    pages.py                              rewrite the tables and the pictures
    pages.py --check                      change nothing; exit with 1 when one is out of date
    pages.py --measure BENCH [PAGE ...]   first run BENCH for these pages (default: all) and keep
                                          the reports in docs/results/papers; BENCH is build/bin/sortie-bench
    pages.py --commands BENCH             print the command lines of --measure

A page has its generated parts between `<!-- NAME -->` and `<!-- end -->`. Needs the standard library of
Python 3.9 only. The same reports give the same bytes.
"""

import csv
import json
import lzma
import math
import os
import pathlib
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(__file__).resolve().parent
RESULTS = FOLDER.parent / "results" / "papers"
ROOT = FOLDER.parent.parent  # of the repository: files are named from here
sys.path.insert(0, str(FOLDER.parent / "figures"))
from performance import Picture, geometric_mean, number, table  # noqa: E402

LENGTHS = " ".join(f"--case 'length {2 ** e}'" for e in range(15))
SORTS = "uniform normal zipf:0.5 zipf:1.5 sorted nearly reverse equal entropy:8 entropy:10 entropy:26"
HOST_SORTS = "uniform normal zipf:1.5 sorted nearly reverse equal entropy:10"
HOST_PEERS = "--algorithm radix paradis gnu-parallel-sort"
WEBS = "gen:web:1M:3154K:71M:500:40:0.85 gen:web:916428:5105K:60300K:32:200:0.8 gen:er:1M:4"
SKEWED = " ".join(["uniform", *(f"entropy:{b}" for b in (28, 26, 25, 24, 20, 18, 16, 12, 10, 9, 8, 4)), "equal",
                  *(f"zipf:{e}" for e in (0.5, 0.75, 1, 1.25, 1.5, 2))])
DEVIATIONS = "uniform normal:0.3 normal:0.1 normal:0.01 normal:0.001 normal:0.0001 normal:0.00001 zipf:0.5 zipf:1 zipf:2 equal"
OTHERS = "normal zipf sorted reverse nearly entropy high-bits few equal shared-digit"
TANASIC = "--algorithm tanasic --values u32 --case uniform --repeat 3 --without-cub"
EXPONENTS = tuple(range(16, 29, 2))


def tanasic_runs(gpus, suffix=""):
    """Runs of figures 6 to 9 by their reports."""
    by_size = lambda key, more, exponents: [f"bench sort --type {key} --items {2 ** e} --gpus {gpus} {more}{TANASIC}" for e in exponents]
    return {f"tanasic-f32{suffix}": by_size("f32", "", EXPONENTS), f"tanasic-f64{suffix}": by_size("f64", "", EXPONENTS[::2]),
            f"tanasic-host-f32{suffix}": by_size("f32", "--host-to-host ", EXPONENTS[1:]), f"tanasic-host-f64{suffix}": by_size("f64", "--host-to-host ", EXPONENTS[2::2])}


# What is changed of rmg, and the keys for which it matters.
RMG_CHANGES = (("", "uniform zipf:0.5 reverse equal entropy:10"), ("no-overlap", "uniform"), ("fuse=0 max-brs=100000", "uniform"), ("fuse=0", "uniform"), ("fuse=2", "uniform"),
               ("max-brs=100000", "zipf:0.5"), ("min-sco=0", "entropy:10"), ("move-all", "equal entropy:10"), ("exchange-mirrored", "reverse"), ("batch-copies", "uniform entropy:10"))


def rmg_changes():
    """Runs that change a part of rmg each; the last ones in GPU memory, of many copies."""
    return [*(f"bench sort --items 128M --gpus 2 --host-to-host --algorithm rmg --case {cases} --repeat 5 --without-cub{' --rmg ' + change if change else ''}" for change, cases in RMG_CHANGES),
            *(f"bench sort --items 256M --gpus 8 --algorithm rmg --case uniform normal entropy:26 zipf:0.75 --repeat 3 --without-cub{change}" for change in ("", " --rmg batch-copies"))]


def ilic_runs(gpus, suffix):
    """Runs of Ilic's figures on several GPUs by their reports; all but those of the types from host memory to host memory."""
    run = lambda items, algorithms, cases, on=gpus: f"bench sort --items {items} --gpus {on} --host-to-host --algorithm {algorithms} --case {cases} --repeat 3 --without-cub"
    several, most = gpus.removeprefix("1 "), " ".join(gpus.split()[-2:])  # most: all GPUs, and eight devices
    return {f"ilic-host-512M{suffix}": run("512M", "rmg tanasic het", "uniform"),
            **({f"ilic-options{suffix}": rmg_changes()} if suffix == "-x2" else {}),
            f"ilic-host{suffix}": run("128M", "rmg tanasic", HOST_SORTS, several),
            f"ilic-skew{suffix}": run("128M", "rmg", SKEWED, most),
            f"ilic-host-sizes{suffix}": [run(items, "rmg tanasic het", "uniform", several) for items in ("8M", "32M")],
            f"ilic-cases{suffix}": f"bench sort --items 1G --gpus {most.split()[0]} --algorithm rmg tanasic --case {SORTS} --repeat 3",
            **{f"ilic-{t}{suffix}": f"bench sort --type {t} --items 512M --gpus {most} --algorithm rmg tanasic --case {'zipf:1' if t[0] == 'f' else 'uniform'} --repeat 3 --without-cub"
               for t in ("u32", "u64", "f32", "f64")}}


# Arguments of sortie-bench by page and report; a list is of several runs, whose rows are in one report.
RUNS = {
    "hou-2017": {
        "hou-kernels": "bench tune --paper --items 32M --repeat 3",
        "hou-lengths": f"bench segsort --policy tuned --policy ics17 --items 128M --repeat 3 {LENGTHS}",
        "hou-grid": "bench segsort --grid --policy ics17 --items 8M",
        "hou-grid-64": "bench segsort --grid --policy ics17 --items 8M --value u64",
        "hou-rounds": "bench suffix-array gen:dna:16M gen:repeats:16M --algorithm prefix-doubling --rounds 8 --repeat 1",
        "hou-products": f"bench spgemm {WEBS} gen:rmat:15:8 gen:banded:200K:4 --algorithm essc --check-by row-wise --repeat 1",
        "hou-suffix-arrays": "bench suffix-array gen:dna:16M gen:dna:64M gen:dna:128M gen:repeats:16M gen:repeats:64M "
                             "gen:fibonacci:16M --algorithm prefix-doubling dc3 pdss --repeat 3",
    },
    "tanasic-2013": {
        "tanasic-links": "bench links --gpus 2 --repeat 5",
        **tanasic_runs("1 2 4"),
        "tanasic-staged-28": f"bench sort --type f32 --items {2 ** 28} --gpus 2 4 --transport staged {TANASIC}",
        "tanasic-host-peers": [f"bench sort --backend host --type f32 --values u32 --items {2 ** e} --threads {t} --case uniform --repeat 2 --algorithm gnu-parallel-sort"
                               for e in EXPONENTS[1:-1:2] for t in (8, 16)],
    },
    "ilic-2022": {
        "ilic-cases": f"bench sort --items 1G --gpus 2 --algorithm rmg tanasic --case {SORTS} --repeat 3 --without-cub",
        "ilic-bits": "bench sort --classics --from 1G --items 1G --repeat 5 --algorithm 'cub radix' " + " ".join(f"'cub radix, {b} bits'" for b in range(4, 32, 4)),
        "ilic-host": f"bench sort --items 128M --gpus 2 --host-to-host --algorithm rmg rmg-repair tanasic --case {HOST_SORTS} --repeat 3 --without-cub",
        **{f"ilic-{t}": f"bench sort --type {t} --items 512M --gpus 2 --algorithm rmg tanasic --case {'zipf:1' if t[0] == 'f' else 'uniform'} --repeat 3 --without-cub"
           for t in ("u32", "u64", "f32", "f64")},
        "ilic-skew": f"bench sort --items 256M --gpus 2 8 --algorithm rmg --case {SKEWED} --repeat 3 --without-cub",
        "ilic-options": rmg_changes(),
        "ilic-cases-8": "bench sort --items 256M --gpus 8 --algorithm rmg tanasic --case uniform normal zipf:1.5 sorted reverse equal entropy:10 --repeat 3 --without-cub",
        "ilic-host-peers": [f"bench sort --backend host --items {items} --case uniform --repeat {repeat} {HOST_PEERS}" for items, repeat in (("2M", 3), ("8M", 3), ("32M", 3), ("128M", 1))],
    },
    "capannini-2011": {
        "capannini-distributions": "bench sort --classics --from 1M --items 64M --repeat 20 --case uniform normal zipf equal "
                                   "--algorithm 'sortie bitonic' quicksort 'tiled radix'",
        "capannini-deviations": f"bench sort --classics --from 16M --items 16M --repeat 20 --case {DEVIATIONS} "
                                "--algorithm 'sortie bitonic' quicksort 'tiled radix'",
    },
    "garland-survey": {
        "garland-classics": "bench sort --classics --items 256M --repeat 3",
        "garland-quadratic": f"bench sort --classics --from 16K --items 16K --repeat 3 --case {OTHERS}",
        "garland-pairs": "bench sort --classics --values u32 --items 256M --repeat 3",
        "garland-pairs-quadratic": f"bench sort --classics --values u32 --from 16K --items 16K --repeat 3 --case {OTHERS}",
        "garland-pairs-distributions": f"bench sort --classics --values u32 --from 1M --items 1M --repeat 3 --case {OTHERS}",
        "garland-distributions": f"bench sort --classics --from 1M --items 1M --repeat 3 --case {OTHERS}",
    },
    "cusp": {"cusp-products": f"bench spgemm {WEBS} matrices/sample/NotreDame_www.mtx.gz --algorithm cusp esc essc fused cusparse --check-by row-wise --repeat 7"},
}
# The same on several GPUs, measured where there are as many.
ON_GPUS = {
    number: {
        "tanasic-2013": {
            f"tanasic-links-x{number}": f"bench links --gpus {number} --repeat 5",
            **({"tanasic-links-64M": "bench links --gpus 2 --bytes 64M --repeat 3"} if number == 2 else {}),
            **tanasic_runs(gpus, f"-x{number}"),
            f"tanasic-staged-28-x{number}": f"bench sort --type f32 --items {2 ** 28} --gpus {gpus.removeprefix('1 ')} --transport staged {TANASIC}",
        },
        "ilic-2022": ilic_runs(gpus + " 8", f"-x{number}"),
    }
    for number, gpus in ((2, "1 2"), (4, "1 2 4"))
}
# Reports of earlier runs, in the other folders of docs/results.
EARLIER = {"sort-merge-u32": "sort", "sort-u32-4e9": "sort"}


# ---- reports ------------------------------------------------------------------------------------

def report(name, cache={}):
    if name not in cache:
        path = (RESULTS.parent / EARLIER[name] if name in EARLIER else RESULTS) / f"{name}.json.xz"
        cache[name] = json.loads(lzma.open(path, "rt", encoding="utf-8").read()) if path.exists() else None
    return cache[name]


def rows_of(name):
    """{case: {method: row}} of a report, right results only."""
    cases = {}
    for row in (report(name) or {"rows": []})["rows"]:
        if row["agrees"] and not row["failure"]:
            cases.setdefault(row["case"].removesuffix(" on the device"), {})[row["method"]] = row
    return cases


def measured_by(names):
    """Which GPU and commit the reports are from."""
    commits = {}
    for name in names:
        if (r := report(name)) and (r.get("gpu") or r.get("backend") == "host"):
            machine = r["gpu"]["name"] if r.get("gpu") else f"the host of that machine, {r['machine']['cores']} cores"
            commits.setdefault(machine, set()).update(r["commit"].split("; "))
    found = [f"{machine}, commit{'s' if len(of) > 1 else ''} {', '.join(sorted(of))}" for machine, of in sorted(commits.items())]
    return [f"Measured on: {'; '.join(found)}." if found else "Not measured yet."]


def milliseconds(row):
    return 1e3 * row["median_seconds"]


def verdict(holds):
    return "" if holds is None else "yes" if holds else "no"


def claims(lines):
    """Lines of (claim, printed, here, whether it holds)."""
    return table(["claim", "printed", "here", "held"], [[c, p, h, verdict(v)] for c, p, h, v in lines])


# ---- pictures -----------------------------------------------------------------------------------

STYLES = [("own", "circle"), ("a", "up"), ("b", "square"), ("c", "diamond"), ("d", "down"), ("e", "circle"), ("copy", "cross")]


def chart(title, x_label, y_label, series, log_y=True, log_x=True):
    """Lines of {label: [(x, y), ...]} over x or its binary logarithm."""
    picture = Picture(820, 440, title)
    left, right, top, bottom = 70, 800, 62 + 20 * ((len(series) + 3) // 4), 390
    points = [p for line in series.values() for p in line]
    scaled = math.log2 if log_x else float
    x_ends = [scaled(f(x for x, _ in points)) for f in (min, max)]
    low, high = (f(y for _, y in points) for f in (min, max))
    if log_y:
        y_ends = (math.floor(math.log10(low)), math.ceil(math.log10(high)))
        ticks = [10.0 ** e * k for e in range(y_ends[0], y_ends[1] + 1) for k in (1, 2, 5)]
        ticks = [t for t in ticks if low * 0.8 <= t <= high * 1.25]
        y_ends = (math.log10(low * 0.8), math.log10(high * 1.25))
    else:
        step = 10 ** math.floor(math.log10(high)) / 2
        y_ends = (0, high * 1.05)
        ticks = [step * k for k in range(int(high / step) + 1)]
    x_of = lambda x: left + (right - left) * (scaled(x) - x_ends[0]) / max(x_ends[1] - x_ends[0], 1)
    y_of = lambda y: bottom - (bottom - top) * ((math.log10(y) if log_y else y) - y_ends[0]) / (y_ends[1] - y_ends[0])
    picture.text(16, 28, title, size=15, weight="bold")
    for tick in ticks:
        picture.line(left, y_of(tick), right, y_of(tick))
        picture.text(left - 8, y_of(tick) + 4, f"{tick:g}", "end", 11)
    if log_x:
        for power in range(math.ceil(x_ends[0]), int(x_ends[1]) + 1, max(1, round((x_ends[1] - x_ends[0]) / 10))):
            picture.text(x_of(2 ** power), bottom + 18, str(2 ** power) if power < 14 else f"2^{power}", "middle", 11)
    else:
        for x in sorted({x for x, _ in points}):
            picture.text(x_of(x), bottom + 18, f"{x:g}", "middle", 11)
    picture.line(left, bottom, right, bottom, "axis")
    picture.text((left + right) / 2, bottom + 40, x_label, "middle")
    picture.add(f"<text class=\"ink\" font-size=\"12\" text-anchor=\"middle\" transform=\"translate(18 "
                f"{(top + bottom) / 2}) rotate(-90)\">{y_label}</text>")
    for i, (label, line) in enumerate(series.items()):
        name, shape = STYLES[i % len(STYLES)]
        dashed = i >= len(STYLES)
        xy = [(x_of(x), y_of(y)) for x, y in sorted(line)]
        picture.curve(xy, name, dashed)
        for x, y in xy:
            picture.mark(x, y, name, shape, 3.4)
        picture.legend(left + 182 * (i % 4), 50 + 20 * (i // 4), [(label, name, None if dashed else shape, dashed)], 0)
    return picture.svg()


def stacked(title, note, bars, shares=True):
    """A horizontal bar for each of {label: {part: value}}, as shares of its sum or as long as its sum."""
    parts = list(dict.fromkeys(part for values in bars.values() for part in values))
    highest = max(sum(values.values()) for values in bars.values())
    picture = Picture(820, 92 + 26 * len(bars) + 20 * ((len(parts) + 3) // 4), title)
    picture.text(16, 28, title, size=15, weight="bold")
    picture.text(16, 48, note, size=11.5, name="soft")
    for i, part in enumerate(parts):
        picture.legend(16 + 196 * (i % 4), 72 + 20 * (i // 4), [(part, STYLES[i % len(STYLES)][0], "square", False)], 0)
    y = 66 + 20 * ((len(parts) + 3) // 4)
    for label, values in bars.items():
        picture.text(190, y + 15, label, "end", 11.5)
        x, whole = 200.0, sum(values.values())
        for i, part in enumerate(parts):
            width = 590 * values.get(part, 0) / whole if shares else 550 * values.get(part, 0) / highest
            picture.bar(x, y, width, 18, STYLES[i % len(STYLES)][0])
            if width > 34:
                picture.text(x + width / 2, y + 14, f"{100 * values[part] / whole:.0f} %" if shares else number(values[part]), "middle", 11, "bg")
            x += width
        if not shares:
            picture.text(x + 6, y + 14, number(whole), "start", 11)
        y += 26
    return picture.svg()


def bars(title, note, groups, labels=()):
    """A horizontal bar for each value of {group: {label: value}}, one below the other."""
    labels = list(labels) or list(dict.fromkeys(label for values in groups.values() for label in values))
    rows = sum(len(values) for values in groups.values())
    picture = Picture(820, 100 + 15 * rows + 8 * len(groups) + 20 * ((len(labels) + 3) // 4), title)
    picture.text(16, 28, title, size=15, weight="bold")
    picture.text(16, 48, note, size=11.5, name="soft")
    for i, label in enumerate(labels):
        picture.legend(16 + 196 * (i % 4), 72 + 20 * (i // 4), [(label, STYLES[i % len(STYLES)][0], "square", False)], 0)
    highest = max(value for values in groups.values() for value in values.values())
    y = 66 + 20 * ((len(labels) + 3) // 4)
    for group, values in groups.items():
        picture.text(190, y + 7.5 * len(values) + 4, group, "end", 11.5)
        for label, value in values.items():
            picture.bar(200, y, 520 * value / highest, 12, STYLES[labels.index(label) % len(STYLES)][0])
            picture.text(206 + 520 * value / highest, y + 10, number(value), "start", 11)
            y += 15
        y += 8
    return picture.svg()


# ---- Hou et al. 2017 ----------------------------------------------------------------------------

def right(times):
    return [t for t in times if t["agrees"] and not t["failure"] and t["rate"]]


def best_bindings(kernel):
    """{length: {binding: best rate}}"""
    lengths = {}
    for time in right(report("hou-kernels")["tune"]["paper"][kernel]):
        binding = (time["threads"], time["items"])
        of = lengths.setdefault(time["length"], {})
        of[binding] = max(of.get(binding, 0), time["rate"])
    return lengths


# (threads, items) of the bins of papers/ics17/policy.cuh.
BINS = {2: (1, 2), 4: (2, 2), 8: (4, 2), 16: (4, 4), 32: (8, 4), 64: (16, 4), 128: (16, 8), 256: (32, 8), 512: (32, 16),
        1024: (128, 8), 2048: (256, 8)}


def hou_bindings(kernel):
    lines = []
    for length, rates in sorted(best_bindings(kernel).items()):
        best, worst = max(rates, key=rates.get), min(rates, key=rates.get)
        bin_of = BINS.get(length) if BINS.get(length) in rates else None
        lines.append([str(length), f"{best[0]}:{best[1]}", number(rates[best]), f"{worst[0]}:{worst[1]}", number(rates[worst]),
                      f"{rates[best] / rates[worst]:.2f}", f"{bin_of[0]}:{bin_of[1]}" if bin_of else "",
                      f"{rates[bin_of] / rates[best]:.2f}" if bin_of else ""])
    return table(["segment", "fastest, threads:pairs", "10^9 pairs/s", "slowest", "10^9 pairs/s", "ratio", "bin of `ics17`", "its rate / fastest"], lines)


def hou_kernel_rates(kernel):
    """{label: [(segment, rate)]} by the pairs a thread and the write method, of the best block size."""
    best = {}
    for time in right(report("hou-kernels")["tune"]["paper"][kernel]):
        if time.get("chunks", "full") == "full":
            of = best.setdefault((time["items"], time["write"]), {})
            of[time["length"]] = max(of.get(time["length"], 0), time["rate"])
    return {f"{items} a thread, {write}": sorted(best[items, write].items()) for items, write in sorted(best)}


def hou_block_sizes():
    """Rates of the register sorts by block size, over those of blocks of 128 threads."""
    times = right(report("hou-kernels")["tune"]["paper"]["reg_sort"])
    sizes = sorted({t["block_threads"] for t in times})
    lines = []
    for items in sorted({t["items"] for t in times}):
        rates = {b: geometric_mean(t["rate"] for t in times if t["block_threads"] == b and t["items"] == items) for b in sizes}
        lines.append([str(items), *(f"{rates[b] / rates[128]:.3f}" for b in sizes)])
    return table(["pairs a thread", *(f"{b} threads" for b in sizes)], lines)


HEAT_PEERS = {"cub_seconds": "CUB's segmented sort", "radix_seconds": "cusort-seg", "moderngpu_seconds": "moderngpu"}


def hou_heat():
    """Figure 12: a field for each peer and size of values; a cell for each point, darker where `ics17` is faster."""
    fields = [(peer, bits, {(p["exponent"], p["longest"]): p[peer] / p["sortie_seconds"] for p in grid(name) if p.get(peer, 0) > 0})
              for bits, name in ((32, "hou-grid"), (64, "hou-grid-64")) if report(name) for peer in HEAT_PEERS]
    fields = [f for f in fields if f[2]]
    steps = (0.8, 1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8, 10)  # borders of the classes
    picture = Picture(820, 96 + 210 * ((len(fields) + 2) // 3), "Fig. 12: time of a peer over that of ics17, power laws")
    picture.text(16, 28, "Fig. 12: time of a peer over that of `ics17`, power laws", size=15, weight="bold")
    shade = lambda i: f"hsl(210,{30 + 4 * i}%,{90 - 6 * i}%)" if i else "hsl(20,80%,65%)"
    for i, least in enumerate((0, *steps)):
        x = 16 + 58 * i
        picture.add(f"<rect x=\"{x}\" y=\"42\" width=\"12\" height=\"12\" fill=\"{shade(i)}\"/>")
        picture.text(x + 16, 52, f"< {steps[0]}" if i == 0 else f"{least:g}", size=11)
    for number_of, (peer, bits, values) in enumerate(fields):
        left, top = 50 + 262 * (number_of % 3), 92 + 210 * (number_of // 3)
        picture.text(left, top - 8, f"{HEAT_PEERS[peer]}, {bits}-bit values", size=12)
        by_class = {}
        for (exponent, longest), value in values.items():
            i = sum(value >= step for step in steps)
            by_class.setdefault(i, []).append(f"M{left + 5 * (longest // 50 - 1)} {top + 10 * (16 - round(10 * exponent))}h5v10h-5z")
        for i, cells in sorted(by_class.items()):
            picture.add(f"<path fill=\"{shade(i)}\" d=\"{''.join(cells)}\"/>")
        for longest in (50, 500, 1000, 1500, 2000):
            picture.text(left + 5 * (longest // 50) - 2, top + 174, str(longest), "middle", 10)
        for exponent in (0.1, 0.6, 1.1, 1.6):
            picture.text(left - 5, top + 10 * (16 - round(10 * exponent)) + 9, f"{exponent}", "end", 10)
    return picture.svg()


def hou_fig13():
    return {case.removeprefix("gen:"): {m: rows[m]["rate"] for m in ("dc3", "pdss")} for case, rows in rows_of("hou-suffix-arrays").items()}


def hou_fig14():
    groups = {}
    for case, rows in product_rows().items():
        whole = rows["essc"]["median_seconds"]
        groups[":".join(case.split(":")[1:4]) if case.startswith("gen:") else pathlib.Path(case).name.split(".")[0]] = {m: row["median_seconds"] / whole for m, row in rows.items() if m in ("cusp", "esc", "essc", "cusparse", "bhsparse")}
    return groups


def hou_chunks():
    """Rates of the shared-memory bins with full and with uneven chunks."""
    times = right(report("hou-kernels")["tune"]["paper"].get("chunks", []))
    lines = []
    for length, threads, items in sorted({(t["length"], t["threads"], t["items"]) for t in times}):
        rates = {t["chunks"]: t["rate"] for t in times if (t["length"], t["threads"], t["items"]) == (length, threads, items)}
        if len(rates) == 2:
            lines.append([str(length), f"{threads}:{items}", number(rates["full"]), number(rates["uneven"]), f"{rates['uneven'] / rates['full']:.2f}"])
    return table(["segment", "bin, threads:pairs", "full chunks, 10^9 pairs/s", "(m, m')", "gain"], lines) if lines else ["Not measured yet."]


def hou_bins():
    """The bins that bench tune --paper would choose."""
    chosen = report("hou-kernels")["tune"]["paper"].get("bins", [])
    lines = []
    for t in chosen:
        ours = BINS.get(t["length"])
        own = [o["rate"] for kernel in ("reg_sort", "smem_merge") for o in right(report("hou-kernels")["tune"]["paper"][kernel])
               if (o["threads"], o["items"]) == ours and o["length"] == t["length"] and (kernel == "smem_merge" or o["block_threads"] == 128)]
        lines.append([str(t["length"]), f"{t['threads']}:{t['items']}", t["write"], number(t["rate"]), f"{ours[0]}:{ours[1]}" if ours else "", f"{max(own) / t['rate']:.2f}" if own else ""])
    return table(["bin", "fastest, threads:pairs", "writes", "10^9 pairs/s", "`ics17`", "its rate / fastest"], lines) if lines else ["Not measured yet."]


def hou_moderngpu():
    points = grid()
    lines = []
    wide = grid("hou-grid-64") if report("hou-grid-64") else []
    place = lambda p: (p["exponent"], p["longest"])
    exponents = sorted({p["exponent"] for p in wide})
    of = "all" if len(wide) == len(points) else "exponents " + ", ".join(f"{e:g}" for e in exponents)
    same = [p for p in points if place(p) in set(map(place, wide))]
    wider = [(f"{of}, 64-bit values", wide)] * bool(wide) + [(f"{of}, 32-bit values", same)] * (0 < len(same) < len(points))
    for label, chosen in wider + [("all, 32-bit values", points)] + [(f"longest {low + 1} to {high}", [p for p in points if low < p["longest"] <= high]) for low, high in ((0, 250), (250, 500), (500, 1000), (1000, 2000))]:
        line = [label, str(len(chosen))]
        for peer in HEAT_PEERS:
            ratios = [p[peer] / p["sortie_seconds"] for p in chosen if p.get(peer, 0) > 0]
            line.append("" if not ratios else f"{min(ratios):.2f} / {geometric_mean(ratios):.2f} / {max(ratios):.2f}")
        lines.append(line)
    return table(["points", "number", "CUB: least / mean / greatest", "cusort-seg", "moderngpu"], lines)


def size_shares(sizes):
    """[(least size of the class, share of the segments)]"""
    whole = sum(sizes.values())
    return [(int(name.split("-")[0]), 100 * n / whole) for name, n in sizes.items()]


def hou_short_shares():
    """Percent of the segments of Fig. 2 below 2048 items, of products and of suffixes, and whether most are; None without a report."""
    if not report("hou-rounds") or not report("hou-products"):
        return None
    below = {label: sum(share for least, share in line if least < 2048) for label, line in fig2_series().items()}
    span = lambda values: f"{min(values):.0f} to {max(values):.0f} %" if max(values) - min(values) >= 1 else f"{min(values):.0f} %"
    return "; ".join(span([share for label, share in below.items() if label.endswith("round 1") == suffixes]) for suffixes in (False, True)), min(below.values()) > 50


def fig2_series():
    """Shares of the segments by length: in the second round of prefix doubling, and of the rows of products."""
    series = {}
    for row in report("hou-rounds")["rows"]:
        if row.get("rounds"):
            series[row["case"].split(":")[1] + ", round 1"] = size_shares(row["rounds"][0]["groups_of_size"])
    for case, rows in rows_of("hou-products").items():
        sizes = next(iter(rows.values())).get("rows_by_products")
        if sizes:
            series[":".join(case.split(":")[1:5])] = size_shares(sizes)
    return series


def hou_fig2():
    series = fig2_series()
    return chart("Fig. 2: segments by their length", "items, classes of powers of two", "percent of the segments", series)


def hou_lengths():
    points = {}
    for case, rows in rows_of("hou-lengths").items():
        for method, row in rows.items():
            points.setdefault(LABELS.get(method, method), []).append((int(case.split()[1]), row["rate"]))
    return points


LABELS = {"memcpy": "copy of the same bytes", "sortie ics17": "the paper's policy, ics17", "sortie": "Sortie's policy",
          "cub segmented": "CUB segmented sort", "moderngpu": "moderngpu", "radix segment+key": "radix by (segment, key)"}


def grid(name="hou-grid"):
    return [p for p in report(name)["grid"]["points"] if p["agrees"] and not p["failure"]]


def grid_speedups(peer):
    return [p[peer] / p["sortie_seconds"] for p in grid() if p.get(peer, 0) > 0]


def hou_grid_table():
    points = grid()
    exponents = [0.1, 0.4, 0.7, 1.0, 1.3, 1.6]
    lines = []
    for longest in (50, 250, 500, 1000, 1500, 2000):
        line = [str(longest)]
        for exponent in exponents:
            p = next((p for p in points if abs(p["exponent"] - exponent) < 0.01 and p["longest"] == longest), None)
            line.append(f"{p['cub_seconds'] / p['sortie_seconds']:.1f} / {p['radix_seconds'] / p['sortie_seconds']:.1f}"
                        if p else "")
        lines.append(line)
    return table(["longest segment", *(f"a = {e}" for e in exponents)], lines)


def suffix_array_rates():
    return {case: {m: r["rate"] for m, r in rows.items()} for case, rows in rows_of("hou-suffix-arrays").items()}


def hou_suffix_arrays():
    lines = []
    for case, rows in rows_of("hou-suffix-arrays").items():
        lines.append([case, *(number(rows[m]["rate"]) for m in ("dc3", "pdss", "prefix-doubling")),
                      f"{rows['pdss']['rate'] / rows['dc3']['rate']:.2f}"])
    return table(["text", "`dc3`, 10^6 symbols/s", "`pdss`", "Sortie's own", "`pdss` / `dc3`"], lines)


def segmented_sort_share():
    phases = rows_of("hou-suffix-arrays")["gen:dna:64M"]["pdss"]["phase_seconds"]
    return phases["segmented sort"] / phases["pdss"]


def hou_claims():
    lengths = {label: dict(line) for label, line in hou_lengths().items()}
    own, cub = lengths["the paper's policy, ics17"], lengths["CUB segmented sort"]
    radix, mgpu = lengths["radix by (segment, key)"], lengths.get("moderngpu")
    mean = lambda peer, chosen: statistics.mean(own[n] / peer[n] for n in chosen if n in peer)
    short = [n for n in own if n < 512]
    rest = [n for n in own if n >= 512]
    reg = best_bindings("reg_sort")
    smem = best_bindings("smem_merge")
    spread = {n: max(r.values()) / min(r.values()) for n, r in reg.items() if len(r) > 1}
    times = right(report("hou-kernels")["tune"]["paper"]["reg_sort"])
    gain = lambda chosen: geometric_mean(
        t["rate"] / o["rate"] for t in times if t["write"] == "striped" and chosen(t["items"]) for o in times
        if o["write"] == "original" and all(o[k] == t[k] for k in ("threads", "items", "block_threads")))
    blocks = {b: geometric_mean(t["rate"] for t in times if t["block_threads"] == b) for b in (64, 128, 256, 512)}
    best_1024 = max(smem[1024], key=smem[1024].get)
    binning = [p["binning_seconds"] / p["sortie_seconds"] for p in grid()]
    chunks = right(report("hou-kernels")["tune"]["paper"].get("chunks", []))
    gains = [t["rate"] / next(o["rate"] for o in chunks if o["chunks"] == "full" and all(o[k] == t[k] for k in ("length", "threads", "items")))
             for t in chunks if t["chunks"] == "uneven"]
    striped = geometric_mean(t["rate"] / o["rate"] for t in right(report("hou-kernels")["tune"]["paper"]["smem_merge"]) if t["write"] == "striped"
                             for o in right(report("hou-kernels")["tune"]["paper"]["smem_merge"]) if o["write"] == "original" and all(o[k] == t[k] for k in ("length", "threads", "items", "block_threads")))
    shares = hou_short_shares()
    corner = next(p for p in grid() if p["longest"] == 50 and abs(p["exponent"] - 1.6) < 0.01)
    in_corner = [(corner[peer] / corner["sortie_seconds"], geometric_mean(grid_speedups(peer))) for peer in ("radix_seconds", "moderngpu_seconds") if corner.get(peer, 0) > 0]
    wider = []
    if report("hou-grid-64"):
        same = {(p["exponent"], p["longest"]) for p in grid("hou-grid-64")}
        means = lambda name, peer: geometric_mean(p[peer] / p["sortie_seconds"] for p in grid(name) if (p["exponent"], p["longest"]) in same)
        wider = [(means("hou-grid-64", peer), means("hou-grid", peer)) for peer in ("cub_seconds", "radix_seconds")]
    sa = suffix_array_rates()
    sa_ratio = [r["pdss"] / r["dc3"] for c, r in sa.items() if "dna" in c]
    return claims([
        ("the best data-thread binding differs (Fig. 9): segments of 16 pairs, fastest / slowest", "1.30 K80, about 1 Titan X",
         f"{spread[16]:.2f}", spread[16] > 1.05),
        ("one binding does not serve all lengths: greatest fastest / slowest", "", f"{max(spread.values()):.1f}", max(spread.values()) > 1.5),
        ("striped writes pay off from more than 4 pairs a thread: gain at 8 and 16, at 1 to 4", "", f"{gain(lambda i: i >= 8):.2f}, {gain(lambda i: i <= 4):.2f}",
         gain(lambda i: i >= 8) > 1.05),
        ("blocks of 128 or 256 threads are best", "128, 256", f"{max(blocks, key=blocks.get)}", max(blocks, key=blocks.get) in (128, 256)),
        ("segments of 1024 merge best with 8 warps, 4 pairs a thread (Fig. 10)", "8 x 4", f"{best_1024[0] // 32} x {best_1024[1]}", best_1024 == (256, 4)),
        ("striped writes are as fast as the original ones in shared memory (Fig. 10): striped / original, mean", "similar", f"{striped:.2f}", 0.9 < striped < 1.1),
        *([("chunks of m and m' in segments that do not fill their bin (section 3.3): gain, least to greatest", "", f"{min(gains):.2f} to {max(gains):.2f}", geometric_mean(gains) > 1)] if gains else []),
        *([("most segments are short in both applications (Fig. 2): part of fewer than 2000 items, here 2048; rows of products, groups of suffixes, by input", "about 96 %; 99 %", shares[0], shares[1])] if shares else []),
        ("short segments (Fig. 11): mean times cusort-seg (radix by segment and key)", "13.4 K80, 15.5 Titan X", f"{mean(radix, short):.1f}", mean(radix, short) > 5),
        ("short segments: mean times CUB's segmented sort", "211 K80, 30.4 Titan X", f"{mean(cub, short):.1f}", mean(cub, short) > 3),
        ("longer segments: mean times cusort-seg", "5.6 K80, 10.0 Titan X", f"{mean(radix, rest):.1f}", mean(radix, rest) > 2),
        ("longer segments: mean times CUB's segmented sort", "3.7 K80, 3.2 Titan X", f"{mean(cub, rest):.1f}", mean(cub, rest) > 1.5),
        *([("short segments: mean times moderngpu", "3.1 K80, 3.2 Titan X", f"{mean(mgpu, short):.1f}", mean(mgpu, short) > 1.5),
           ("longer segments: mean times moderngpu", "1.2 K80, 2.1 Titan X", f"{mean(mgpu, rest):.1f}", mean(mgpu, rest) > 1)] if mgpu else []),
        ("power laws (Fig. 12), CUB: at most", "63.3 K80, 86.1 Titan X", f"{max(grid_speedups('cub_seconds')):.1f}", max(grid_speedups('cub_seconds')) > 10),
        ("power laws, CUB: at least", "1.9", f"{min(grid_speedups('cub_seconds')):.2f}", min(grid_speedups('cub_seconds')) >= 1),
        *([("power laws, moderngpu: at least, at most", "about 1, 3.0 K80, 3.8 Titan X", f"{min(grid_speedups('moderngpu_seconds')):.2f}, {max(grid_speedups('moderngpu_seconds')):.1f}", min(grid_speedups("moderngpu_seconds")) >= 1)]
          if grid_speedups("moderngpu_seconds") else []),
        ("power laws, cusort-seg: at most", "12.5 K80, 16.5 Titan X", f"{max(grid_speedups('radix_seconds')):.1f}", max(grid_speedups('radix_seconds')) > 5),
        ("less is gained where almost all segments have one item (Fig. 12, exponent 1.6, at most 50 items): cusort-seg, moderngpu there; means of all points", "less; about 1",
         f"{', '.join(f'{here:.2f}' for here, _ in in_corner)}; {', '.join(f'{mean:.2f}' for _, mean in in_corner)}", all(here < mean for here, mean in in_corner)),
        *([("larger values make the gains larger (Fig. 12): mean times CUB, mean times cusort-seg; each 64-bit values, 32-bit values of the same points", "more", "; ".join(f"{a:.2f}, {b:.2f}" for a, b in wider), all(a > b for a, b in wider))] if wider else []),
        ("binning takes a small share of the time", "5.9 % K80, 3.4 % Titan X", f"{100 * statistics.mean(binning):.1f} %", statistics.mean(binning) < 0.1),
        ("prefix doubling over segmented sort beats DC3 on DNA (Fig. 13)", "up to 2.2 K80, 2.6 Titan X", f"{min(sa_ratio):.1f} to {max(sa_ratio):.1f}", min(sa_ratio) > 1),
        ("segmented sort dominates the construction, 64 M of DNA", "30 to 60 %", f"{100 * segmented_sort_share():.0f} %", segmented_sort_share() > 0.3),
    ])


# ---- Tanasic et al. 2013 ------------------------------------------------------------------------

# The machines by the suffix of their reports.
MACHINES = {"": "one GPU", "-x2": "two GPUs", "-x4": "four GPUs"}
GPUS_OF = {"": 1, "-x2": 2, "-x4": 4}


def best_suffix(name):
    """Suffix of the report of that name on the most GPUs; None without any."""
    return next((suffix for suffix in reversed(MACHINES) if report(name + suffix)), None)


def tanasic_row(name, devices, exponent=None, of="tanasic"):
    rows = rows_of(name).get("uniform" if exponent is None else f"2^{exponent} uniform", {})
    plural = "device" if devices == 1 else "devices"
    return next((r for m, r in rows.items() if m.startswith(f"{of}, {devices} {plural}")), None)


def stage_parts(row):
    """{part: seconds} of a sort, as in the paper's Fig. 9."""
    names = {"local sort": "single-GPU sort"}
    parts = {}
    stages = [n for n in row["phase_seconds"] if n.startswith("stage ")]
    last = max((int(n.split()[1].rstrip(":")) for n in stages), default=1)
    for name, seconds in row["phase_seconds"].items():
        if name in names:
            parts[names[name]] = parts.get(names[name], 0) + seconds
        elif name.startswith("stage "):
            stage, step = int(name.split()[1].rstrip(":")), name.split(": ")[1]
            place = "initial" if stage == 1 else "final" if stage == last else "global"
            parts[f"{place} {step}"] = parts.get(f"{place} {step}", 0) + seconds
    return parts


def drawn_parts(row):
    """stage_parts() with all pivots as one part, and the final swap and merge as another."""
    parts = {}
    for name, seconds in stage_parts(row).items():
        drawn = "pivots" if name.endswith("pivot") else "final swap and merge" if name.startswith("final") else name
        parts[drawn] = parts.get(drawn, 0) + seconds
    return parts


def tanasic_breakdown():
    """Parts of the time, on as many GPUs as were to be had."""
    suffix = best_suffix("tanasic-f32")
    found = {}
    for devices in sorted({2, max(GPUS_OF[suffix], 2) if suffix != "" else 4}):
        for key in ("f32", "f64"):
            for e in EXPONENTS:
                if row := tanasic_row(f"tanasic-{key}{suffix}", devices, e):
                    found[f"2^{e} {key}, {devices} devices"] = drawn_parts(row)
    return found


def tanasic_times(suffix=""):
    lines = []
    for key in ("f32", "f64"):
        for e in EXPONENTS:
            row = {d: tanasic_row(f"tanasic-{key}{suffix}", d, e) for d in (1, 2, 4)}
            if not row[1]:
                continue
            speedup = lambda a, b: f"{row[a]['median_seconds'] / row[b]['median_seconds']:.2f}" if row[a] and row[b] else ""
            lines.append([f"2^{e} {key}", *(number(milliseconds(row[d])) if row[d] else "" for d in (1, 2, 4)), *(number(row[d]["rate"]) if row[d] else "" for d in (1, 2, 4)),
                          speedup(1, 2), speedup(1, 4), speedup(2, 4)])
    what = "device" if suffix == "" else "GPU"
    return table(["records", f"1 {what}, ms", f"2 {what}s", f"4 {what}s", f"1 {what}, 10^9 records/s", f"2 {what}s", f"4 {what}s", "1 / 2", "1 / 4", "2 / 4"], lines) if lines else ["Not measured yet."]


def tanasic_fig6a():
    """{label: [(records, 10^9 records/s)]} of figure 6(a)."""
    suffix = best_suffix("tanasic-f32")
    return {f"{d} GPU{'s' if d > 1 else ''}": line for d in (1, 2, 4) if d <= GPUS_OF[suffix]
            if (line := [(r["items"], r["rate"]) for e in EXPONENTS if (r := tanasic_row(f"tanasic-f32{suffix}", d, e))])}


def tanasic_fig6b():
    """The same of figure 6(b), with the copies from and to the host, and sorts of the host."""
    suffix = best_suffix("tanasic-host-f32")
    series = {f"{d} GPU{'s' if d > 1 else ''}": line for d in (1, 2, 4) if d <= GPUS_OF[suffix]
              if (line := [(r["items"], r["rate"]) for e in EXPONENTS if (r := tanasic_row(f"tanasic-host-f32{suffix}", d, e))])}
    for case, rows in rows_of("tanasic-host-peers").items():
        for method, row in rows.items():
            if method.startswith("gnu-parallel-sort"):
                series.setdefault(f"GNU, {method.split(', ')[1]}", []).append((row["items"], row["rate"]))
    return {label: line for label, line in series.items() if len(line) > 1}


def tanasic_fig7():
    """{label: [(records, speedup)]}"""
    suffix = best_suffix("tanasic-f32")
    series = {}
    for few, many in ((1, 2), (1, 4), (2, 4)):
        for e in EXPONENTS:
            rows = [tanasic_row(f"tanasic-f32{suffix}", d, e) for d in (few, many)]
            if all(rows) and many <= GPUS_OF[suffix]:
                series.setdefault(f"{many} GPUs / {few}", []).append((rows[0]["items"], rows[0]["median_seconds"] / rows[1]["median_seconds"]))
    return series


def host_parts(row):
    """Copies and sorting, as in figure 8."""
    phases = {n: s for n, s in row["phase_seconds"].items() if not n.startswith("stage ")}
    return {"host to device": phases["copy in"], "sorting": sum(s for n, s in phases.items() if not n.startswith("copy")), "device to host": phases["copy out"]}


def tanasic_fig8():
    suffix = best_suffix("tanasic-host-f32")
    devices = max(GPUS_OF[suffix], 2) if suffix else 4
    return {f"2^{e} {key}, {devices} devices": host_parts(row) for key in ("f32", "f64") for e in EXPONENTS
            if (row := tanasic_row(f"tanasic-host-{key}{suffix}", devices, e))}


def tanasic_links(name="tanasic-links", only="direct"):
    """The rates of all copies that were measured by the method `only`."""
    # Rows of the runtime's copies without peer access come first.
    cases = {case: rows for case, rows in sorted(rows_of(name).items(), key=lambda found: "runtime" in found[1]) if only in rows}
    methods = [m for m in ("direct", "staged", "runtime") if any(m in rows for rows in cases.values())]
    lines = [[case, *(number(rows[m]["rate"]) if m in rows else "" for m in methods)] for case, rows in cases.items()]
    return table(["copies", *(f"{m}, GB/s" for m in methods)], lines) if lines else ["Not measured yet."]


def tanasic_peers():
    """Pivots, swaps and merges with peer access and through the host."""
    lines = []
    for suffix, label in MACHINES.items():
        for devices in (2, 4):
            rows = [tanasic_row(f"tanasic-f32{suffix}", devices, 28), tanasic_row(f"tanasic-staged-28{suffix}", devices)]
            if not all(rows):
                continue
            sums = [{step: sum(s for n, s in row["phase_seconds"].items() if n.endswith(": " + step)) for step in ("pivot", "swap", "merge")} for row in rows]
            lines.append([f"{label}, {devices} devices", *(f"{number(1e3 * sums[0][step])} / {number(1e3 * sums[1][step])}" for step in ("pivot", "swap", "merge")),
                          " / ".join(number(milliseconds(row)) for row in rows)])
    return table(["2^28 f32, peer access / through the host", "pivots, ms", "swaps, ms", "merges, ms", "sort, ms"], lines) if lines else ["Not measured yet."]


def tanasic_two_gpus():
    """Parts of the time on two GPUs of a machine that has at least as many."""
    lines = []
    suffix = best_suffix("tanasic-f32")
    for key in ("f32", "f64"):
        for e in EXPONENTS:
            if row := tanasic_row(f"tanasic-{key}{suffix}", 2, e):
                parts = stage_parts(row)
                whole = sum(parts.values())
                lines.append([f"2^{e} {key}", number(milliseconds(row)), *(f"{100 * parts.get(part, 0) / whole:.2g} %" for part in ("single-GPU sort", "initial pivot", "initial swap", "initial merge"))])
    return table(["records", "2 GPUs, ms", "single-GPU sort", "pivot", "swap", "merge"], lines) if lines and suffix else ["Not measured yet."]


def tanasic_four_gpus():
    """Parts of the time on four GPUs, as in Fig. 9."""
    lines = []
    for key in ("f32", "f64"):
        for e in EXPONENTS:
            if row := tanasic_row(f"tanasic-{key}-x4", 4, e):
                parts = stage_parts(row)
                whole = sum(parts.values())
                share = lambda *names: f"{100 * sum(parts.get(name, 0) for name in names) / whole:.2g} %"
                lines.append([f"2^{e} {key}", number(milliseconds(row)), share("single-GPU sort"), share("initial pivot", "global pivot", "final pivot"), share("initial swap", "initial merge"),
                              share("global swap"), share("global merge"), share("final swap", "final merge")])
    return table(["records", "4 GPUs, ms", "single-GPU sort", "pivots", "initial swap and merge", "global swap", "global merge", "final swap and merge"], lines) if lines else ["Not measured yet."]


def tanasic_host():
    lines = []
    for suffix, label in MACHINES.items():
        for key in ("f32", "f64"):
            for devices in (1, 2, 4):
                for e in EXPONENTS:
                    if row := tanasic_row(f"tanasic-host-{key}{suffix}", devices, e):
                        parts = host_parts(row)
                        whole = sum(parts.values())
                        lines.append([f"2^{e} {key}, {devices} on {label}", number(milliseconds(row)), number(row["rate"]), *(f"{100 * s / whole:.0f} %" for s in parts.values())])
    return table(["records, devices", "ms", "10^9 records/s", "host to device", "sorting", "device to host"], lines) if lines else ["Not measured yet."]


def tanasic_claims():
    two, one, four = (tanasic_row("sort-merge-u32", d) for d in (2, 1, 4))
    real = best_suffix("tanasic-f32")
    on_four = "four GPUs" if real == "-x4" else "four devices"
    four_of = real if real == "-x4" else ""
    f32, f64 = tanasic_row(f"tanasic-f32{four_of}", 4, 28), tanasic_row(f"tanasic-f64{four_of}", 4, 28)
    time = lambda row: row["median_seconds"]
    lines = [("two GPUs sort faster than one (Fig. 7; 2 * 10^9 u32 on two H200)", "1.9", f"{time(one) / time(two):.2f}", time(one) > 1.5 * time(two)),
             ("four GPUs sort faster than two (four H200): to one", "3.3", f"{time(one) / time(four):.2f}", time(four) < time(two)),
             ("two GPUs: swap and merge take a small part (Fig. 9; two H200)", "7 to 13 %",
              f"{100 * two['phase_seconds']['stages'] / time(two):.0f} %", two["phase_seconds"]["stages"] / time(two) < 0.2)]
    if small := tanasic_row(f"tanasic-f32{real}", 2, 28):
        parts = stage_parts(small)
        share = parts["initial pivot"] / sum(parts.values())
        lines.append(("two devices: the pivot is insignificant", "0.01 %", f"{100 * share:.2f} %", share < 0.02))
    if f32 and f64:
        parts = stage_parts(f32)
        whole = sum(parts.values())
        ratio = f32["median_seconds"] / f64["median_seconds"]
        lines += [(f"{on_four}: the single-GPU sort dominates (Fig. 9)", "60 to 70 %", f"{100 * parts['single-GPU sort'] / whole:.0f} %", parts["single-GPU sort"] / whole > 0.5),
                  (f"{on_four}: the swap dominates the global stage", "80 %", f"{100 * parts['global swap'] / (parts['global swap'] + parts['global merge'] + parts['global pivot']):.0f} %",
                   parts["global swap"] > parts["global merge"]),
                  ("64-bit keys: rate over that of 32-bit keys", "79 to 85 %", f"{100 * ratio:.0f} %", 0.6 < ratio < 0.95)]
        alone = [stage_parts(row)["single-GPU sort"] for row in (f32, f64)]
        lines.append(("64-bit keys slow the single-GPU sort down by less than their bytes (8 over 12 a record: 67 %): its rate over that of 32-bit keys", "89 to 91 %", f"{100 * alone[0] / alone[1]:.0f} %", alone[0] / alone[1] > 2 / 3))
    for suffix, label in MACHINES.items():
        if row := tanasic_row(f"tanasic-staged-28{suffix}", 2):
            parts = stage_parts(row)
            share = parts["initial pivot"] / sum(parts.values())
            lines.append((f"two devices on {label} without peer access (Fig. 5): the pivot is insignificant", "", f"{100 * share:.2f} %", share < 0.02))
    for key in ("f32", "f64"):
        one, two, four = (tanasic_row(f"tanasic-{key}{real}", d, 28) for d in (1, 2, 4))
        if one and two and real:
            parts = stage_parts(two)
            moved = (parts["initial swap"] + parts["initial merge"]) / sum(parts.values())
            lines += [(f"two GPUs sort faster than one (Fig. 7; 2^28 pairs, {key})", "1.9", f"{time(one) / time(two):.2f}", time(one) > 1.5 * time(two)),
                      (f"two GPUs: swap and merge take a small part (Fig. 9; 2^28 pairs, {key})", "7 to 13 %", f"{100 * moved:.0f} %", moved < 0.2)]
        if one and four and real == "-x4":
            lines.append((f"four GPUs sort faster than two (Fig. 7; 2^28 pairs, {key}): to one, to two", "3.3, 1.7", f"{time(one) / time(four):.2f}, {time(two) / time(four):.2f}", time(four) < time(two)))
            more = {e: time(a) / time(b) for e in EXPONENTS if (a := tanasic_row(f"tanasic-{key}{real}", 2, e)) and (b := tanasic_row(f"tanasic-{key}{real}", 4, e))}
            first = next((e for e in sorted(more) if more[e] > 1), None)
            lines.append((f"four GPUs beat two from few records on (Fig. 7, {key}): fewest records of those tried where they do", "2^21", f"2^{first}, {more[first]:.2f} times" if first else "none", first is not None and first <= 22))
    if real:
        gains = {e: time(a) / time(b) for e in EXPONENTS if (a := tanasic_row(f"tanasic-f32{real}", 1, e)) and (b := tanasic_row(f"tanasic-f32{real}", 2, e))}
        least = next((e for e in sorted(gains) if gains[e] > 1), None)
        lines.append(("two GPUs beat one from the smallest inputs (Fig. 7, f32): fewest records of those tried where they do", "2^19, 1.7 times", f"2^{least}, {gains[least]:.2f} times" if least else "none",
                      least is not None and least <= 20))
    if real == "-x4":
        shares = {e: parts["single-GPU sort"] / sum(parts.values()) for e in EXPONENTS if (row := tanasic_row("tanasic-f32-x4", 4, e)) and (parts := stage_parts(row))}
        lines.append((f"four GPUs: the part of the single-GPU sort falls to 2^22 records and rises from there (Fig. 9): {', '.join(f'2^{e}' for e in shares)}", "", ", ".join(f"{100 * x:.0f} %" for x in shares.values()),
                      min(shares, key=shares.get) in (20, 22, 24)))
    one_gpu = {e: row["rate"] for e in EXPONENTS if (row := tanasic_row(f"tanasic-f32{real}", 1, e))}
    if one_gpu:
        peak = max(one_gpu, key=one_gpu.get)
        lines.append(("one GPU is at its best with few records, and a little slower with more (Fig. 6a): records of the highest rate", "2^20", f"2^{peak}", peak <= 22))
    host = best_suffix("tanasic-host-f32")
    cpu = {r["items"]: max(r["rate"] for m, r in rows.items() if m.startswith("gnu")) for rows in rows_of("tanasic-host-peers").values() for r in rows.values() if r["method"].startswith("gnu")}
    if host is not None and cpu:
        at = {e: tanasic_row(f"tanasic-host-f32{host}", GPUS_OF[host], e) for e in EXPONENTS}
        ratios = {e: row["rate"] / cpu[2 ** e] for e, row in at.items() if row and 2 ** e in cpu}
        lines.append((f"from host memory, GPUs beat the parallel sort of the host from 2^21 records (Fig. 6b): {MACHINES[host]} / 16 threads, {', '.join(f'2^{e}' for e in ratios)}", "up to 1.8, four GPUs",
                      ", ".join(f"{r:.1f}" for r in ratios.values()), all(r > 1 for e, r in ratios.items() if e >= 21)))
    links = rows_of("tanasic-links-x4") or rows_of("tanasic-links-x2") or rows_of("tanasic-links")
    at_a_time = {n: of["host to all devices"]["direct"]["rate"] / n / of["host to device 0"]["direct"]["rate"] for n in (2, 4) if (of := rows_of(f"tanasic-links-x{n}"))}
    if at_a_time:
        lines.append((f"copies from the host to several GPUs at a time keep the rate of one (Fig. 2): each of {', of '.join(map(str, at_a_time))} / one", "1", ", ".join(f"{x:.2f}" for x in at_a_time.values()), min(at_a_time.values()) > 0.9))
    pair = links.get("device 0 and device 1, both ways")
    host = links.get("host to device 0")
    apart = rows_of("tanasic-links-64M").get("device 0 and device 1, both ways") or pair
    if apart and "runtime" in apart:
        gain_of = apart["staged"]["rate"] / apart["runtime"]["rate"]
        lines.append(("the paper's staged copies are faster than the runtime's without peer access (Fig. 2; two GPUs, both ways): staged / runtime", "about 1.6", f"{gain_of:.2f}", gain_of > 1))
    if pair and "staged" in pair:
        lines.append(("copies through the host are slower than direct ones (Fig. 2; two GPUs, both ways): direct, staged, GB/s",
                      "", f"{pair['direct']['rate']:.0f}, {pair['staged']['rate']:.0f}", pair["direct"]["rate"] > pair["staged"]["rate"]))
        lines.append(("staged copies are slower than two copies from the host (Fig. 2): staged both ways, 2 x host to device, GB/s",
                      "", f"{pair['staged']['rate']:.0f}, {2 * host['direct']['rate']:.0f}", pair["staged"]["rate"] < 2 * host["direct"]["rate"]))
    for suffix, label in MACHINES.items():
        for key in ("f32", "f64"):
            for devices in (4, 2):
                shares = {e: 1 - parts["sorting"] / sum(parts.values()) for e in EXPONENTS if (row := tanasic_row(f"tanasic-host-{key}{suffix}", devices, e)) and (parts := host_parts(row))}
                if shares:
                    lines.append((f"copies from and to the host take a part of the whole (Fig. 8; {key}, {devices} devices on {label}): {', '.join(f'2^{e}' for e in (min(shares), max(shares)) if len(shares) > 1 or e == max(shares))}",
                                  "17 to 32 %", ", ".join(f"{100 * shares[e]:.0f} %" for e in sorted({min(shares), max(shares)})), max(shares.values()) < 0.4))
                    break
    return claims(lines)


# ---- Ilic 2022 ----------------------------------------------------------------------------------

ILIC = {"equal": "-30 %", "sorted": "-12 %", "nearly": "-12 %", "normal": "within 1 %", "reverse": "+11 %", "zipf:1.5": "+26 %",
        "entropy:26": "up to +18 %", "entropy:10": "up to +18 %"}


def ilic_table():
    cases = rows_of("ilic-cases")
    method = {a: next((m for m in cases["uniform"] if m.startswith(a + ",")), None) for a in ("rmg", "tanasic")}
    uniform = cases["uniform"]
    lines = []
    for case, rows in cases.items():
        own = rows[method["rmg"]]
        phases = own["phase_seconds"]
        change = own["median_seconds"] / uniform[method["rmg"]]["median_seconds"] - 1
        lines.append([case, number(milliseconds(own)), f"{100 * change:+.0f} %", ILIC.get(case, ""),
                      *(number(1e3 * phases.get(p, 0)) for p in ("partition", "exchange", "local sort")),
                      number(milliseconds(rows[method["tanasic"]]))])
    return table(["keys", "`rmg`, ms", "to uniform", "printed (2 V100)", "partition", "exchange", "bucket sort", "`tanasic`, ms"], lines)


def ilic_changes(cases, algorithm, devices):
    """{case: (milliseconds, change to uniform)}"""
    method = next((m for m in cases.get("uniform", {}) if m.startswith(f"{algorithm}, {devices} ")), None)
    if method is None:
        return {}
    whole = cases["uniform"][method]["median_seconds"]
    return {c: (milliseconds(rows[method]), 100 * (rows[method]["median_seconds"] / whole - 1)) for c, rows in cases.items() if method in rows}


def ilic_real_gpus(suffix, devices):
    """Times in GPU memory on as many GPUs as devices."""
    cases = rows_of(f"ilic-cases{suffix}")
    own, other = ilic_changes(cases, "rmg", devices), ilic_changes(cases, "tanasic", devices)
    lines = []
    for case, (ms, change) in own.items():
        cub = next((milliseconds(r) for m, r in cases[case].items() if m.startswith("cub radix")), None)
        phases = ilic_row(cases[case], "rmg", devices)["phase_seconds"]
        lines.append([case, number(ms), f"{change:+.0f} %", *([ILIC.get(case, "")] * (devices == 2)), *(number(1e3 * phases.get(p, 0)) for p in ("partition", "exchange", "local sort")),
                      number(other[case][0]) if case in other else "", number(cub) if cub else ""])
    return table(["keys", "`rmg`, ms", "to uniform", *(["printed (2 V100)"] * (devices == 2)), "partition", "exchange", "bucket sort", "`tanasic`, ms", "CUB, 1 GPU"], lines) if lines else ["Not measured yet."]


def ilic_host():
    lines = []
    for suffix, label in MACHINES.items():
        cases = rows_of(f"ilic-host{suffix}")
        for devices in (1, 2, 4, 8):
            own, repaired, other = (ilic_changes(cases, a, devices) for a in ("rmg", "rmg-repair", "tanasic"))
            for case, (ms, change) in own.items():
                phases = next(r for m, r in cases[case].items() if m.startswith(f"rmg, {devices} "))["phase_seconds"]
                lines.append([f"{case}, {devices} on {label}", number(ms), f"{change:+.0f} %", (ILIC_EIGHT if devices == 8 else ILIC).get(case, ""),
                              *(number(1e3 * phases.get(p, 0)) for p in ("copy in", "partition", "exchange", "sort and copy out")), *(number(of[case][0]) if case in of else "" for of in (repaired, other))])
    return table(["keys, devices", "`rmg`, ms", "to uniform", "printed: 2 V100, 8 A100", "copy in", "partition", "exchange", "sort and copy out", "`rmg-repair`, ms", "`tanasic`, ms"], lines) if lines else ["Not measured yet."]


def ilic_host_rows():
    """[(suffix of the machine, number of keys, {method: row})] of sorts of uniform keys from host memory."""
    found = []
    for suffix in MACHINES:
        cases = [rows for name in ("ilic-host-sizes", "ilic-host", "ilic-host-512M") for case, rows in rows_of(name + suffix).items() if case.split()[-1] == "uniform"]
        found += [(suffix, next(iter(rows.values()))["items"], rows) for rows in cases]
    return found


def ilic_best_host():
    """The suffix of the machine with the most GPUs."""
    return next((suffix for suffix in reversed(MACHINES) if any(of == suffix for of, _, _ in ilic_host_rows())), "")


def ilic_row(rows, algorithm, devices):
    return next((r for m, r in rows.items() if m.startswith(f"{algorithm}, {devices} device")), None)


def ilic_sizes():
    """Times and parts of sorts from host memory on two GPUs, by the number of keys and devices."""
    lines = []
    for suffix, items, rows in ilic_host_rows():
        for devices in (1, 2, 4, 8):
            if suffix and (own := ilic_row(rows, "rmg", devices)):
                others = [ilic_row(rows, a, devices) for a in ("copies alone", "tanasic", "het")]
                phases = own["phase_seconds"]
                lines.append([f"{items:,}, {devices} on {MACHINES[suffix]}", number(milliseconds(own)), *(number(1e3 * phases.get(p, 0)) for p in ("copy in", "partition", "exchange", "sort and copy out")),
                              *(number(milliseconds(r)) if r else "" for r in others), f"{others[1]['median_seconds'] / own['median_seconds']:.2f}" if others[1] else ""])
    return table(["keys, devices", "`rmg`, ms", "copy in", "partition", "exchange", "sort and copy out", "copies alone", "`tanasic`, ms", "`het`, ms", "`tanasic` / `rmg`"], lines) if lines else ["Not measured yet."]


ILIC_EIGHT = {"equal": "-13 %", "sorted": "-8 %", "nearly": "-7 %", "reverse": "-6 %", "normal": "+4 %", "entropy:10": "-2 to +5 %", "entropy:26": "-2 to +5 %", "entropy:8": "-6 % at most"}


def ilic_eight():
    own, other = (ilic_changes(rows_of("ilic-cases-8"), a, 8) for a in ("rmg", "tanasic"))
    lines = [[case, number(ms), f"{change:+.0f} %", ILIC_EIGHT.get(case, ""), number(other[case][0]) if case in other else ""] for case, (ms, change) in own.items()]
    return table(["keys", "`rmg`, ms", "to uniform", "printed (8 A100, from host memory)", "`tanasic`, ms"], lines) if lines else ["Not measured yet."]


def ilic_links():
    """The links of the GPUs of the machine with the most, as choose_gpus() sees them."""
    figures = (report("tanasic-links-x4") or report("tanasic-links-x2") or {}).get("figures", {})
    if "links" not in figures:
        return ["Not measured yet."]
    chosen = [f"{len(gpus.split())} device{'' if len(gpus.split()) == 1 else 's'}: {gpus.replace(' ', ', ')}" for gpus in figures["gpus_by_links"].split("; ")]
    return [*(f"* {gpu.replace('/sys/devices/', '')}" for gpu in figures["links"].split("; ")), "", f"GPUs chosen for {'; '.join(chosen)}."]


ILIC_TYPES = ("u32", "u64", "f32", "f64")


def ilic_type_rows(suffix=""):
    return {t: next(iter(rows_of(f"ilic-{t}{suffix}").values()), {}) for t in ILIC_TYPES}


def ilic_types():
    lines = []
    narrow = {"u64": "u32", "f64": "f32"}
    for label, suffix, devices in [(f"{d} on {label}", suffix, d) for suffix, label in MACHINES.items() for d in (2, 4, 8)]:
        times = {t: {a: milliseconds(r) for a in ("rmg", "tanasic") if (r := ilic_row(rows, a, devices))} for t, rows in ilic_type_rows(suffix).items()}
        if not all("rmg" in of for of in times.values()):
            continue
        lines += [[f"{t}, {label}", number(of["rmg"]), f"{of['rmg'] / times[narrow[t]]['rmg']:.2f}" if t in narrow else "", {2: "2.2", 8: "2.0"}.get(devices, "") if t in narrow else "",
                   number(of["tanasic"]) if "tanasic" in of else ""] for t, of in times.items()]
    return table(["keys, devices", "`rmg`, ms", "to 32 bits", "printed", "`tanasic`, ms"], lines) if lines else ["Not measured yet."]


def ilic_peer_rows():
    """[(number of keys, sort of the host, row)]"""
    return [(row["items"], method, row) for rows in rows_of("ilic-host-peers").values() for method, row in rows.items() if not method.startswith("memcpy")]


def ilic_host_peers():
    """Times of host sorts, and of `rmg` from host memory."""
    suffix = ilic_best_host()
    own = {(items, d): r for of, items, rows in ilic_host_rows() if of == suffix for d in (1, 2, 4, 8) if (r := ilic_row(rows, "rmg", d))}
    lines = []
    for items in sorted({n for n, _, _ in ilic_peer_rows()} | {n for n, _ in own}):
        two = own.get((items, 2))
        for method, row in [(m, r) for n, m, r in ilic_peer_rows() if n == items] + [(f"`rmg`, {d} on {MACHINES[suffix]}", r) for (n, d), r in own.items() if n == items]:
            lines.append([f"{items:,}", method, number(milliseconds(row)), number(row["rate"]), f"{row['median_seconds'] / two['median_seconds']:.1f}" if two and row is not two else ""])
    return table(["keys", "sort", "ms", "10^9 keys/s", "it / `rmg` on 2 devices"], lines) if lines else ["Not measured yet."]


def ilic_by_keys(algorithms, suffix):
    """{label: [(keys, ms)]} of (algorithm, devices)."""
    series = {}
    for of, items, rows in ilic_host_rows():
        for algorithm, devices in algorithms:
            if of == suffix and (row := ilic_row(rows, algorithm, devices)):
                series.setdefault(f"{algorithm}, {devices} device{'s' if devices > 1 else ''}", []).append((items, milliseconds(row)))
    return {label: line for label, line in series.items() if len(line) > 1}


def ilic_fig12():
    suffix = ilic_best_host()
    series = ilic_by_keys([("rmg", d) for d in (2, 4, 8)], suffix)
    for items, method, row in ilic_peer_rows():
        series.setdefault(method, []).append((items, milliseconds(row)))
    return series


def ilic_fig11():
    """{number of keys: {sort: 10^9 keys/s}} of the most keys that all were measured with."""
    suffix = ilic_best_host()
    items = max((n for n, _, _ in ilic_peer_rows()), default=0)
    groups = {m: {"host": r["rate"]} for n, m, r in ilic_peer_rows() if n == items}
    for of, n, rows in ilic_host_rows():
        for d in (1, 2, 4, 8):
            if of == suffix and (n == items or d == 1) and (row := ilic_row(rows, "rmg", d)):
                groups[f"rmg, {d} device{'s' if d > 1 else ''}{'' if n == items else f', {n / 1e9:.2g}e9 keys'}"] = {"from host memory": row["rate"]}
    return groups


def ilic_parts():
    """Milliseconds of each part of sorts of the most keys from host memory."""
    suffix = ilic_best_host()
    _, items, rows = max((found for found in ilic_host_rows() if found[0] == suffix), key=lambda found: found[1])
    groups = {}
    for algorithm in ("rmg", "tanasic", "het"):
        for d in (1, 2, 4, 8):
            if row := ilic_row(rows, algorithm, d):
                parts = {n: 1e3 * s for n, s in row["phase_seconds"].items() if not n.startswith("stage ")}
                names = {"copy out": "sort and copy out" if algorithm == "rmg" else "copy out", "local sort": "sort", "stages": "merge", "sort chunks": "copies and sort"}
                groups[f"{algorithm}, {d}"] = {names.get(n, n): ms for n, ms in parts.items()}
    return items, groups


def ilic_fig17():
    """Figures 17 to 20 without the sort that merges on the host, beside which the others would be too short to read."""
    items, groups = ilic_parts()
    left_out = {label: sum(parts.values()) for label, parts in groups.items() if label.startswith("het")}
    note = f" Not drawn: {', '.join(f'{label}, {number(ms)} ms' for label, ms in left_out.items())}." if left_out else ""
    return stacked("Figs. 17 to 20: parts of the time from host memory, by the number of devices", f"Milliseconds, {items:,} uniform u32 keys.{note}",
                   {label: parts for label, parts in groups.items() if label not in left_out}, shares=False)


def skewed(suffix, devices, kind):
    """[(parameter, time / that of uniform keys)] of keys of that kind."""
    changes = ilic_changes(rows_of(f"ilic-skew{suffix}"), "rmg", devices)
    ends = {"entropy": [(32, "uniform"), (0, "equal")], "zipf": [(0, "uniform")]}[kind]
    points = [(x, 1 + changes[c][1] / 100) for x, c in ends if c in changes]
    return sorted(points + [(float(c.split(":")[1]), 1 + change / 100) for c, (_, change) in changes.items() if c.startswith(kind)])


def ilic_skew(kind):
    series = {}
    for suffix, label in MACHINES.items():
        for devices in (2, 4, 8):
            if len(points := skewed(suffix, devices, kind)) > 1:
                series[f"{devices} on {label}{'' if suffix else ', GPU memory'}"] = points
    return series


def ilic_skew_table(kind):
    lines = [[label, *(f"{100 * (y - 1):+.0f} %" for _, y in points)] for label, points in ilic_skew(kind).items()]
    if not lines:
        return ["Not measured yet."]
    xs = [x for x, _ in next(iter(ilic_skew(kind).values()))]
    return table(["bits" if kind == "entropy" else "exponent", *(f"{x:g}" for x in xs)], lines)


def ilic_distributions():
    """Changes to uniform keys, by the machine and the number of devices, beside those printed."""
    cases = ("normal", "sorted", "nearly", "reverse", "equal")
    lines = [["printed, 2 V100", *(ILIC[c] for c in cases)], ["printed, 8 A100", *(ILIC_EIGHT[c] for c in cases)]]
    for suffix, label in MACHINES.items():
        for devices in (2, 4, 8):
            if changes := ilic_changes(rows_of(f"ilic-host{suffix}"), "rmg", devices):
                lines.append([f"{devices} on {label}, from host memory", *(f"{changes[c][1]:+.0f} %" if c in changes else "" for c in cases)])
    for name, label in (("ilic-cases", "2 on one GPU"), ("ilic-cases-8", "8 on one GPU"), *((f"ilic-cases{x}", f"{d} on {MACHINES[x]}") for x in ("-x2", "-x4") for d in (2, 4, 8))):
        if changes := ilic_changes(rows_of(name), "rmg", int(label[0])):
            lines.append([f"{label}, GPU memory", *(f"{changes[c][1]:+.0f} %" if c in changes else "" for c in cases)])
    return table(["devices", *cases], lines)


def ilic_options():
    """What each part of rmg is worth: the time with and without it."""
    lines = []
    for suffix, label in MACHINES.items():
        rows = {(case.split()[-1], method): row for case, of in rows_of(f"ilic-options{suffix}").items() for method, row in of.items()}
        for devices, where in ((2, ", host to host"), (8, "")):
            for change, case in [(change, case) for change, cases in RMG_CHANGES[1:] for case in (cases.split() if devices == 2 else ("uniform", "normal", "entropy:26", "zipf:0.75"))]:
                own, changed = rows.get((case, f"rmg, {devices} devices{where}")), rows.get((case, f"rmg {change}, {devices} devices{where}"))
                if own and changed:
                    lines.append([f"`{change}`", f"{case}, {devices} on {label}{where or ', GPU memory'}", number(milliseconds(own)), number(milliseconds(changed)), f"{changed['median_seconds'] / own['median_seconds']:.2f}"])
    return table(["`--rmg`", "keys, devices", "`rmg`, ms", "changed, ms", "changed / `rmg`"], lines) if lines else ["Not measured yet."]


def ilic_type_bars():
    """{type, devices: {algorithm: ms}} of the machine with the most GPUs."""
    suffix = best_suffix("ilic-u32")
    rows = ilic_type_rows(suffix)
    return {f"{t}, {d} devices": times for d in (2, 4, 8) for t in ILIC_TYPES if (times := {a: milliseconds(r) for a in ("rmg", "tanasic") if (r := ilic_row(rows[t], a, d))})}


def ilic_bits():
    times = ilic_bit_times()
    if 32 not in times:
        return ["Not measured yet."]
    return table(["bits", *(str(b) for b in sorted(times))], [["ms", *(number(times[b]) for b in sorted(times))], ["to 32 bits", *(f"{times[b] / times[32]:.2f}" for b in sorted(times))]])


def ilic_bit_times():
    rows = rows_of("ilic-bits").get("2^30 keys", {})
    return {int(m.split(", ")[1].split()[0]) if ", " in m else 32: milliseconds(r) for m, r in rows.items()}


def ilic_claims():
    lines = []
    for name, where in (("ilic-host-x2", "two GPUs, from host memory"), ("ilic-cases-x2", "two GPUs, GPU memory")):
        own, others = (ilic_changes(rows_of(name), a, 2) for a in ("rmg", "tanasic"))
        if not own or not others:
            continue
        change = {c: percent for c, (_, percent) in own.items()}
        ratio = {c: others[c][0] / own[c][0] for c in own}
        low = {c: change[c] for c in change if c.startswith("entropy")}
        worst = max(low, key=low.get)
        lines += [(f"faster than the merge sort, uniform keys (Figs. 15, 17); {where}", "1.11 V100 x 2, 1.03 A100 x 2", f"{ratio['uniform']:.2f}", ratio["uniform"] > 1),
                  (f"slower than the merge sort on the worst distribution (Fig. 25); {where}", "0.87", f"{min(ratio.values()):.2f} ({min(ratio, key=ratio.get)})", min(ratio.values()) < 1),
                  (f"equal keys are the fastest (Fig. 21); {where}", "-30 %", f"{change['equal']:+.0f} %", change["equal"] == min(change.values())),
                  (f"sorted and nearly sorted keys need no exchange and are faster (Fig. 21); {where}", "-12 %", f"{change['sorted']:+.0f} %, {change['nearly']:+.0f} %", max(change["sorted"], change["nearly"]) < 0),
                  (f"reverse keys exchange everything and are slower (Fig. 21); {where}", "+11 %", f"{change['reverse']:+.0f} %{', no exchange' if 'host' in where else ''}", change["reverse"] > 0),
                  (f"normal keys are as fast as uniform ones (Fig. 21); {where}", "within 1 %", f"{change['normal']:+.0f} %", abs(change["normal"]) < 5),
                  (f"zipf of exponent 1.5 is slower (Fig. 25); {where}", "+26 %", f"{change['zipf:1.5']:+.0f} %", change["zipf:1.5"] > 5),
                  (f"keys of low entropy are slower, at worst (Fig. 23); {where}", "up to +18 %", f"{low[worst]:+.0f} % ({worst})", low[worst] > 5)]
    if not lines:
        return ["Not measured yet."]
    for label, suffix, devices, printed in [(f"{d} devices on {on}", suffix, d, {2: "2.2 V100 x 2", 8: "2.0 A100 x 8"}.get(d, "")) for suffix, on in MACHINES.items() for d in (2, 4, 8)]:
        wide = {t: r["median_seconds"] for t, rows in ilic_type_rows(suffix).items() if (r := ilic_row(rows, "rmg", devices))}
        if len(wide) == len(ILIC_TYPES):
            ratios = [wide["u64"] / wide["u32"], wide["f64"] / wide["f32"]]
            lines.append((f"64-bit keys take twice as long as 32-bit ones (Figs. 27, 28), {label}: u64 / u32, f64 / f32", printed, ", ".join(f"{x:.2f}" for x in ratios), all(1.8 < x < 2.5 for x in ratios)))
    real = rows_of("sort-u32-4e9")["uniform"]
    gain = [real["cub radix, 1 GPU"]["median_seconds"] / real[f"rmg, {d} devices"]["median_seconds"] for d in (2, 4)]
    if rows := rows_of("ilic-bits").get("2^30 keys"):
        half = rows["cub radix, 16 bits"]["median_seconds"] / rows["cub radix"]["median_seconds"]
        lines.append(("CUB's radix sort takes less time for fewer bits (Fig. 8): 16 bits / 32 bits", "", f"{half:.2f}", half < 0.7))
    for suffix, label in MACHINES.items():
        own, other = (ilic_changes(rows_of(f"ilic-host{suffix}"), a, 2) for a in ("rmg", "tanasic"))
        if own and other:
            faster = {c: other[c][0] / own[c][0] for c in own if c in other}
            if suffix != "-x2":
                lines.append((f"host to host, two devices on {label}: merge sort / `rmg`, uniform; least", "1.11 V100 x 2, 1.03 A100 x 2; 0.87", f"{faster['uniform']:.2f}; {min(faster.values()):.2f}", faster["uniform"] > 1))
            lines.append((f"host to host on {label}: the skipped exchange makes reverse keys as fast as sorted ones: reverse / sorted", "proposed", f"{own['reverse'][0] / own['sorted'][0]:.2f}", own["reverse"][0] < 1.05 * own["sorted"][0]))
    own, others = (ilic_changes(rows_of("ilic-cases-x4"), a, 4) for a in ("rmg", "tanasic"))
    if own and others:
        lines.append(("four GPUs, GPU memory: merge sort / `rmg`, uniform; least", "1.20 V100 x 4, 1.10 A100 x 4", f"{others['uniform'][0] / own['uniform'][0]:.2f}; {min(others[c][0] / own[c][0] for c in own):.2f}", others["uniform"][0] > own["uniform"][0]))
        lines.append(("four GPUs, GPU memory: reverse keys exchange everything and are slower", "+11 % V100 x 2, -6 % A100 x 8", f"{own['reverse'][1]:+.0f} %", own["reverse"][1] > 0))
    peers = {(n, m): r for n, m, r in ilic_peer_rows()}
    for suffix in MACHINES:
        for d, printed in ((2, "19 to 20 GNU, V100 x 2"), (4, "8 PARADIS, 9.8 GNU, A100 x 4"), (8, "9 PARADIS, 10.8 GNU, A100 x 8")):
            by_keys = {}
            for of, items, rows in ilic_host_rows():
                if of == suffix and (own := ilic_row(rows, "rmg", d)):
                    by_keys[items] = {m.split(",")[0]: r["median_seconds"] / own["median_seconds"] for (n, m), r in sorted(peers.items()) if n == items and not m.startswith("sortie")}
            by_keys = {items: factors for items, factors in sorted(by_keys.items()) if factors}
            if by_keys:
                lines.append((f"faster than parallel sorts of the host (Figs. 11 to 14): {', '.join(next(iter(by_keys.values())))}, 16 threads / `rmg` from host memory, {d} devices on {MACHINES[suffix]}, {', '.join(f'{items / 1e6:.0f}' for items in by_keys)} * 10^6 keys",
                              printed, "; ".join(", ".join(f"{f:.1f}" for f in factors.values()) for factors in by_keys.values()), min(min(factors.values()) for factors in by_keys.values()) > 1))
    for suffix, items, rows in ilic_host_rows():
        for devices, printed in ((2, "1.17 and 1.7 V100 x 2"), (4, "1.20 and 1.2 V100 x 4"), (8, "1.26 and 1.8 A100 x 8")):
            own, others = ilic_row(rows, "rmg", devices), [ilic_row(rows, a, devices) for a in ("tanasic", "het")]
            if own and all(others) and items > 5e8:
                factors = [r["median_seconds"] / own["median_seconds"] for r in others]
                lines.append((f"host to host, {devices} devices on {MACHINES[suffix]}, {items / 1e9:.2f} * 10^9 keys (Figs. 15 to 20): P2P merge sort, HET merge sort / `rmg`", printed, ", ".join(f"{f:.2f}" for f in factors), min(factors) > 1))
    for suffix, items, rows in ilic_host_rows():
        one = ilic_row(rows, "rmg", 1)
        for devices, printed in ((2, "1.6 V100 x 2, 1.9 A100 x 2"), (4, "0.93 V100 x 4, 3.2 A100 x 4")):
            if one and (own := ilic_row(rows, "rmg", devices)) and devices <= GPUS_OF[suffix]:
                gain_of = one["median_seconds"] / own["median_seconds"]
                lines.append((f"host to host, {devices} GPUs beat one (Figs. 11, 13), {items / 1e9:.2f} * 10^9 keys: `rmg` on one / on {devices} of {MACHINES[suffix]}", printed, f"{gain_of:.2f}", gain_of > 1))
    for suffix, label in MACHINES.items():
        for devices, printed in ((2, "1.17 at most, V100 x 2"), (4, "1.20 V100 x 4, 1.10 A100 x 4"), (8, "1.26 at most, A100 x 8")):
            by_keys = {}
            for of, items, rows in ilic_host_rows():
                others = [r["median_seconds"] for a in ("tanasic", "het") if (r := ilic_row(rows, a, devices))]
                if of == suffix and others and (own := ilic_row(rows, "rmg", devices)):
                    by_keys[items] = min(others) / own["median_seconds"]
            if len(by_keys) > 1:
                lines.append((f"faster than both merge sorts for any number of keys (Figs. 15, 16), {devices} devices on {label}: faster of P2P and HET merge sort / `rmg`, {', '.join(f'{n:,}' for n in sorted(by_keys))} keys", printed,
                              ", ".join(f"{by_keys[n]:.2f}" for n in sorted(by_keys)), min(by_keys.values()) > 1))
    items, groups = ilic_parts()
    for devices, printed in ((2, "11, 16 % V100 x 2; 4, 8 % A100 x 2"), (4, "3, 8 % A100 x 4"), (8, "2, 8 % A100 x 8")):
        if parts := groups.get(f"rmg, {devices}"):
            whole = sum(parts.values())
            lines.append((f"partition is the shortest part, exchange the second (Figs. 17, 19), {devices} devices on {MACHINES[ilic_best_host()]}, {items:,} keys: partition, exchange", printed,
                          ", ".join(f"{100 * parts[p] / whole:.0f} %" for p in ("partition", "exchange")), list(sorted(parts, key=parts.get))[:2] == ["partition", "exchange"]))
    for devices, printed in ((2, "0.75, 2.7 V100 x 2; HET 6.6 A100 x 2"), (4, "1.33, 1.8 V100 x 4; HET 7.9 A100 x 4"), (8, "2.7, 9.2 A100 x 8")):
        parts = [groups.get(f"{a}, {devices}") for a in ("rmg", "tanasic", "het")]
        if all(parts):
            exchanged = parts[0]["partition"] + parts[0]["exchange"]
            lines.append((f"{'on two GPUs the merge of P2P merge sort takes less time than what `rmg` does before it sorts' if devices == 2 else 'what `rmg` does before it sorts takes less time than the merges of P2P merge sort'}, those of HET merge sort more (Figs. 18, 20), {devices} devices on {MACHINES[ilic_best_host()]}: merges of P2P and HET merge sort / partition and exchange", printed,
                          f"{parts[1]['merge'] / exchanged:.2f}, {parts[2]['merge'] / exchanged:.0f}", (parts[1]["merge"] < exchanged) == (devices == 2) and parts[2]["merge"] > exchanged))
    times = {d: groups[f"rmg, {d}"] for d in (2, 4, 8) if f"rmg, {d}" in groups}
    merges = {d: groups[f"tanasic, {d}"]["merge"] for d in times if f"tanasic, {d}" in groups}
    if len(times) > 1 and len(merges) > 1:
        on = f"{', '.join(map(str, times))} devices on {MACHINES[ilic_best_host()]}"
        ends = (min(times), max(times))
        lines += [(f"the exchange takes as long on more GPUs, the merges of P2P merge sort longer (Figs. 19, 20), {on}: exchange, merges, ms", "14 to 17 A100; 4 times from 2 to 8",
                   f"{', '.join(number(of['exchange']) for of in times.values())}; {', '.join(map(number, merges.values()))}",
                   times[ends[1]]["exchange"] < 1.25 * times[ends[0]]["exchange"] and merges[ends[1]] > 1.5 * merges[ends[0]])]
    for suffix, label in MACHINES.items():
        for d, printed in ((2, "peaks at 25 and 26, 17 and 18, 9 and 10 bits, at most +18 % V100 x 2"), (4, ""), (8, "-2 to +5 % A100 x 8")):
            if len(points := skewed(suffix, d, "entropy")) > 2:
                change = {x: 100 * (y - 1) for x, y in points if x > 8}
                worst = max(change, key=change.get)
                lines.append((f"bit entropy (Figs. 23, 24), {d} devices on {label}{'' if suffix else ', GPU memory'}: change to uniform keys, least and greatest from 9 bits on", printed,
                              f"{min(change.values()):+.0f} %, {change[worst]:+.0f} % ({worst:g} bits)", (worst in (25, 26, 17, 18, 9, 10) and change[worst] > 5) if d == 2 else None if d == 4 else max(map(abs, change.values())) <= 10))
        for d, printed in ((2, "+26 % at 1.5, less beyond, V100 x 2"), (4, ""), (8, "+6 % at 1, A100 x 8")):
            if len(points := skewed(suffix, d, "zipf")) > 2:
                change = {x: 100 * (y - 1) for x, y in points}
                worst = max(change, key=change.get)
                lines.append((f"Zipf exponents (Figs. 25, 26), {d} devices on {label}{'' if suffix else ', GPU memory'}: greatest change to uniform keys", printed, f"{change[worst]:+.0f} % at {worst:g}",
                              (1 <= worst <= 1.5 and change[2] < change[worst]) if d == 2 else None if d == 4 else change[worst] < 10))
    for label, name in (("one GPU", "ilic-host"), ("two GPUs", "ilic-host-x2")):
        own, repaired = (ilic_changes(rows_of(name), a, 2) for a in ("rmg", "rmg-repair"))
        if "entropy:10" in repaired:
            paid = own["entropy:10"][0] / repaired["entropy:10"][0]
            lines.append((f"split buckets that the CPU merges pay for few buckets (section 7.2), two devices on {label}: `rmg` / `rmg-repair`, entropy:10", "proposed", f"{paid:.2f}", paid > 1))
    parts = {(case.split()[-1], method.split(",")[0]): row["median_seconds"] for case, of in rows_of(f"ilic-options{best_suffix('ilic-options') or ''}").items() for method, row in of.items()
             if ", 2 devices" in method}
    worth = lambda change, case: parts[case, f"rmg {change}"] / parts[case, "rmg"]
    if parts:
        out = {change: next((row["phase_seconds"]["sort and copy out"] for rows in rows_of(f"ilic-options{best_suffix('ilic-options')}").values() for m, row in rows.items()
                             if m.startswith(f"rmg{change}, 2 devices") and row["case"].endswith("uniform")), None) for change in ("", " no-overlap")}
        lines += [("copies out beside the sorts of the next buckets save time (section 5.3), uniform: part of the phase; whole time without / with", "24 % V100 x 2",
                   f"{100 - 100 * out[''] / out[' no-overlap']:.0f} %; {worth('no-overlap', 'uniform'):.2f}", worth("no-overlap", "uniform") > 1.03),
                  ("passes that find one bucket should not move keys (section 5.4.1): moved / not, equal, entropy:10", "> 1", f"{worth('move-all', 'equal'):.2f}, {worth('move-all', 'entropy:10'):.2f}", worth("move-all", "equal") > 1.03),
                  ("small buckets should be fused, at 1 % of a share (section 4.4): not fused, 2 % / 1 %, uniform", "> 1", f"{worth('fuse=0', 'uniform'):.2f}, {worth('fuse=2', 'uniform'):.2f}", worth("fuse=0", "uniform") > 1.03),
                  ("up to 4 buckets should all be sorted before they are copied (section 4.4): copied beside sorts / not, entropy:10", "> 1", f"{worth('min-sco=0', 'entropy:10'):.2f}", worth("min-sco=0", "entropy:10") > 1.03),
                  ("one copy for all buckets of a GPU is no better than a copy for each (section 4.3): one call for all / a call for each, uniform", "about 1", f"{worth('batch-copies', 'uniform'):.2f}", worth("batch-copies", "uniform") > 0.97)]
    phases = {(c, d): row["phase_seconds"] for c, of in rows_of("ilic-skew").items() for m, row in of.items() for d in (2, 8) if m.startswith(f"rmg, {d} ")}
    if ("entropy:26", 8) in phases:
        lines.append(("copies of single buckets cost hardly more than their bytes, even of many buckets (section 4.3): exchange with four buckets for eight devices on one GPU, which each border divides into 256 more (entropy:26) / that of uniform keys",
                      "about 1", f"{phases['entropy:26', 8]['exchange'] / phases['uniform', 8]['exchange']:.1f}", phases["entropy:26", 8]["exchange"] < 1.5 * phases["uniform", 8]["exchange"]))
    for suffix, name, where in (("", "ilic-cases-8", "one GPU, GPU memory"), *((x, f"ilic-host{x}", f"{MACHINES[x]}, from host memory") for x in ("-x2", "-x4"))):
        eight = {c: change for c, (_, change) in ilic_changes(rows_of(name), "rmg", 8).items()}
        two = {c: change for c, (_, change) in ilic_changes(rows_of("ilic-cases" if not suffix else name), "rmg", 2).items() if c in eight}
        if eight and two:
            lines.append((f"distributions change the time less on eight devices than on two (Figs. 22, 24, 26), {where}: least, greatest change on eight, on two", "-13 to +6 % A100 x 8, -30 to +26 % V100 x 2",
                          f"{min(eight.values()):+.0f} to {max(eight.values()):+.0f} %, {min(two.values()):+.0f} to {max(two.values()):+.0f} %", max(map(abs, eight.values())) < max(map(abs, two.values()))))
    lines.append(("two and four GPUs beat one (4 * 10^9 u32 in the memory of H200s; the thesis includes the host copies)", "1.9, 3.2 A100",
                  f"{gain[0]:.2f}, {gain[1]:.2f}", min(gain) > 1))
    return claims(lines)


# ---- Capannini et al. 2011 ----------------------------------------------------------------------

def bsn_transactions(n, k, sigma):
    """Section 6.1: the partitions that cover the network, each read and written once."""
    log_n, log_s, step = math.log2(n), int(math.log2(sigma)), int(math.log2(sigma / k))
    passes = 1 + sum(math.ceil((s - log_s) / step) + 1 for s in range(log_s + 1, int(log_n) + 1))
    return 2 * n / k * passes


def quicksort_transactions(n, k):
    return math.log2(n) * (n / k + 2 + 4 * n / k ** 2 + n / k + n)


def radix_transactions(n, b=4, h=1024):
    return 32 / b * n / h * 2 ** b


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
PRINTED_TRANSACTIONS = {20: (796800, 4446802, 965791), 22: (4119680, 18438423, 3862644), 24: (20223360, 85843422, 15447561), 26: (101866786, "n.a.", "n.a.")}
PRINTED_CONFLICTS = {20: (34350, 123437, 132652), 22: (151592, 379967, 520656), 24: (666044, 1379155, 2081467), 26: (2912926, "n.a.", "n.a.")}
PRINTED_DIVERGENT = {20: (0, 272904, 29399), 22: (0, 1126038, 122667), 24: (0, 1126038, 492016), 26: (0, "n.a.", "n.a.")}


def counted(case, method):
    return rows_of("garland-classics").get(case, {}).get(method, {}).get("transactions", 0)


def with_commas(value):
    return f"{value:,.0f}" if isinstance(value, (int, float)) else value


def capannini_table():
    lines = []
    for e in (16, 18, 20, 22, 24, 26):
        n = 2 ** e
        counts = [counted(f"2^{e} keys", m) or "-" for m in CAPANNINI]
        formulas = [bsn_transactions(n, 32, 2 ** 14), quicksort_transactions(n, 32), radix_transactions(n)]
        printed = PRINTED_TRANSACTIONS.get(e, ("-", "-", "-"))
        lines.append([f"2^{e}", *(" / ".join(map(with_commas, cell)) for cell in zip(printed, formulas, counts))])
    return table(["keys", "bitonic", "quicksort", "radix"], lines)


def counters_of(exponent, method):
    """{counter: sum over the kernels of a sort} of a row of bench sort --classics."""
    return (report("capannini-counters") or {}).get("counts", {}).get(f"2^{exponent}", {}).get(method, {})


def capannini_counters():
    """Bank conflicts and divergent branches, printed and here."""
    lines = []
    for e in (20, 22, 24, 26):
        for i, (method, label) in enumerate(CAPANNINI.items()):
            here = counters_of(e, method)
            cells = [with_commas(cell) for name, printed in (("bank conflicts", PRINTED_CONFLICTS), ("divergent branches", PRINTED_DIVERGENT)) for cell in (printed[e][i], here.get(name, "not counted"))]
            part = f"{100 * here['bank conflicts'] / here['shared wavefronts']:.2g} %" if here.get("shared wavefronts") else ""
            lines.append([f"2^{e}, {label}", *cells[:2], part, *cells[2:]])
    return table(["keys, sort", "bank conflicts, printed", "here", "of all wavefronts", "divergent paths, printed", "here"], lines)


def capannini_accesses():
    lines = []
    for method, label in CAPANNINI.items():
        here = counters_of(20, method)
        lines.append([label, *(with_commas(here.get(name, "")) for name in ("loads", "stores", "load sectors", "store sectors", "shared wavefronts"))])
    return table(["2^20 keys", "loads", "stores", "sectors loaded", "sectors stored", "shared wavefronts"], lines)


def capannini_counted_by():
    found = report("capannini-counters")
    if not found:
        return ["Not counted yet."]
    return [f"Counted on: {found['gpu']}, commit {found['commit']}; one array of uniform keys for each number."]


def steps_of(method, n):
    """Steps of one key by the algorithm: comparisons of the network and of quicksort, splits by one bit of radix sort."""
    log_n = math.log2(n)
    return {"sortie bitonic": n / 2 * log_n * (log_n + 1) / 2, "quicksort": n * log_n, "tiled radix": 32 * n}[method]


def capannini_work():
    lines = []
    for method, label in CAPANNINI.items():
        formula = {"sortie bitonic": "n/2 * log n (log n + 1) / 2", "quicksort": "n log n", "tiled radix": "32 n"}[method]
        for e in (16, 18, 20):
            here = counters_of(e, method)
            steps = steps_of(method, 2 ** e)
            if "thread instructions" in here:
                lines.append([f"{label}, 2^{e}", formula, f"{steps:,.0f}", f"{here['thread instructions']:,.0f}", f"{here['thread instructions'] / steps:.2f}",
                              f"{here['warp instructions']:,.0f}", f"{here['thread instructions'] / here['warp instructions']:.1f}"])
    return table(["sort, keys", "steps", "by the formula", "instructions of threads", "a step", "instructions of warps", "threads an instruction"], lines) if lines else ["Not counted yet."]


def capannini_deviations():
    lines = []
    for case, rows in rows_of("capannini-deviations").items():
        name = case.split(", ")[1] if ", " in case else "uniform"
        cells = []
        for method in CAPANNINI:
            times = [1e3 * t for t in rows[method]["seconds"]]
            cells.append(f"{number(statistics.mean(times))} ± {number(statistics.pstdev(times), 2)}")
        lines.append([name, *cells])
    return table(["2^24 keys", *(f"{label}, ms" for label in CAPANNINI.values())], lines) if lines else ["Not measured yet."]


def capannini_slow_sorts():
    """Rows of capannini-deviations with sorts far slower than the fastest one."""
    found = []
    for case, rows in rows_of("capannini-deviations").items():
        name = case.split(", ")[1] if ", " in case else "uniform"
        for method, label in CAPANNINI.items():
            times = [1e3 * t for t in rows[method]["seconds"]]
            if slow := [t for t in times if t > 1.5 * min(times)]:
                span = f"{number(min(slow))} to {number(max(slow))}" if len(slow) > 1 else number(slow[0])
                found.append(f"{label} on {name}: {len(slow)} of {len(times)}, {span} ms")
    if not found:
        return []
    lines = [f"Sorts that took more than 1.5 times as long as the fastest of their row: {'; '.join(found)}."]
    if any(text.startswith("bitonic") for text in found):
        lines.append("The network's steps do not depend on the keys, so the keys are not the cause of its slow sorts. The cause is not known.")
    return lines


def capannini_formulas():
    sizes = [2 ** e for e in range(20, 33)]
    return chart("Fig. 6: memory transactions by the formulas of section 6.1, k = 32, 2^14 keys on chip", "keys", "transactions",
                 {"bitonic": [(n, bsn_transactions(n, 32, 2 ** 14)) for n in sizes],
                  "quicksort": [(n, quicksort_transactions(n, 32)) for n in sizes],
                  "bitonic, k = 16, 2^12 keys": [(n, bsn_transactions(n, 16, 2 ** 12)) for n in sizes],
                  "quicksort, k = 16": [(n, quicksort_transactions(n, 16)) for n in sizes],
                  "radix": [(n, radix_transactions(n)) for n in sizes]})


CAPANNINI = {"sortie bitonic": "bitonic", "quicksort": "quicksort", "tiled radix": "radix"}


def capannini_rows():
    """The distributions, or else those of the classics: fewer arrays, and others than uniform ones at 2^20 keys only."""
    rows = rows_of("capannini-distributions") or rows_of("garland-classics") | rows_of("garland-distributions")
    return {case: of for case, of in rows.items() if int(case[2:4]) >= 20 and all(m in of for m in CAPANNINI)}


def capannini_distributions():
    lines = []
    for case, rows in capannini_rows().items():
        cells = []
        for method in CAPANNINI:
            times = [1e3 * s for s in rows[method]["seconds"]]
            cells.append(f"{number(statistics.mean(times))} ± {number(statistics.pstdev(times), 2)} ({number(min(times))} to {number(max(times))})")
        lines.append([case, *cells])
    return table(["keys", *(f"{label}, ms" for label in CAPANNINI.values())], lines)


def capannini_times():
    series = {}
    for case, rows in capannini_rows().items():
        kind = case.split(", ")[1] if ", " in case else "uniform"
        for method, label in CAPANNINI.items():
            if kind in ("uniform", "equal"):
                series.setdefault(f"{label}, {kind}", []).append((rows[method]["items"], milliseconds(rows[method])))
    lines = {label: points for label, points in series.items() if len(points) > 1}
    return chart("Fig. 5: time of a sort of u32 keys, medians", "keys", "milliseconds", lines)


def capannini_claims():
    rows = {c: {m: r["median_seconds"] for m, r in of.items()} for c, of in capannini_rows().items()}
    big, small = "2^26 keys", "2^20 keys"
    most = big if f"{big}, equal" in rows else small
    network_to_radix = {e: of["sortie bitonic"] / of["tiled radix"] for e in (20, 22) if (of := rows.get(f"2^{e} keys"))}
    network = [times["sortie bitonic"] for case, times in rows.items() if case.startswith(most)]
    spread = max(network) / min(network)
    quick = lambda case: rows[f"{case}, equal"]["quicksort"] / rows[case]["quicksort"]
    counts = {m: counted("2^24 keys", m) for m in CAPANNINI}
    lines = []
    deviation = {m: statistics.pstdev(capannini_rows()[small][m]["seconds"]) / statistics.mean(capannini_rows()[small][m]["seconds"]) for m in CAPANNINI}
    lines.append(("quicksort's time varies most from array to array, the network's least (Fig. 5, 2^20): deviation / mean of bitonic, quicksort", "",
                  f"{100 * deviation['sortie bitonic']:.1f} %, {100 * deviation['quicksort']:.1f} %", max(deviation, key=deviation.get) == "quicksort" and min(deviation, key=deviation.get) == "sortie bitonic"))
    shown = {c.split(", ")[1] if ", " in c else "uniform": r for c, r in rows_of("capannini-deviations").items()}
    if shown:
        normal = {k: r for k, r in shown.items() if k.startswith("normal")}
        spread_of = lambda m: max(r[m]["median_seconds"] for r in normal.values()) / min(r[m]["median_seconds"] for r in normal.values())
        lines.append(("the variance of normal keys changes quicksort's time more than the network's (2^24): slowest / fastest of quicksort, bitonic", "",
                      f"{spread_of('quicksort'):.2f}, {spread_of('sortie bitonic'):.2f}", spread_of("quicksort") > spread_of("sortie bitonic")))
    formulas = [quicksort_transactions(2 ** e, 32) / bsn_transactions(2 ** e, 32, 2 ** 14) for e in range(20, 33)]
    lines.append(("by the formulas the network makes fewer transactions than quicksort at all sizes to 2^32 (Fig. 6): least ratio", "> 1", f"{min(formulas):.1f}", min(formulas) > 1))
    at = {m: counters_of(20, m) for m in CAPANNINI}
    if all("bank conflicts" in c for c in at.values()):
        conflicts = {m: c["bank conflicts"] for m, c in at.items()}
        lines.append(("the network has the fewest bank conflicts (Table 1, 2^20): quicksort, radix / bitonic", "3.6, 3.9",
                      ", ".join(f"{conflicts[m] / max(conflicts['sortie bitonic'], 1):.2f}" for m in ("quicksort", "tiled radix")), min(conflicts, key=conflicts.get) == "sortie bitonic"))
    if all("divergent branches" in c for c in at.values()):
        divergent = {m: c["divergent branches"] for m, c in at.items()}
        lines.append(("the network has no divergent branch, quicksort the most (Table 1, 2^20): bitonic, quicksort, radix", "0, 272,904, 29,399",
                      ", ".join(f"{divergent[m]:,.0f}" for m in CAPANNINI), divergent["sortie bitonic"] < 0.01 * divergent["quicksort"] and max(divergent, key=divergent.get) == "quicksort"))
    if all("thread instructions" in counters_of(e, m) for e in (16, 20) for m in CAPANNINI):
        a_step = {m: [counters_of(e, m)["thread instructions"] / steps_of(m, 2 ** e) for e in (16, 20)] for m in CAPANNINI}
        growth = {m: a[1] / a[0] for m, a in a_step.items()}
        lines.append(("work grows as the formulas (2^16 to 2^20): instructions a step at 2^20 over those at 2^16, of bitonic, quicksort, radix", "1",
                      ", ".join(f"{growth[m]:.2f}" for m in CAPANNINI), all(0.8 < g < 1.25 for g in growth.values())))
    return claims([*lines,
        ("bitonic is always faster than quicksort (uniform, 2^20 and 2^26 keys: quicksort / bitonic)", "> 1",
         f"{rows[small]['quicksort'] / rows[small]['sortie bitonic']:.2f}, {rows[big]['quicksort'] / rows[big]['sortie bitonic']:.2f}",
         min(rows[c]["quicksort"] / rows[c]["sortie bitonic"] for c in (small, big)) > 1),
        ("radix sort is faster than the network up to 8 * 10^6 keys (Fig. 5): bitonic / radix, 2^20, 2^22 keys", "> 1", ", ".join(f"{network_to_radix[e]:.2f}" for e in sorted(network_to_radix)), min(network_to_radix.values()) > 1),
        ("the network's time does not depend on the keys: slowest / fastest distribution", "1", f"{spread:.2f}", spread < 1.1),
        ("quicksort's time does: equal keys / uniform", "< 1", f"{quick(most):.2f}", quick(most) < 0.8),
        ("quicksort makes the most memory transactions, 2^24 keys: quicksort / bitonic", "4.2", f"{counts['quicksort'] / counts['sortie bitonic']:.2f}", counts["quicksort"] > counts["sortie bitonic"]),
        ("radix sort makes fewer transactions than the network at 2^24", "0.76", f"{counts['tiled radix'] / counts['sortie bitonic']:.2f}", counts["tiled radix"] < counts["sortie bitonic"]),
        *capannini_indexer_claims(),
    ])


def capannini_indexers():
    """Table 2, printed and measured."""
    import draw_indexers as of
    lines = []
    for label, found, unit in (("printed", of.PRINTED, "10^6"), ("here", of.MEASURED, "10^3")):
        for size in found["cpu"]:
            cpu, gpu, both = (found[i][size] for i in ("cpu", "gpu", "gpu-overlapped"))
            lines.append([f"{label}, {size:g} * {unit}", *(f"{x:.2f}" for x in (*cpu, gpu[0], both[0], both[1]))])
    return table(["documents", "cpu: parse and sort", "merge", "gpu: parse and sort", "gpu-overlapped: parse and sort", "merge with a GPU"], lines)


def capannini_indexer_claims():
    import draw_indexers as of
    size, n = max(of.MEASURED["cpu"]), max(of.SORTS)
    both, cpu, sorts = of.MEASURED["gpu-overlapped"][size], of.MEASURED["cpu"][size], {name: sum(times) for name, times in of.SORTS[n].items()}
    return [("a GPU makes the indexer faster (Fig. 8A): cpu / overlapped, parse and sort, most documents", "4.8", f"{cpu[0] / both[0]:.1f}", cpu[0] > both[0]),
            ("then the merge dominates (Fig. 8A): its part of the whole", "79 %", f"{100 * both[1] / sum(both):.0f} %", both[1] > both[0]),
            ("the network beats radix sort that has to make twice the runs (Fig. 8B): radix / bitonic, most documents", "> 1", f"{sorts['radix, twice the runs'] / sorts['bitonic']:.2f}", sorts["radix, twice the runs"] > sorts["bitonic"])]


# ---- Garland ------------------------------------------------------------------------------------

def classic_points(value_of, name="garland-classics"):
    series = {}
    for rows in rows_of(name).values():
        for method, row in rows.items():
            if (value := value_of(row)) > 0:
                series.setdefault(method, []).append((row["items"], value))
    return series


def garland_rates(name="garland-classics", what="keys"):
    points = classic_points(lambda r: r["rate"], name)
    shown = {m: line for m, line in points.items() if m not in ("counting by offset", "sortie merge", "sortie radix")}
    return chart(f"Rate of the classics, u32 {what}", what, f"10^9 {what} per second", shown)


def garland_table(infix="", what="keys"):
    first = f"garland{infix}" if infix else "garland-classics"
    cases = {"uniform": rows_of(first).get(f"2^20 {what}", {})}
    cases |= {c.split(", ")[1]: r for c, r in rows_of(f"garland{infix}-distributions").items() if c.startswith(f"2^20 {what}, ")}
    at = {m: f"2^20 {what}" for m in cases["uniform"]}
    if not at:
        return ["Not measured yet."]
    lines = [[m, *(number(milliseconds(rows[m])) if m in rows else "" for rows in cases.values())] for m in at]
    small = {"uniform": rows_of(first).get(f"2^14 {what}", {})}
    small |= {c.split(", ")[1]: r for c, r in rows_of(f"garland{infix}-quadratic").items()}
    for m in small["uniform"]:
        if m not in at:
            lines.append([m + f", 2^14 {what}", *(number(milliseconds(small[c][m])) if m in small.get(c, {}) else "" for c in cases)])
    return table([f"method, 2^20 {what}, ms", *cases], lines)


def garland_pair_claims():
    rows = rows_of("garland-pairs").get("2^28 pairs")
    if not rows:
        return []
    ratio = lambda a, b: rows[a]["median_seconds"] / rows[b]["median_seconds"]
    return [("the same of pairs: tiled merge / tiled radix, 2^28 pairs", "> 1", f"{ratio('tiled merge', 'tiled radix'):.2f}", ratio("tiled merge", "tiled radix") > 1),
            ("the same of pairs: quicksort / sample sort, 2^28 pairs", "> 1", f"{ratio('quicksort', 'sample sort'):.2f}", ratio("quicksort", "sample sort") > 1)]


def garland_claims():
    at = rows_of("garland-classics")
    top = at["2^28 keys"]
    small = at["2^14 keys"]
    time = lambda rows, m: rows[m]["median_seconds"]
    return claims([
        ("radix sort outruns merge sort on integers: tiled merge / tiled radix, 2^28 keys", "> 1", f"{time(top, 'tiled merge') / time(top, 'tiled radix'):.2f}", time(top, "tiled merge") > time(top, "tiled radix")),
        ("one bit a pass is not efficient: binary split / tiled radix", "> 1", f"{time(top, 'binary split') / time(top, 'tiled radix'):.2f}", time(top, "binary split") > time(top, "tiled radix")),
        ("selection and insertion are mostly sequential: their time / odd-even transposition, 2^14 keys", "> 1",
         f"{time(small, 'selection') / time(small, 'odd-even transposition'):.1f}, {time(small, 'insertion') / time(small, 'odd-even transposition'):.1f}",
         min(time(small, "selection"), time(small, "insertion")) > time(small, "odd-even transposition")),
        ("sample sort partitions into many ranges and beats quicksort: quicksort / sample sort, 2^28 keys", "> 1", f"{time(top, 'quicksort') / time(top, 'sample sort'):.2f}", time(top, "quicksort") > time(top, "sample sort")),
        *garland_pair_claims(),
    ])


# ---- CUSP ---------------------------------------------------------------------------------------

def product_rows():
    """Rows of products by case, with those of email-Enron, which is not part of this repository, and of bhSPARSE, which bench spgemm does not run."""
    found = {case: dict(rows) for case, rows in (rows_of("cusp-products") | rows_of("cusp-email-enron")).items()}
    for case, rows in rows_of("hou-bhsparse").items():
        found.setdefault(case, {}).update(rows)
    return found


def cusp_table():
    lines = []
    others = ["bhsparse"] if report("hou-bhsparse") else []
    for case, rows in product_rows().items():
        ms = {m: r["median_seconds"] * 1e3 for m, r in rows.items()}
        peak = rows.get("esc", {}).get("peak_work_space")
        lines.append([f"`{case}`", *(number(ms[m]) if m in ms else "fails" for m in ("cusp", "esc", "essc", "fused", "cusparse")), *(number(ms[m]) if m in ms else "fails" for m in others),
                      f"{ms['cusp'] / ms['esc']:.2f}" if "cusp" in ms else "", f"{ms['esc'] / ms['essc']:.2f}" if "essc" in ms else "",
                      f"{peak / 2 ** 20:.0f}" if peak else ""])
    return table(["A", "CUSP 0.6.1, ms", "`esc`", "`essc`", "`fused`", "cuSPARSE", *(["bhSPARSE"] * len(others)), "CUSP / `esc`", "`esc` / `essc`", "work space of `esc`, MiB"], lines)


def cusp_claims():
    times = [{m: r["median_seconds"] for m, r in rows.items()} for rows in product_rows().values()]
    cusp = [t["cusp"] / t["essc"] for t in times]
    esc = [t["esc"] / t["essc"] for t in times]
    cusparse, bhsparse = ([t[peer] / t["essc"] for t in times if peer in t] for peer in ("cusparse", "bhsparse"))
    span = lambda ratios: f"{min(ratios):.1f} to {max(ratios):.1f}"
    phases = [{m: rows[m]["phase_seconds"] for m in ("esc", "essc")} for rows in product_rows().values()]
    share = [100 * of["esc"]["sort"] / sum(of["esc"].values()) for of in phases]
    sorts = [of["esc"]["sort"] / of["essc"]["sort"] for of in phases]
    return claims([
        ("segmented sort speeds ESC up: CUSP / `essc`", "up to 2.3 K80, 1.9 Titan X", span(cusp), min(cusp) > 1),
        ("the same with both sorts by today's CUB: `esc` / `essc`", "", span(esc), min(esc) > 1),
        ("`essc` is faster than cuSPARSE", "up to 86.5", span(cusparse), min(cusparse) > 1),
        *([("`essc` is faster than bhSPARSE", "up to 2.3", span(bhsparse), min(bhsparse) > 1)] if bhsparse else []),
        ("the sort takes most of ESC: its part of `esc`", "45 to 85 %", f"{min(share):.0f} to {max(share):.0f} %", min(share) > 45),
        ("the segmented sort is faster than the sort by row and column: sort of `esc` / sort of `essc`", "3.2 to 8", span(sorts), min(sorts) > 1)])


# ---- pages --------------------------------------------------------------------------------------

PARTS = {
    "hou-claims": hou_claims, "hou-reg-sort": lambda: hou_bindings("reg_sort"), "hou-smem-merge": lambda: hou_bindings("smem_merge"),
    "hou-grid": hou_grid_table, "hou-chunks": hou_chunks, "hou-block-sizes": hou_block_sizes, "hou-bins": hou_bins, "hou-moderngpu": hou_moderngpu,
    "hou-suffix-arrays": hou_suffix_arrays,
    "tanasic-claims": tanasic_claims, "tanasic-links": tanasic_links, "tanasic-links-two-gpus": lambda: tanasic_links("tanasic-links-x2"), "tanasic-links-four-gpus": lambda: tanasic_links("tanasic-links-x4"), "tanasic-links-apart": lambda: tanasic_links("tanasic-links-64M", "runtime"),
    "tanasic-fig6b": lambda: ["![rates from host memory to host memory](tanasic-fig6b.svg)"] if report("tanasic-host-peers")
    else ["Fig. 6(b), the same from host memory beside sorts of the host, is not measured yet by size; the rates of 2^28 records are below."],
    "tanasic-times": tanasic_times, "tanasic-times-two-gpus": lambda: tanasic_times("-x2"), "tanasic-times-four-gpus": lambda: tanasic_times("-x4"), "tanasic-host": tanasic_host, "tanasic-peers": tanasic_peers, "tanasic-two-gpus": tanasic_two_gpus, "tanasic-four-gpus": tanasic_four_gpus,
    "ilic-claims": ilic_claims, "ilic-table": ilic_table, "ilic-two-gpus": lambda: ilic_real_gpus("-x2", 2), "ilic-four-gpus": lambda: ilic_real_gpus("-x4", 4), "ilic-host": ilic_host, "ilic-bits": ilic_bits, "ilic-types": ilic_types, "ilic-sizes": ilic_sizes, "ilic-eight": ilic_eight, "ilic-links": ilic_links, "ilic-host-peers": ilic_host_peers, "ilic-entropy": lambda: ilic_skew_table("entropy"), "ilic-zipf": lambda: ilic_skew_table("zipf"), "ilic-distributions": ilic_distributions, "ilic-options": ilic_options,
    "capannini-claims": capannini_claims, "capannini-table": capannini_table, "capannini-counters": capannini_counters, "capannini-accesses": capannini_accesses, "capannini-indexers": capannini_indexers, "capannini-counted-by": capannini_counted_by, "capannini-work": capannini_work,
    "capannini-deviations": capannini_deviations, "capannini-slow-sorts": capannini_slow_sorts, "capannini-distributions": capannini_distributions,
    "garland-claims": garland_claims, "garland-table": garland_table, "garland-pairs-table": lambda: garland_table("-pairs", "pairs"), "cusp-table": cusp_table, "cusp-claims": cusp_claims,
    **{f"{page}-source": (lambda names=tuple(runs): measured_by(names)) for page, runs in RUNS.items()},
    **{f"{page}-{word}-gpus-source": (lambda names=tuple(runs): measured_by(names)) for number, word in ((2, "two"), (4, "four")) for page, runs in ON_GPUS[number].items()},
    "capannini-2011-source": lambda: measured_by(["capannini-distributions", "capannini-deviations", "garland-classics"]),
}
PICTURES = {
    "hou-fig11.svg": ("hou-lengths", lambda: chart("Fig. 11: segments of equal length, u32 pairs", "pairs in each segment", "10^9 pairs per second", hou_lengths())),
    "hou-fig9.svg": ("hou-kernels", lambda: chart("Fig. 9: reg-sort, u32 pairs, best block size", "pairs in each segment", "10^9 pairs per second", hou_kernel_rates("reg_sort"), log_y=False)),
    "hou-fig10.svg": ("hou-kernels", lambda: chart("Fig. 10: smem-merge, u32 pairs", "pairs in each segment", "10^9 pairs per second", hou_kernel_rates("smem_merge"), log_y=False)),
    "hou-fig12.svg": ("hou-grid", hou_heat),
    "hou-fig13.svg": ("hou-suffix-arrays", lambda: bars("Fig. 13: suffix arrays", "10^6 symbols per second.", hou_fig13())),
    "hou-fig14.svg": ("cusp-products", lambda: bars("Fig. 14: products A * A", "Time / that of essc.", hou_fig14())),
    "hou-fig2.svg": ("hou-products", hou_fig2),
    "tanasic-fig6a.svg": ("tanasic-f32", lambda: chart("Fig. 6(a): pairs of an f32 and a u32 in GPU memory", "records", "10^9 records per second", tanasic_fig6a())),
    "tanasic-fig6b.svg": ("tanasic-host-peers", lambda: chart("Fig. 6(b): pairs of an f32 and a u32 from host memory to host memory", "records", "10^9 records per second", tanasic_fig6b())),
    "tanasic-fig7.svg": ("tanasic-f32-x2", lambda: chart("Fig. 7: speedup by more GPUs, pairs of an f32 and a u32", "records", "speedup", tanasic_fig7(), log_y=False)),
    "tanasic-fig8.svg": ("tanasic-host-f32", lambda: stacked("Fig. 8: copies from and to the host, and sorting", "Shares of the whole, pairs of a floating-point key and a u32.", tanasic_fig8())),
    "tanasic-fig9.svg": ("tanasic-f32", lambda: stacked("Fig. 9: parts of the time, pairs of a floating-point key and a u32", "From one more sort, which waits after each part.", tanasic_breakdown())),
    "ilic-fig8.svg": ("ilic-bits", lambda: chart("Fig. 8: CUB's radix sort of 2^30 u32 keys by fewer bits", "bits", "milliseconds", {"cub radix": list(ilic_bit_times().items())}, log_y=False, log_x=False)),
    "ilic-fig11.svg": ("ilic-host-peers", lambda: bars("Figs. 11 and 13: sorts of the host, and from host memory on GPUs", "10^9 keys per second, uniform u32 keys.", ilic_fig11())),
    "ilic-fig12.svg": ("ilic-host-peers", lambda: chart("Figs. 12 and 14: sorts of the host, and from host memory on GPUs", "keys", "milliseconds", ilic_fig12())),
    "ilic-fig15.svg": ("ilic-host-x2", lambda: chart("Figs. 15 and 16: sorts from host memory on GPUs", "keys", "milliseconds", ilic_by_keys([("rmg", 2), ("tanasic", 2), ("rmg", 4), ("tanasic", 4), ("rmg", 8), ("tanasic", 8), ("het", 8)], ilic_best_host()))),
    "ilic-fig17.svg": ("ilic-host-512M-x2", ilic_fig17),
    "ilic-fig23.svg": ("ilic-skew", lambda: chart("Figs. 23 and 24: bit entropy", "random bits of a key", "time / that of uniform keys", ilic_skew("entropy"), log_y=False, log_x=False)),
    "ilic-fig25.svg": ("ilic-skew", lambda: chart("Figs. 25 and 26: Zipf distributions", "exponent", "time / that of uniform keys", ilic_skew("zipf"), log_y=False, log_x=False)),
    "ilic-fig27.svg": ("ilic-u32", lambda: bars("Figs. 27 and 28: types of keys", "Milliseconds, 2^29 keys in GPU memory.", ilic_type_bars())),
    "capannini-fig5.svg": ("garland-classics", capannini_times),
    "capannini-fig6.svg": (None, capannini_formulas),
    "garland-rates.svg": ("garland-classics", garland_rates),
    "garland-pairs.svg": ("garland-pairs", lambda: garland_rates("garland-pairs", "pairs")),
}


def page_with_parts(path):
    def replace(match):
        name = match.group(1)
        if name not in PARTS:
            sys.exit(f"pages.py: found part \"{name}\" in {path.name}, expected one of {', '.join(PARTS)}")
        try:
            lines = PARTS[name]()
        except (AttributeError, KeyError, StopIteration, TypeError, ValueError):
            page = next(p for p in RUNS if p.startswith(name.split("-")[0]))
            if all(map(report, RUNS[page])):
                raise
            lines = ["Not measured yet."]
        return "\n".join([f"<!-- {name} -->", *lines, "<!-- end -->"])
    return re.sub(r"<!-- (\S+) -->.*?<!-- end -->", replace, path.read_text(encoding="utf-8"), flags=re.DOTALL)


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


def gpu_names():
    if not shutil.which("nvidia-smi"):
        return []
    command = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout.splitlines()


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


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--commands"] and len(arguments) == 2:
        for runs in [*RUNS.values(), *(of for pages_on in ON_GPUS.values() for of in pages_on.values())]:
            for name, lines in runs.items():
                for i, line in enumerate([lines] if isinstance(lines, str) else lines):
                    print(f"{arguments[1]} {line} --json {name}{'' if isinstance(lines, str) else f'-{i}'}.json")
        return 0
    if arguments[:1] == ["--measure"] and len(arguments) > 1 and all(page in RUNS for page in arguments[2:]):
        measure(arguments[1], arguments[2:])
        arguments = []
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    wanted = {path: page_with_parts(path) for path in sorted(FOLDER.glob("*.md"))}
    for name, (needed, draw) in PICTURES.items():
        if needed is None or report(needed):
            wanted[FOLDER / name] = draw()
    old = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in old:
        if arguments:
            print(f"pages.py: {path.name} is out of date", file=sys.stderr)
        else:
            path.write_text(wanted[path], encoding="utf-8")
    return 1 if old and arguments else 0


if __name__ == "__main__":
    sys.exit(main())
