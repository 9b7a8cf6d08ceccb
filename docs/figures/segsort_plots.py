#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of the segmented sort from reports of `sortie bench segsort --json` and
`sortie bench tune --json`.

segsort_plots.py lengths OUT.svg REPORT.json ...   rate against segment length, from the cases
                                                   "length N" and "one segment"
segsort_plots.py grid OUT.svg REPORT.json ...      speedup over CUB on the grid of --grid; several
                                                   reports may hold parts of it (--grid-part)
segsort_plots.py tune OUT.svg REPORT.json          rate of every candidate of `bench tune` against
                                                   segment length, and what was chosen
segsort_plots.py paper OUT.svg REPORT.json         the paper's Fig. 9 and 10, of `bench tune --paper`

For maintainers. Needs matplotlib (Debian: python3-matplotlib).
"""

import argparse
import json
import math
import sys

import matplotlib

matplotlib.use("svg")
# The same input gives the same bytes, so that a picture in the repository changes with its data only.
matplotlib.rcParams["svg.hashsalt"] = "sortie"
import matplotlib.colors  # noqa: E402
import matplotlib.lines  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402
import matplotlib.ticker  # noqa: E402

# Method in the reports: label, colour, marker. Methods that are not here are drawn after these.
METHODS = {
    "memcpy": ("copy of the same bytes", "0.55", ""),
    "sortie": ("Sortie", "tab:blue", "o"),
    "sortie ics17": ("Sortie, the paper's policy", "tab:cyan", "s"),
    "cub segmented": ("CUB segmented sort", "tab:green", "^"),
    "radix segment+key": ("radix sort by (segment, key)", "tab:orange", "v"),
    "cub radix": ("CUB radix sort, one segment", "tab:red", "*"),
}


def fail(message):
    sys.exit(f"segsort_plots.py: {message}")


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, json.JSONDecodeError) as error:
        fail(f"{path}: {error}")


def length_of(row):
    """Segment length of a row, None for cases without one."""
    if row["case"] == "one segment":
        return row["items"]
    kind, _, length = row["case"].partition(" ")
    return int(length) if kind == "length" and length.isdigit() else None


def draw_lengths(reports):
    points = {}
    unit = None
    for report in reports:
        for row in report.get("rows", []):
            length = length_of(row)
            if length is None or row["failure"] or not row["agrees"] or row["rate"] <= 0:
                continue
            unit = row["unit"]
            points.setdefault(row["method"], {})[length] = row["rate"]
    if not points:
        fail("found no right row of a case \"length N\", expected some")

    figure, axes = plt.subplots(figsize=(8, 5))
    order = [m for m in METHODS if m in points] + sorted(m for m in points if m not in METHODS)
    for method in order:
        label, colour, marker = METHODS.get(method, (method, None, "."))
        series = sorted(points[method].items())
        axes.plot(*zip(*series), label=label, color=colour, marker=marker, markersize=5,
                  linestyle="--" if method == "memcpy" else "-")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("items a segment")
    axes.set_ylabel({"Gpairs/s": "giga-pairs a second", "Gkeys/s": "giga-keys a second"}[unit])
    axes.yaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.grid(True, linewidth=0.3)
    axes.legend(fontsize="small", ncol=3, loc="lower center", bbox_to_anchor=(0.5, 1), frameon=False)
    return figure, axes


def grid_of(reports):
    """Speedups by (exponent, longest)."""
    speedups = {}
    for report in reports:
        for point in report.get("grid", {}).get("points", []):
            if point["agrees"] and not point["failure"] and point["speedup"] > 0:
                speedups[(round(point["exponent"], 3), point["longest"])] = point["speedup"]
    if not speedups:
        fail("found no right point of a grid, expected reports of --grid")
    return speedups


def edges(centres):
    """Borders of cells around their centres."""
    if len(centres) == 1:
        return [centres[0] - 0.5, centres[0] + 0.5]
    middles = [(a + b) / 2 for a, b in zip(centres, centres[1:])]
    return [2 * centres[0] - middles[0], *middles, 2 * centres[-1] - middles[-1]]


def draw_grid(reports):
    speedups = grid_of(reports)
    exponents = sorted({exponent for exponent, _ in speedups})
    longests = sorted({longest for _, longest in speedups})
    values = [[speedups.get((e, n), math.nan) for n in longests] for e in exponents]

    figure, axes = plt.subplots(figsize=(8, 5))
    # The colours are divided at 1: red is slower than CUB. Powers, since speedups are ratios.
    spread = max(max(s, 1 / s) for s in speedups.values()) * 1.001
    norm = matplotlib.colors.LogNorm(1 / spread, spread)
    mesh = axes.pcolormesh(edges(longests), edges(exponents), values, cmap="RdYlGn", norm=norm)
    bar = figure.colorbar(mesh, ax=axes, label="speedup over CUB segmented sort")
    levels = [v for v in (0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32)
              if min(speedups.values()) < v < max(speedups.values())]
    bar.ax.set_ylim(min(*speedups.values(), 1), max(*speedups.values(), 1))
    bar.set_ticks([1, *[v for v in levels if v != 1]])
    bar.ax.yaxis.set_major_formatter("{x:g}")
    bar.ax.yaxis.set_minor_formatter("")
    if levels and len(exponents) > 1 and len(longests) > 1:
        lines = axes.contour(longests, exponents, values, levels=levels, colors="black",
                             linewidths=0.7)
        axes.clabel(lines, fmt="%g", fontsize="small")
    lowest = min(speedups, key=speedups.get)
    mean = math.exp(sum(map(math.log, speedups.values())) / len(speedups))
    axes.plot(lowest[1], lowest[0], "k+")
    axes.set_xlabel("longest segment")
    axes.set_ylabel("exponent of the power law")
    axes.set_title(f"{len(speedups)} points: minimum {speedups[lowest]:.2f} (+), geometric mean "
                   f"{mean:.2f}, {sum(s < 1 for s in speedups.values())} below 1", fontsize="medium")
    return figure, axes


def only(reports, key):
    """Part `key` of the one report there may be."""
    if len(reports) != 1:
        fail(f"found {len(reports)} reports, expected one")
    part = reports[0].get("tune", {})
    return part if key == "tune" else part.get(key, {})


def right(times):
    return [time for time in times if time["agrees"] and not time["failure"] and time["rate"]]


def shape_of(team):
    return team["warps"], team["items"], team.get("block_warps", team["warps"])


def served_by(table, length):
    """Warps and items of the block that serves a length, None for a warp's batches."""
    if length <= table["longest_in_warp"]:
        return None
    holds = [c for c in table["classes"] if length <= c["capacity"]]
    return shape_of(holds[0]) if holds else ()


def draw_tune(reports):
    tuning = only(reports, "tune")
    rates = {}
    for time in right(tuning.get("times", [])):
        shape = None if time["kernel"] == "batch" else shape_of(time)
        rates.setdefault(shape, {})[time["length"]] = time["rate"]
    if not rates:
        fail("found no right result of a candidate, expected a report of `bench tune`")

    figure, axes = plt.subplots(figsize=(9, 5.5))
    if None in rates:
        axes.plot(*zip(*sorted(rates[None].items())), label="batches", color="black", linewidth=1.5)
    warps = sorted({shape[0] for shape in rates if shape})
    for shape in sorted((s for s in rates if s), key=lambda s: (s[1], s[0])):
        axes.plot(*zip(*sorted(rates[shape].items())), label="{}x{}/{}".format(*shape), linewidth=1,
                  color=plt.get_cmap("turbo")(warps.index(shape[0]) / max(len(warps) - 1, 1)),
                  linestyle="-" if shape[1] == 16 else "--",
                  marker="." if shape[2] == 24 else "x", markersize=4)
    # What serves a length may be so much larger that it was not measured there: no circle then.
    chosen = [(length, rates.get(served_by(tuning["chosen"], length), {}).get(length))
              for length in sorted({n for series in rates.values() for n in series})]
    chosen = [point for point in chosen if point[1] is not None]
    if chosen:
        axes.plot(*zip(*chosen), label="chosen", linestyle="", marker="o", markersize=8,
                  markerfacecolor="none", markeredgecolor="black")
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("items a segment")
    axes.set_ylabel("giga-pairs a second")
    axes.grid(True, linewidth=0.3)
    axes.legend(fontsize="small", ncol=6, loc="lower center", bbox_to_anchor=(0.5, 1), frameon=False,
                title="teams: warps x items a thread / warps of the block")
    return figure, axes


def draw_paper(reports):
    figures = only(reports, "paper")
    reg_sort = right(figures.get("reg_sort", []))
    smem_merge = right(figures.get("smem_merge", []))
    if not reg_sort or not smem_merge:
        fail("found no figures of the paper, expected a report of `bench tune --paper`")
    sizes = sorted({time["block_threads"] for time in reg_sort})
    panels = [(f"reg-sort, blocks of {size}", [t for t in reg_sort if t["block_threads"] == size])
              for size in sizes] + [("smem-merge", smem_merge)]
    items = sorted({time["items"] for time in reg_sort + smem_merge})
    figure, grid = plt.subplots(2, (len(panels) + 1) // 2, figsize=(11, 7), sharey=True,
                                squeeze=False)
    all_axes = grid.flatten()
    for axes, (title, times) in zip(all_axes, panels):
        for count in items:
            for write, style in (("original", "--"), ("striped", "-")):
                series = sorted((t["length"], t["rate"]) for t in times
                                if t["items"] == count and t["write"] == write)
                if series:
                    axes.plot(*zip(*series), linestyle=style, marker=".", linewidth=1,
                              color=f"C{items.index(count)}")
        axes.set_xscale("log", base=2)
        axes.set_title(title, fontsize="medium")
        axes.set_xlabel("items a segment")
        axes.grid(True, linewidth=0.3)
    all_axes[0].set_ylim(bottom=0)  # of all, and only now: it ends the fit to what is drawn
    for line in grid:
        line[0].set_ylabel("giga-pairs a second")
    for axes in all_axes[len(panels):]:
        axes.set_axis_off()
    entries = [matplotlib.lines.Line2D([], [], color=f"C{i}", label=f"{count} a thread")
               for i, count in enumerate(items)]
    entries += [matplotlib.lines.Line2D([], [], color="black", linestyle=style, label=f"{write} write")
                for write, style in (("striped", "-"), ("original", "--"))]
    figure.legend(handles=entries, fontsize="small", ncol=len(entries), loc="lower center",
                  frameon=False)
    return figure, all_axes[0]


PICTURES = {"lengths": draw_lengths, "grid": draw_grid, "tune": draw_tune, "paper": draw_paper}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", choices=list(PICTURES))
    parser.add_argument("output", metavar="OUT.svg")
    parser.add_argument("reports", metavar="REPORT.json", nargs="+")
    parser.add_argument("--title")
    arguments = parser.parse_args()

    reports = [read(path) for path in arguments.reports]
    figure, axes = PICTURES[arguments.picture](reports)
    if arguments.title:
        figure.suptitle(arguments.title)
    # The legend of several axes stands below them.
    figure.tight_layout(rect=(0, 0.04, 1, 1) if figure.legends else None)
    figure.savefig(arguments.output, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
