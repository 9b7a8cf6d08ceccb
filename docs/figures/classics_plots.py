#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of the classic sorting algorithms from reports of
`sortie bench sort --classics --json`.

classics_plots.py rate OUT.svg REPORT.json          keys a second against the number of keys
classics_plots.py transactions OUT.svg REPORT.json  memory transactions a key against the same

For maintainers. Needs matplotlib (Debian: python3-matplotlib).
"""

import argparse
import json
import sys

import matplotlib

matplotlib.use("svg")
# The same input gives the same bytes, so that a picture in the repository changes with its data only.
matplotlib.rcParams["svg.hashsalt"] = "sortie"
import matplotlib.pyplot as plt  # noqa: E402

# Method in the reports: colour, marker, line.
METHODS = {
    "memcpy": ("0.55", "", "--"),
    "sortie radix": ("tab:blue", "o", "-"),
    "sortie merge": ("tab:cyan", "o", "-"),
    "sortie bitonic": ("navy", "o", "-"),
    "cub radix": ("tab:red", "*", "-"),
    "cub merge": ("tab:orange", "*", "-"),
    "tiled radix": ("tab:green", ".", "-"),
    "binary split": ("tab:olive", ".", "-"),
    "tiled merge": ("tab:purple", ".", "-"),
    "quicksort": ("tab:brown", ".", "-"),
    "odd-even merge": ("tab:pink", ".", "-"),
    "counting": ("0.3", ".", ":"),
    "odd-even transposition": ("0.6", ".", ":"),
}


def fail(message):
    sys.exit(f"classics_plots.py: {message}")


def points_of(path, value_of):
    """Points by method: (keys, value) of all right rows that have a value."""
    try:
        with open(path, encoding="utf-8") as file:
            rows = json.load(file).get("rows", [])
    except (OSError, json.JSONDecodeError) as error:
        fail(f"{path}: {error}")
    points = {}
    for row in rows:
        value = value_of(row)
        if row["agrees"] and not row["failure"] and value > 0:
            points.setdefault(row["method"], []).append((row["items"], value))
    if not points:
        fail(f"{path}: found no right row, expected a report of `bench sort --classics`")
    return points


def draw(points, label):
    figure, axes = plt.subplots(figsize=(8, 5))
    order = [m for m in METHODS if m in points] + sorted(m for m in points if m not in METHODS)
    for method in order:
        colour, marker, line = METHODS.get(method, (None, ".", "-"))
        axes.plot(*zip(*sorted(points[method])), label=method, color=colour, marker=marker,
                  linestyle=line, markersize=5)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("keys")
    axes.set_ylabel(label)
    axes.grid(True, linewidth=0.3)
    axes.legend(fontsize="small", ncol=4, loc="lower center", bbox_to_anchor=(0.5, 1), frameon=False)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", choices=["rate", "transactions"])
    parser.add_argument("output")
    parser.add_argument("report")
    arguments = parser.parse_args()
    if arguments.picture == "rate":
        figure = draw(points_of(arguments.report, lambda row: row["rate"]), "giga-keys a second")
    else:
        figure = draw(points_of(arguments.report, lambda row: row["transactions"] / row["items"]),
                      "memory transactions a key")
    figure.savefig(arguments.output, bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    main()
