#!/usr/bin/env python3
"""Draws the comparison of the paper's Fig. 14 from what `sortie bench spgemm` prints.

    spgemm_plots.py OUTPUT.svg TABLE.txt [TABLE.txt ...]

A bar for each method and matrix: how many times as fast as the fastest of cuSPARSE's algorithms that
has a result. Of tables that have the same matrix and method, the first one counts.
"""
import re
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "sortie"  # the same table gives the same bytes
import matplotlib.pyplot as plt

METHODS = ["fused", "essc", "esc"]
LINE = re.compile(r"^(\S+)(?: on the device)?\s+(\S+(?: values)?)\s+cuda\s+([0-9.]+)\s")


def read(paths):
    """matrix -> method -> milliseconds"""
    times = {}
    for path in paths:
        with open(path, encoding="utf-8") as table:
            for line in table:
                found = LINE.match(line)
                if not found or not line.rstrip().endswith("yes"):
                    continue
                name = found.group(1).removesuffix(".mtx")
                times.setdefault(name, {}).setdefault(found.group(2), float(found.group(3)))
    return times


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    ratios = {}
    for name, methods in read(sys.argv[2:]).items():
        library = [ms for method, ms in methods.items() if re.fullmatch(r"cusparse(-alg\d)?", method)]
        if library and "fused" in methods:
            ratios[name] = {m: min(library) / methods[m] for m in METHODS if m in methods}
    if not ratios:
        sys.exit("spgemm_plots.py: found no matrix with rows of fused and cuSPARSE")
    figure, axes = plt.subplots(figsize=(11, 4.5))
    width = 0.8 / len(METHODS)
    for k, method in enumerate(METHODS):
        places = [i + (k - 1) * width for i, r in enumerate(ratios.values()) if method in r]
        axes.bar(places, [r[method] for r in ratios.values() if method in r], width, label=method)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(range(len(ratios)), list(ratios), rotation=30, ha="right", fontsize=7)
    axes.set_ylabel("times the rate of cuSPARSE's fastest")
    axes.legend()
    figure.tight_layout()
    figure.savefig(sys.argv[1])


if __name__ == "__main__":
    main()
