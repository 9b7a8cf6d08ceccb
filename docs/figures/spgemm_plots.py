#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the comparison of the paper's Fig. 14, and the phases of Sortie's own algorithms.

    spgemm_plots.py OUTPUT.svg INPUT [INPUT ...]

An INPUT is a report of `sortie bench spgemm --json FILE`, or the table that it prints, which has no
phases unless --phases was given. Of inputs that have the same matrix and method, the first one counts.

Above, a bar for each method and matrix: how many times as fast as the fastest of cuSPARSE's algorithms
that has a result; and, where they were measured, the values alone where the structure is known, beside
those of cuSPARSE's SpGEMMreuse. Below, where phases are known, the stacked times of the phases of essc (left) and
of fused, which `auto` chooses (right), relative to the time of cuSPARSE's fastest.
"""
import json
import re
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "sortie"  # the same input gives the same bytes
import matplotlib.pyplot as plt

METHODS = {"fused": "auto (fused)", "essc": "essc", "esc": "esc"}
STACKED = ["essc", "fused"]
LINE = re.compile(r"^(\S+)(?: on the device)?\s+(\S+(?: values)?)\s+cuda\s+([0-9.]+)\s")
PHASE_LINE = re.compile(r"^    \S")
PHASE = re.compile(r"(\S+) ([0-9.]+) ms")


def short(name):
    """The name of a matrix, without folder and endings."""
    return re.sub(r"(\.mtx)?(\.gz)?$", "", name.removesuffix(" on the device").rsplit("/", 1)[-1])


def rows_of_table(text):
    """(matrix, method, milliseconds, {phase: milliseconds}) of each row of a printed table"""
    row = None
    for line in text.splitlines():
        if row and PHASE_LINE.match(line):
            row = row[:3] + ({name: float(ms) for name, ms in PHASE.findall(line)},)
            continue
        if row:
            yield row
        found = LINE.match(line)
        right = found and line.rstrip().endswith("yes")
        row = (short(found.group(1)), found.group(2), float(found.group(3)), {}) if right else None
    if row:
        yield row


def rows_of_report(text):
    """The same of a JSON report."""
    for row in json.loads(text)["rows"]:
        if row["backend"] == "cuda" and row["agrees"] and row["case"].endswith(" on the device"):
            phases = {name: 1e3 * seconds for name, seconds in row["phase_seconds"].items()}
            yield short(row["case"]), row["method"], 1e3 * row["median_seconds"], phases


def read(paths):
    """matrix -> method -> (milliseconds, {phase: milliseconds})"""
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        rows = rows_of_report(text) if text.lstrip().startswith("{") else rows_of_table(text)
        for name, method, ms, phases in rows:
            found.setdefault(name, {}).setdefault(method, (ms, phases))
    return found


def fastest_of_library(methods):
    """Milliseconds of the fastest of cuSPARSE's products; None where it has no result."""
    return min((row[0] for name, row in methods.items()
                if re.fullmatch(r"cusparse(-alg\d|-reuse)?", name)), default=None)


def draw_ratios(axes, matrices):
    """The bars of how many times as fast."""
    bars = {label: {i: fastest_of_library(methods) / methods[method][0]
                    for i, methods in enumerate(matrices.values()) if method in methods}
            for method, label in METHODS.items()}
    both = ["fused values", "cusparse-reuse values"]
    bars["values alone, beside SpGEMMreuse"] = {
        i: methods[both[1]][0] / methods[both[0]][0]
        for i, methods in enumerate(matrices.values()) if all(name in methods for name in both)}
    bars = {label: ratios for label, ratios in bars.items() if ratios}
    width = 0.84 / len(bars)
    for k, (label, ratios) in enumerate(bars.items()):
        offset = (k - (len(bars) - 1) / 2) * width
        axes.bar([i + offset for i in ratios], list(ratios.values()), width, label=label)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_ylabel("times the rate of cuSPARSE's fastest")
    axes.legend(fontsize=7)


def draw_phases(axes, matrices):
    """The stacks of phases."""
    names = []
    for methods in matrices.values():
        for method in STACKED:
            for phase in methods.get(method, (0, {}))[1]:
                if phase not in names:
                    names.append(phase)
    names.sort(key=lambda phase: phase == "rest")
    colours = {phase: plt.get_cmap("tab10")(k) for k, phase in enumerate(names)}
    colours["rest"] = "lightgrey"
    width = 0.38
    for k, method in enumerate(STACKED):
        for i, methods in enumerate(matrices.values()):
            bottom = 0
            phases = methods.get(method, (0, {}))[1]
            for phase in names:
                height = phases.get(phase, 0) / fastest_of_library(methods)
                axes.bar(i + (k - 0.5) * width, height, 0.9 * width, bottom=bottom, color=colours[phase])
                bottom += height
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_ylabel("time; cuSPARSE's fastest = 1\n(left: essc, right: fused)")
    axes.legend([plt.Rectangle((0, 0), 1, 1, color=colours[phase]) for phase in names], names, fontsize=7)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    matrices = {name: methods for name, methods in read(sys.argv[2:]).items()
                if "fused" in methods and fastest_of_library(methods)}
    if not matrices:
        sys.exit("spgemm_plots.py: found no matrix with rows of fused and cuSPARSE")
    with_phases = any(row[1] for methods in matrices.values() for row in methods.values())
    panels = 2 if with_phases else 1
    figure, axes = plt.subplots(panels, 1, figsize=(11, 4.5 * panels), squeeze=False)
    draw_ratios(axes[0][0], matrices)
    if with_phases:
        draw_phases(axes[1][0], matrices)
    for (panel,) in axes:
        panel.set_xticks(range(len(matrices)), list(matrices), rotation=30, ha="right", fontsize=7)
    figure.tight_layout()
    figure.savefig(sys.argv[1])


if __name__ == "__main__":
    main()
