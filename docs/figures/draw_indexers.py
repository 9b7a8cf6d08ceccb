#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of docs/inverted-index.md: indexers.svg, figure 8A of Capannini et al. (2011) beside ours, and
indexer-sorts.svg, our figure 8B.

    docs/figures/draw_indexers.py [FOLDER]    default: the folder of this script
"""
import math
import pathlib
import sys

from performance import Picture

# Seconds to parse and sort, and to merge, by millions of documents: Table 2 of the paper.
PRINTED = {
    "cpu": {0.81: (42.96, 16.87), 1.63: (94.51, 35.50), 3.27: (185.24, 88.75), 6.55: (394.57, 193.47),
            13.10: (783.56, 482.38), 26.21: (1676.82, 1089.26)},
    "gpu": {0.81: (12.61, 19.87), 1.63: (24.99, 42.07), 3.27: (52.04, 100.90), 6.55: (107.98, 244.68),
            13.10: (221.36, 599.84), 26.21: (456.49, 1291.78)},
    "gpu-overlapped": {0.81: (9.02, 19.87), 1.63: (20.27, 42.07), 3.27: (38.09, 100.90), 6.55: (73.96, 244.68),
                       13.10: (151.59, 599.84), 26.21: (346.88, 1291.78)},
}
# The same by thousands of documents: the table of docs/inverted-index.md.
MEASURED = {
    "cpu": {19.8: (0.81, 0.03), 59.5: (2.42, 0.10), 119.5: (4.56, 0.22)},
    "gpu": {19.8: (0.36, 0.03), 59.5: (0.79, 0.10), 119.5: (1.35, 0.22)},
    "gpu-overlapped": {19.8: (0.34, 0.03), 59.5: (0.68, 0.10), 119.5: (1.02, 0.22)},
    "cpu-overlapped": {19.8: (0.45, 0.03), 59.5: (0.68, 0.10), 119.5: (1.23, 0.22)},
}
# gpu-overlapped by the sort of the GPU, seconds to parse and sort, and to merge, by thousands of documents: the table of
# docs/inverted-index.md.
SORTS = {
    10.0: {"radix": (0.19, 0.02), "bitonic": (0.21, 0.02), "radix, twice the runs": (0.14, 0.03)},
    19.8: {"radix": (0.35, 0.04), "bitonic": (0.39, 0.04), "radix, twice the runs": (0.36, 0.15)},
    39.3: {"radix": (0.65, 0.21), "bitonic": (0.69, 0.25), "radix, twice the runs": (0.61, 0.25)},
    78.8: {"radix": (1.02, 0.28), "bitonic": (1.01, 0.23), "radix, twice the runs": (0.93, 0.31)},
}
LINES = {"cpu": ("c", "square"), "gpu": ("b", "up"), "gpu-overlapped": ("own", "circle"), "cpu-overlapped": ("a", "diamond")}
TOP, BOTTOM, WIDTH = 96, 370, 320


def draw_panel(picture, left, title, unit, series, seconds):
    sizes = sorted(next(iter(series.values())))
    x_of = lambda size: left + WIDTH * math.log(size / sizes[0]) / math.log(sizes[-1] / sizes[0])
    y_of = lambda time: BOTTOM - (BOTTOM - TOP) * math.log(time / seconds[0]) / math.log(seconds[-1] / seconds[0])
    picture.text(left - 40, 78, title, size=13, weight="bold")
    for tick in seconds:
        picture.line(left, y_of(tick), left + WIDTH, y_of(tick))
        picture.text(left - 8, y_of(tick) + 4, f"{tick:g}", "end", 11)
    picture.line(left, BOTTOM, left + WIDTH, BOTTOM, "axis")
    for size in sizes:
        picture.text(x_of(size), BOTTOM + 18, f"{size:g}", "middle", 11)
    picture.text(left + WIDTH / 2, BOTTOM + 38, unit, "middle")
    for label, line in series.items():
        name, shape = LINES[label]
        whole = [(x_of(size), y_of(sum(times))) for size, times in sorted(line.items())]
        picture.curve(whole, name)
        for x, y in whole:
            picture.mark(x, y, name, shape)
        # The time without the merge, dashed.
        picture.curve([(x_of(size), y_of(times[0])) for size, times in sorted(line.items())], name, True)


def draw_sorts(folder):
    """A bar for each sort and number of documents: parsing and sorting, then merging."""
    longest = max(sum(times) for sorts in SORTS.values() for times in sorts.values())
    picture = Picture(820, 84 + 84 * len(SORTS), "Seconds to index documents by the sort of the GPU")
    picture.text(16, 28, "gpu-overlapped by the sort of the GPU, seconds", size=15, weight="bold")
    picture.legend(16, 54, [("parse and sort", "own", "square", False), ("merge", "b", "square", False)], 150)
    y = 74
    for size, sorts in sorted(SORTS.items()):
        picture.text(16, y + 40, f"{size:g} * 10^3 documents", size=11.5)
        for label, times in sorts.items():
            picture.text(300, y + 15, label, "end", 11.5)
            x = 310.0
            for seconds, name in zip(times, ("own", "b")):
                picture.bar(x, y, 430 * seconds / longest, 18, name)
                x += 430 * seconds / longest
            picture.text(x + 6, y + 14, f"{sum(times):.2f}", size=11)
            y += 24
        y += 12
    (folder / "indexer-sorts.svg").write_text(picture.svg(), encoding="utf-8")


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    picture = Picture(820, 424, "Seconds to index documents, printed and measured")
    picture.text(16, 28, "Seconds to index documents; dashed: without the merge", size=15, weight="bold")
    picture.legend(16, 52, [(label, *style, False) for label, style in LINES.items()], 150)
    draw_panel(picture, 70, "Printed, Nvidia 8800 GT", "10^6 documents", PRINTED, [5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000])
    draw_panel(picture, 476, "Here, H100 and 16 cores", "10^3 documents", MEASURED, [0.1, 0.2, 0.5, 1, 2, 5, 10])
    (folder / "indexers.svg").write_text(picture.svg(), encoding="utf-8")
    draw_sorts(folder)


if __name__ == "__main__":
    main()
