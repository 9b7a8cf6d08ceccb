#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the generated tables of docs/performance.md and docs/sorting.md and draws their pictures.

    performance.py            rewrite the tables and the pictures
    performance.py --check    change nothing; exit with 1 when a table or a picture is out of date

Inputs are the reports of `sortie bench --json` in docs/results (FOLDER/NAME.json.xz) and performance.json,
which holds what no report does: programs of others, and measurements of which no report was kept.
A table stands in a page between `<!-- table NAME -->` and `<!-- end -->`.
To record a new run: compress its report with `xz -9e`, replace the file in docs/results, run this script.

Needs the standard library of Python 3.9 only. The same input gives the same bytes.
"""

import json
import lzma
import math
import pathlib
import re
import sys

FIGURES = pathlib.Path(__file__).resolve().parent
PAGES = [FIGURES.parent / "performance.md", FIGURES.parent / "sorting.md"]
RESULTS = FIGURES.parent / "results"

SUFFIX_ARRAY_REPORTS = ["suffix-array-chrx", "suffix-array", "suffix-array-1000m", "suffix-array-3100m"]
SORT_CASE_REPORTS = {"2 GPUs, 2 * 10^9": "sort-cases-2-gpus", "3 GPUs, 2 * 10^9 + 1": "sort-cases-3-gpus",
                     "4 GPUs, 2 * 10^9": "sort-cases-4-gpus", "4 GPUs, 4 * 10^9": "sort-cases-4-gpus-4e9"}
DEVICE_SORT_REPORTS = ["device-sort-integers", "device-sort-floats"]
DISTRIBUTIONS = {"uniform": "uniform", "zipf": "zipf", "sorted": "sorted", "few:100": "100 distinct keys"}
CUSPARSE = ["cusparse", "cusparse-alg1", "cusparse-alg2", "cusparse-alg3", "cusparse-reuse"]


# ---- data ---------------------------------------------------------------------------------------

def report(name, cache={}):
    if name not in cache:
        with lzma.open(next(RESULTS.rglob(f"{name}.json.xz")), "rt", encoding="utf-8") as file:
            cache[name] = json.load(file)
    return cache[name]


def commit(name):
    return report(name)["commit"]


def rows_of(name):
    """{case: {method: row}} of a report, right results only. The case of a file is its name without folder."""
    cases = {}
    for row in report(name)["rows"]:
        if row["agrees"] and not row["failure"]:
            case = row["case"].removesuffix(" on the device")
            if not case.startswith("gen:"):
                case = case.rsplit("/", 1)[-1]
            cases.setdefault(case, {})[row["method"]] = row
    return cases


def milliseconds(row):
    """(from a pool, with all allocations)"""
    return 1e3 * row["median_seconds"], 1e3 * row["median_allocating_seconds"]


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def number(value, digits=3):
    """`digits` significant digits, as people write them; None is an empty cell."""
    if value is None:
        return ""
    if value == 0 or isinstance(value, int):  # a noted figure has the digits that were measured
        return str(value)
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{places}f}"


def pair(times):
    return "fails" if times is None else " / ".join(number(t, 3) for t in times)


def as_noted(times):
    """Figures of performance.json as they were noted, without digits that nobody measured."""
    return "fails" if times is None else " / ".join(f"{t:g}" for t in times)


def table(heading, lines):
    return ["| " + " | ".join(heading) + " |", "|" + "---|" * len(heading),
            *("| " + " | ".join(line) + " |" for line in lines)]


SHOWN = {"bb_segsort, Kobus": "Kobus' fork", "CUB segmented sort": "CUB segmented"}


# ---- segmented sort -----------------------------------------------------------------------------

def segmented_sort_peers(case, rows, noted):
    """{name: rate} of all programs of others, of the run and noted."""
    names = {"cub segmented": "CUB segmented sort", "radix segment+key": "CUB radix by (segment, key)",
             "cub radix": "CUB radix sort"}
    peers = {names[m]: row["rate"] for m, row in rows.items() if m in names}
    for name, rate in noted["segmented_sort"]["cases"].get(case, {}).items():
        if rate is not None:
            peers[name] = max(rate, peers.get(name, 0))
    return peers


def segmented_sort_table(noted):
    cases = rows_of("segsort-u32-u32")
    lines, ratios = [], []
    for case, rows in cases.items():
        peers = segmented_sort_peers(case, rows, noted)
        best = max(peers, key=peers.get)
        rate, copy = rows["sortie"]["rate"], rows["memcpy"]["rate"]
        ratios.append(rate / peers[best])
        of = noted["segmented_sort"]["cases"].get(case, {})
        lines.append([case, number(copy), f"**{rate:.1f}**", f"{100 * rate / copy:.0f}",
                      number(rows["cub segmented"]["rate"]), number(rows["radix segment+key"]["rate"]),
                      *(number(of.get(n), 2) for n in ("moderngpu", "bb_segsort", "bb_segsort, Kobus")),
                      f"{SHOWN.get(best, best)} {number(peers[best])}", f"{ratios[-1]:.2f}"])
    lines.append(["geometric mean", *[""] * 9, f"**{geometric_mean(ratios):.2f}**"])
    return table(["segments", "copy", f"Sortie, {commit('segsort-u32-u32')}", "% of copy", "CUB segmented sort", "CUB radix by (segment, key)",
                  "moderngpu", "bb_segsort", "bb_segsort, Kobus' fork", "best peer", "Sortie / best peer"], lines)


def segmented_sort_types_table(_):
    lines = []
    for name, keys, values in (("segsort-u32-u32", "u32", "u32"), ("segsort-u32", "u32", "none"),
                               ("segsort-u32-f64", "u32", "f64"), ("segsort-u64-u32", "u64", "u32")):
        cases = rows_of(name)
        ratios = {case: min(rows["sortie"]["ratios"].values()) for case, rows in cases.items()}
        rates = [rows["sortie"]["rate"] for rows in cases.values()]
        least = min(ratios, key=ratios.get)
        lines.append([keys, values, number(next(iter(cases.values()))["memcpy"]["rate"]),
                      f"{min(rates):.1f} to {max(rates):.1f}", f"{geometric_mean(ratios.values()):.2f}",
                      f"{ratios[least]:.2f} ({least})", commit(name)])
    return table(["keys", "values", "copy", "Sortie", "mean of Sortie / best CUB method", "least", "commit"], lines)


# ---- SpGEMM -------------------------------------------------------------------------------------

def spgemm_rows(noted):
    """For each matrix: label, Sortie's times, {peer: times}, whether all peers had the same matrix."""
    cases = rows_of("spgemm")
    for entry in noted["spgemm"]["matrices"]:
        rows = cases[entry["case"]]
        peers = {}
        for method in CUSPARSE + ["esc"]:
            if method in rows:
                peers[method] = milliseconds(rows[method])
        for name in ("CUSP", "nsparse", "OpSparse", "spECK", "ESC on CUB"):
            if entry[name]:
                peers[name] = tuple(entry[name])
        yield entry, milliseconds(rows["fused"]), peers


def least(peers, way, names=None):
    of = {n: t[way] for n, t in peers.items() if names is None or n in names}
    name = min(of, key=of.get)
    return name, of[name]


def shown(name):
    return {"esc": "ESC on CUB", "cusparse": "cuSPARSE default", "cusparse-alg1": "cuSPARSE ALG1", "cusparse-alg2":
            "cuSPARSE ALG2", "cusparse-alg3": "cuSPARSE ALG3", "cusparse-reuse": "cuSPARSE reuse"}.get(name, name)


def spgemm_table(noted):
    lines, against_cusparse, against_best = [], [], []
    for entry, own, peers in spgemm_rows(noted):
        cusparse = [least(peers, way, CUSPARSE)[1] for way in (0, 1)]
        best = [least(peers, way) for way in (0, 1)]
        against_cusparse.append([cusparse[way] / own[way] for way in (0, 1)])
        against_best.append([best[way][1] / own[way] for way in (0, 1)])
        names = list(dict.fromkeys(shown(name) for name, _ in best))
        mark = "" if entry["same_matrix"] else " (*)"
        lines.append([entry["label"] + mark, f"**{pair(own)}**", pair(cusparse), pair(peers["esc"]),
                      *(as_noted(entry[n]) for n in ("spECK", "OpSparse", "nsparse", "CUSP")),
                      f"{', '.join(names)}: {best[0][1]:.3g} / {best[1][1]:.3g}",
                      f"{against_cusparse[-1][0]:.1f} / {against_cusparse[-1][1]:.1f}",
                      f"{against_best[-1][0]:.1f} / {against_best[-1][1]:.1f}",
                      work_space(rows_of("spgemm")[entry["case"]])])
    means = [" / ".join(f"{geometric_mean(r[way] for r in ratios):.2f}" for way in (0, 1))
             for ratios in (against_cusparse, against_best)]
    lines.append(["geometric mean", *[""] * 8, *(f"**{m}**" for m in means), ""])
    return table(["matrix", f"Sortie, {commit('spgemm')}", "cuSPARSE, fastest", "ESC on CUB", "spECK", "OpSparse",
                  "nsparse", "CUSP 0.6.1", "best peer", "times cuSPARSE", "times the best peer",
                  "work space of Sortie, cuSPARSE default, MiB"], lines)


def work_space(rows):
    """MiB beside A, B and C of Sortie and of cuSPARSE's default"""
    return ", ".join(f"{rows[m]['peak_work_space'] / 2**20:.0f}" if m in rows else "fails" for m in ("fused", "cusparse"))


def spgemm_collections_table(_):
    """Ratios to cuSPARSE's fastest over all matrices of two reports, the later one counting."""
    lines = []
    for label, names in (("A * A, f64", ["spgemm-square-f64", "spgemm-square-f64-small"]),
                         ("A * A, f32", ["spgemm-square-f32"]),
                         ("A * A^T, f64", ["spgemm-transpose-f64", "spgemm-transpose-f64-small"]),
                         ("A * A^T, f32", ["spgemm-transpose-f32"])):
        ratios = {}
        for name in names:
            for case, rows in rows_of(name).items():
                if "fused" in rows and any(m in rows for m in CUSPARSE):
                    best = min(rows[m]["median_seconds"] for m in CUSPARSE if m in rows)
                    ratios[case.removesuffix(".mtx")] = best / rows["fused"]["median_seconds"]
        least_two = sorted(ratios, key=ratios.get)[:2]
        lines.append([label, str(len(ratios)), f"{geometric_mean(ratios.values()):.2f}",
                      ", ".join(f"{ratios[c]:.2f} ({c})" for c in least_two), commit(names[0])])
    return table(["product", "matrices", "mean of times cuSPARSE's fastest", "least two", "commit"], lines)


def spgemm_row_lengths_table(_):
    """Rates by products per row: generated matrices with rows of r entries, so r * r products a row."""
    lines = []
    for case, rows in rows_of("spgemm-row-lengths").items():
        _, _, count, entries = case.split(":")
        own, essc = rows["fused"], rows["essc"]
        phases = own["phase_seconds"]
        lines.append([str(int(entries) ** 2), entries, count, f"**{own['rate']:.1f}**", f"{essc['rate']:.1f}",
                      *(f"{1e3 * phases[p]:.3f}" for p in ("counting", "making"))])
    lines.sort(key=lambda line: int(line[0]))
    return table(["products of a row", "entries of a row of A", "rows", "`fused`, GFLOP/s", "`essc`, GFLOP/s",
                  "`fused`: counting, ms", "making, ms"], lines)


def grids_table(noted):
    lines = []
    for grid in noted["structured_grids"]["grids"]:
        hypre = grid["hypre"]
        lines.append([grid["label"], f"{grid['nnz_c']}", f"**{grid['sortie']:.2f}**", grid["before"], f"{hypre}" if hypre else "",
                      f"{hypre / grid['sortie']:.1f}" if hypre else "", grid["mib"], grid["new_values"]])
    at = noted["structured_grids"]["commit_before"]
    return table(["grid", "entries of C, 10^6", "Sortie `auto`", f"at {at} (`fused`, `essc`)", "hypre 3.1.0",
                  "hypre's time / Sortie's", "memory beside C, MiB", "new values by a plan"], lines)


# ---- suffix arrays ------------------------------------------------------------------------------

SUFFIX_ARRAY_PEERS = ["libcubwt 1.0.0", "cuDPP 2.3 skew"]


def suffix_array_rows(noted):
    """For each text: the entry of performance.json, report's name, rows of the report."""
    for entry in noted["suffix_array"]["texts"]:
        for name in SUFFIX_ARRAY_REPORTS:
            if entry["case"] in rows_of(name):
                yield entry, name, rows_of(name)[entry["case"]]
                break


def suffix_array_table(noted):
    lines, ratios = [], []
    for entry, name, rows in suffix_array_rows(noted):
        own = rows["prefix-doubling"]
        peers = {p: entry[p] for p in SUFFIX_ARRAY_PEERS if entry[p]}
        if "dc3" in rows:
            peers["`dc3`"] = rows["dc3"]["rate"]
        best = max(peers, key=peers.get) if peers else None
        if best:
            ratios.append(own["rate"] / peers[best])
        lines.append([entry["label"], f"{1e3 * own['median_seconds']:.2f}", f"**{own['rate']:.0f}**",
                      *(number(entry[p], 4) or "not run" for p in SUFFIX_ARRAY_PEERS),
                      f"{peers['`dc3`']:.0f}" if "`dc3`" in peers else "not run",
                      number(entry["libcubwt 1.6.3, BWT only"], 4) or "not run",
                      f"{best} {peers[best]:.0f}" if best else "", f"{ratios[-1]:.1f}" if best else "", commit(name)])
    lines.append(["geometric mean", *[""] * 7, f"**{geometric_mean(ratios):.1f}**", ""])
    return table(["text", "Sortie, ms", "Sortie", *SUFFIX_ARRAY_PEERS, "`dc3` of the bench",
                  "libcubwt 1.6.3 (BWT only)", "best peer", "Sortie / best peer", "commit"], lines)


# ---- sort of one array --------------------------------------------------------------------------

def array_sort_times(entry):
    """{label: milliseconds} in the order of the table"""
    times = {}
    for name in entry["reports"]:
        rows = rows_of(name)["uniform"]
        times["CUB, 1 GPU"] = 1e3 * rows["cub radix, 1 GPU"]["median_seconds"]
        for gpus in ("2", "4"):
            for method, label in (("radix", "Sortie"), ("rmg", "`rmg`")):
                row = rows.get(f"{method}, {gpus} devices")
                times[f"{label}, {gpus} GPUs"] = 1e3 * row["median_seconds"] if row else None
            times[f"RMG, {gpus} GPUs"] = entry["RMG"].get(gpus)
    return times


def array_sort_table(noted):
    lines = []
    for entry in noted["array_sort"]["rows"]:
        times = array_sort_times(entry)
        lines.append([entry["label"], number(times["CUB, 1 GPU"]),
                      *(f"**{number(t)}**" if label.startswith("Sortie") else number(t) or "not run"
                        for label, t in list(times.items())[1:]), commit(entry["reports"][0])])
    heading = list(array_sort_times(noted["array_sort"]["rows"][0]))
    return table(["items", *heading, "commit"], lines)


def array_sort_cases_table(_):
    columns = {label: rows_of(name) for label, name in SORT_CASE_REPORTS.items()}
    lines = []
    for case in next(iter(columns.values())):
        line = [case]
        for cases in columns.values():
            times = [1e3 * cases[c]["radix, " + g]["median_seconds"] for c in (case, "uniform")
                     for g in ("2 devices", "3 devices", "4 devices") if "radix, " + g in cases[c]]
            line.append(f"{number(times[0])} ({times[0] / times[1]:.2f})")
        lines.append(line)
    return table([f"keys, {commit('sort-cases-2-gpus')}", *columns], lines)


def array_sort_one_gpu_table(noted):
    one = noted["array_sort"]["one_gpu"]
    lines = [[case, f"{own:g}", f"{cub:g}", f"{cub / own:.2f}"] for case, own, cub in one["rows"]]
    return table([one["items"], f"Sortie, {one['commit']}", "CUB radix sort", "times CUB"], lines)


# ---- the sorting layer on one GPU -----------------------------------------------------------------

def device_sort_cells():
    """{(type, values, keys, items): (ms, speed over CUB with unsigned keys, over CUB with keys of the type or None)}"""
    cells = {}
    for name in DEVICE_SORT_REPORTS:
        methods = {}
        for row in report(name)["rows"]:
            if row["agrees"] and not row["failure"]:
                methods.setdefault((*row["case"].split(", "), row["items"]), {})[row["method"]] = row["median_seconds"]
        for key, seconds in methods.items():
            own, same = seconds["sortie"], seconds.get(f"cub radix, {key[0]}")
            cells[key] = (1e3 * own, seconds["cub radix"] / own, same / own if same else None)
    return cells


def device_sort_table(_):
    cells = device_sort_cells()
    sizes = sorted({items for *_, items in cells})
    lines = []
    for key in dict.fromkeys(key[:3] for key in cells):
        line = [f"{key[0] if key[1] == 'none' else ', '.join(key[:2])}; {DISTRIBUTIONS[key[2]]}"]
        for items in sizes:
            milliseconds, unsigned, same = cells[(*key, items)]
            line.append(f"{number(milliseconds)} ({unsigned:.2f}{f'; {same:.2f}' if same else ''})")
        lines.append(line)
    for label, ratio in (("unsigned keys", lambda cell: cell[1]), ("the same types", lambda cell: cell[2] or cell[1])):
        means = [geometric_mean(ratio(cell) for key, cell in cells.items() if key[3] == items) for items in sizes]
        lines.append([f"**geometric mean beside CUB with {label}: {geometric_mean(map(ratio, cells.values())):.2f}**",
                      *(f"{mean:.2f}" for mean in means)])
    return table([f"keys, values; distribution, {commit(DEVICE_SORT_REPORTS[0])}", *(f"2^{items.bit_length() - 1}" for items in sizes)], lines)


def segsort_keys_table(_):
    """Rates of segments whose keys have other distributions over those of uniform keys."""
    seconds = {case: rows["sortie"]["median_seconds"] for case, rows in rows_of("segsort-keys").items()}
    others = ["zipf", "sorted", "reverse", "nearly", "few", "equal", "high-bits"]
    shapes = [case for case in seconds if f"{case}, zipf" in seconds]
    ratio = lambda shape, keys: seconds[shape] / seconds[f"{shape}, {keys}"]
    lines = [[shape, f"{1e3 * seconds[shape]:.3f}", *(f"{ratio(shape, keys):.2f}" for keys in others)] for shape in shapes]
    lines.append(["geometric mean", "", *(f"{geometric_mean(ratio(shape, keys) for shape in shapes):.2f}" for keys in others)])
    return table([f"segments, {commit('segsort-keys')}", "uniform, ms", *others], lines)


def top_k_table(_):
    """Speed of top k over sorting the segments whole."""
    ratios = {}
    for case, rows in rows_of("top-k").items():
        shape, _, k = case.rpartition(", k ")
        whole = next(row for method, row in rows.items() if method.startswith("sortie") and row["baseline"])
        own = next(row for row in rows.values() if not row["baseline"] and not row["limit"])
        ratios.setdefault(shape, {})[int(k)] = whole["median_seconds"] / own["median_seconds"]
    sizes = sorted(next(iter(ratios.values())))
    lines = [[shape, *(f"{of[k]:.2f}" for k in sizes)] for shape, of in ratios.items()]
    lines.append([f"**geometric mean of all: {geometric_mean(of[k] for of in ratios.values() for k in sizes):.2f}**",
                  *(f"{geometric_mean(of[k] for of in ratios.values()):.2f}" for k in sizes)])
    return table([f"segments, {commit('top-k')}", *(f"k = {k}" for k in sizes)], lines)


def merge_sort_table(_):
    lines = []
    for label, name in (("2 * 10^9 u32", "sort-merge-u32"), ("10^9 u64", "sort-merge-u64")):
        rows = rows_of(name)["uniform"]
        one = rows["merge, 1 device"]["median_seconds"]
        line = [label]
        for method in ("merge, 1 device", "merge, 2 devices", "merge, 4 devices", "tanasic, 2 devices",
                       "tanasic, 4 devices"):
            seconds = rows[method]["median_seconds"] if method in rows else None
            line.append(f"{number(1e3 * seconds)} ({one / seconds:.2f})" if seconds else "not run")
        lines.append(line + [commit(name)])
    return table(["items", "merge, 1 GPU", "2 GPUs", "4 GPUs", "`tanasic`, 2 GPUs", "4 GPUs", "commit"], lines)


TABLES = {
    "segmented-sort": segmented_sort_table, "segmented-sort-types": segmented_sort_types_table,
    "spgemm": spgemm_table, "spgemm-collections": spgemm_collections_table,
    "spgemm-row-lengths": spgemm_row_lengths_table,
    "grids": grids_table, "suffix-array": suffix_array_table, "array-sort": array_sort_table,
    "array-sort-cases": array_sort_cases_table, "array-sort-one-gpu": array_sort_one_gpu_table,
    "merge-sort": merge_sort_table,
    "device-sort": device_sort_table, "segsort-keys": segsort_keys_table, "top-k": top_k_table,
}


def page_with_tables(text, noted):
    def replace(match):
        name = match.group(1)
        if name not in TABLES:
            sys.exit(f"performance.py: found table \"{name}\", expected one of {', '.join(TABLES)}")
        return "\n".join([f"<!-- table {name} -->", *TABLES[name](noted), "<!-- end -->"])
    return re.sub(r"<!-- table (\S+) -->.*?<!-- end -->", replace, text, flags=re.DOTALL)


# ---- pictures -----------------------------------------------------------------------------------

# Class, colour on white, colour on black. Colours and marks differ, so that neither is needed alone.
STYLES = [("own", "#0550ae", "#79c0ff"), ("a", "#1a7f37", "#56d364"), ("b", "#bc4c00", "#ffa657"),
          ("c", "#8250df", "#d2a8ff"), ("d", "#a40e6a", "#ff9bce"), ("copy", "#57606a", "#8b949e"),
          ("e", "#7d6300", "#e3b341")]
FONT = "font-family=\"DejaVu Sans, Verdana, sans-serif\""


class Picture:
    def __init__(self, width, height, title):
        self.width, self.height, self.title, self.parts = width, height, title, []

    def add(self, element):
        self.parts.append(element)

    def text(self, x, y, text, anchor="start", size=12, name="ink", weight="normal"):
        escaped = text.replace("&", "&amp;").replace("<", "&lt;")
        self.add(f"<text class=\"{name}\" x=\"{x:.1f}\" y=\"{y:.1f}\" text-anchor=\"{anchor}\" font-size=\"{size}\" "
                 f"font-weight=\"{weight}\">{escaped}</text>")

    def line(self, x1, y1, x2, y2, name="grid"):
        self.add(f"<line class=\"{name}\" x1=\"{x1:.1f}\" y1=\"{y1:.1f}\" x2=\"{x2:.1f}\" y2=\"{y2:.1f}\"/>")

    def curve(self, points, name, dashed=False):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = " stroke-dasharray=\"5 4\"" if dashed else ""
        self.add(f"<polyline class=\"l-{name}\" fill=\"none\"{dash} points=\"{path}\"/>")

    def bar(self, x, y, width, height, name):
        self.add(f"<rect class=\"f-{name}\" x=\"{x:.1f}\" y=\"{y:.1f}\" width=\"{width:.1f}\" height=\"{height:.1f}\"/>")

    def mark(self, x, y, name, shape, r=4.0):
        if shape == "circle":
            self.add(f"<circle class=\"f-{name}\" cx=\"{x:.1f}\" cy=\"{y:.1f}\" r=\"{r}\"/>")
            return
        corners = {"square": [(-1, -1), (1, -1), (1, 1), (-1, 1)], "diamond": [(0, -1.35), (1.35, 0), (0, 1.35),
                   (-1.35, 0)], "up": [(0, -1.25), (1.2, 0.95), (-1.2, 0.95)], "down": [(0, 1.25), (1.2, -0.95),
                   (-1.2, -0.95)]}.get(shape)
        if corners:
            path = " ".join(f"{x + r * dx:.1f},{y + r * dy:.1f}" for dx, dy in corners)
            self.add(f"<polygon class=\"f-{name}\" points=\"{path}\"/>")
        elif shape == "cross":
            for sign in (1, -1):
                self.line(x - r, y - sign * r, x + r, y + sign * r, "l-" + name)

    def legend(self, x, y, entries, step):
        """Entries of (label, class, shape, dashed) in a row; `step` is the distance, or one for each."""
        for i, (label, name, shape, dashed) in enumerate(entries):
            if shape is None:
                self.curve([(x, y - 4), (x + 18, y - 4)], name, dashed)
            else:
                self.mark(x + 9, y - 4, name, shape)
            self.text(x + 24, y, label, size=11)
            x += step[i] if isinstance(step, list) else step

    def svg(self):
        light = "".join(f".f-{n}{{fill:{c};stroke:none}}.l-{n}{{stroke:{c};stroke-width:{2.6 if n == 'own' else 1.6}}}"
                        for n, c, _ in STYLES)
        dark = "".join(f".f-{n}{{fill:{c}}}.l-{n}{{stroke:{c}}}" for n, _, c in STYLES)
        return "\n".join([
            f"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {self.width} {self.height}\" "
            f"width=\"{self.width}\" height=\"{self.height}\" role=\"img\" {FONT}>",
            f"<title>{self.title}</title>",
            f"<style>.bg{{fill:#fff}}.ink{{fill:#1f2328}}.soft{{fill:#57606a}}.grid{{stroke:#d8dee4}}"
            f".axis{{stroke:#57606a}}{light}@media (prefers-color-scheme: dark){{.bg{{fill:#0d1117}}"
            f".ink{{fill:#e6edf3}}.soft{{fill:#9198a1}}.grid{{stroke:#30363d}}.axis{{stroke:#8b949e}}{dark}}}</style>",
            f"<rect class=\"bg\" width=\"{self.width}\" height=\"{self.height}\" rx=\"6\"/>",
            *self.parts, "</svg>", ""])


def draw_segmented_sort(noted):
    picture = Picture(820, 460, "Segmented sort, rate against the length of segments")
    left, right, top, bottom = 62, 796, 92, 410
    cases = rows_of("segsort-u32-u32")

    def length(case, rows):
        if case == "one segment":
            return rows["sortie"]["items"]
        return int(case.split()[1]) if re.fullmatch(r"length \d+", case) else None

    lengths = {case: n for case, rows in cases.items() if (n := length(case, rows))}
    highest = 300
    last = math.log2(max(lengths.values()))
    x_of = lambda n: left + (right - left) * math.log2(n) / last
    y_of = lambda rate: bottom - (bottom - top) * rate / highest
    picture.text(left - 40, 28, "Segmented sort of 2^27 pairs, u32 keys with u32 values, one NVIDIA H200", size=15,
                 weight="bold")
    for rate in range(0, highest + 1, 50):
        picture.line(left, y_of(rate), right, y_of(rate))
        picture.text(left - 8, y_of(rate) + 4, str(rate), "end", 11)
    for power in range(0, int(last) + 1, 3):
        picture.line(x_of(2**power), bottom, x_of(2**power), bottom + 5, "axis")
        picture.text(x_of(2**power), bottom + 19, str(2**power) if power <= 15 else f"2^{power}", "middle", 11)
    picture.line(left, bottom, right, bottom, "axis")
    picture.text((left + right) / 2, bottom + 39, "items in each segment (last point: one segment)", "middle")
    picture.add(f"<text class=\"ink\" font-size=\"12\" text-anchor=\"middle\" transform=\"translate(20 "
                f"{(top + bottom) / 2}) rotate(-90)\">10^9 pairs per second</text>")
    series = [("copy of the same bytes", "copy", None, True, lambda c, r, p: r["memcpy"]["rate"]),
              ("CUB segmented sort", "a", "up", False, lambda c, r, p: r["cub segmented"]["rate"]),
              ("moderngpu", "b", "square", False, lambda c, r, p: p.get("moderngpu")),
              ("bb_segsort", "c", "down", False, lambda c, r, p: p.get("bb_segsort")),
              ("bb_segsort, Kobus' fork", "d", "diamond", False, lambda c, r, p: p.get("bb_segsort, Kobus")),
              ("Sortie", "own", "circle", False, lambda c, r, p: r["sortie"]["rate"])]
    for _, name, shape, dashed, rate_of in series:
        points = [(x_of(n), y_of(rate)) for case, n in lengths.items()
                  if (rate := rate_of(case, cases[case], noted["segmented_sort"]["cases"].get(case, {})))]
        picture.curve(points, name, dashed)
        for x, y in points if shape else []:
            picture.mark(x, y, name, shape, 4.2 if name == "own" else 3.4)
    order = [series[5], *series[:5]]
    picture.legend(left - 6, 54, [s[:4] for s in order[:3]], [100, 210, 0])
    picture.legend(left - 6, 75, [s[:4] for s in order[3:]], [130, 130, 0])
    return picture.svg()


def draw_marks(picture, title, note, groups, series, ticks, ends, left, top, width, row):
    """A row for each case, a mark for each program, on a logarithmic axis between `ends`. A group is a list of
    (label, {program: value})."""
    low, high = map(math.log, ends)
    x_of = lambda value: left + width * (math.log(value) - low) / (high - low)
    picture.text(16, 28, title, size=15, weight="bold")
    picture.text(16, 48, note, size=11.5, name="soft")
    rows = sum(map(len, groups)) + 0.6 * (len(groups) - 1)
    bottom = top + rows * row
    for tick in ticks:
        picture.line(x_of(tick), top, x_of(tick), bottom, "axis" if tick == 1 else "grid")
        picture.text(x_of(tick), bottom + 17, f"{tick:g}", "middle", 11)
    y = top
    for group in groups:
        for label, values in group:
            middle = y + row / 2
            picture.text(left - 12, middle + 4, label, "end", 11.5)
            picture.line(left, middle, left + width, middle)
            for program, name, shape in series:
                if program in values:
                    picture.mark(x_of(values[program]), middle, name, shape, 4.4)
            y += row
        y += 0.6 * row
    return bottom


def draw_spgemm(noted):
    series = [("cuSPARSE, fastest", "a", "up"), ("ESC on CUB", "b", "square"), ("spECK", "c", "down"),
              ("OpSparse", "d", "diamond"), ("nsparse", "e", "circle"), ("hypre", "copy", "cross")]
    matrices = []
    for entry, own, peers in spgemm_rows(noted):
        ratios = {n: t[0] / own[0] for n, t in peers.items()}
        ratios["cuSPARSE, fastest"] = least(peers, 0, CUSPARSE)[1] / own[0]
        ratios["ESC on CUB"] = peers["esc"][0] / own[0]
        matrices.append((entry["label"] + ("" if entry["same_matrix"] else " (*)"), ratios))
    grids = [(g["label"], {"hypre": g["hypre"] / g["sortie"]}) for g in noted["structured_grids"]["grids"] if g["hypre"]]
    picture = Picture(820, 560, "SpGEMM, time of other programs over Sortie's time")
    draw_marks(picture, "SpGEMM, C = A * A in f64: time of other programs / Sortie's time", "One NVIDIA H200, memory from "
                "a pool. Right of 1: Sortie is faster; left of 1: the other program. (*): see the text.",
                [matrices, grids], series, [0.5, 1, 2, 4, 8, 16, 32, 64], (0.4, 75), 250, 96, 540, 23)
    picture.legend(16, 76, [(p, n, s, False) for p, n, s in series], [150, 120, 85, 100, 95, 0])
    picture.text(520, 546, "time / Sortie's time, logarithmic", "middle", 12)
    return picture.svg()


def draw_suffix_array(noted):
    series = [("Sortie", "own", "circle"), ("libcubwt 1.0.0", "a", "up"), ("cuDPP 2.3 skew", "b", "square"),
              ("`dc3` of the bench", "c", "down")]
    texts = []
    for entry, _, rows in suffix_array_rows(noted):
        rates = {p: entry[p] for p in SUFFIX_ARRAY_PEERS if entry[p]}
        rates["Sortie"] = rows["prefix-doubling"]["rate"]
        if "dc3" in rows:
            rates["`dc3` of the bench"] = rows["dc3"]["rate"]
        texts.append((entry["label"], rates))
    picture = Picture(820, 400, "Suffix arrays, symbols per second")
    draw_marks(picture, "Suffix arrays: 10^6 symbols per second", "One NVIDIA H200, text and suffix array on the device. "
                "libcubwt ends below 2^31 symbols.", [texts], series,
                [10, 30, 100, 300, 1000, 3000, 10000, 30000], (10, 30000), 220, 92, 570, 23)
    picture.legend(16, 74, [(p.replace("`", ""), n, s, False) for p, n, s in series], [100, 150, 150, 0])
    picture.text(505, 386, "10^6 symbols per second, logarithmic", "middle", 12)
    return picture.svg()


def draw_array_sort(noted):
    entries = noted["array_sort"]["rows"]
    picture = Picture(820, 474, "Sort of one array over GPUs, milliseconds")
    picture.text(16, 28, "Sort of one array, uniform keys on the devices, NVIDIA H200: milliseconds", size=15,
                 weight="bold")
    picture.text(16, 48, "Shorter is faster. rmg: the published algorithm in this tree; RMG: its authors' program.",
                 size=11.5, name="soft")
    styles = {"CUB": "a", "Sortie": "own", "`rmg`": "b", "RMG": "c"}
    left, width, bar, y = 130, 610, 14, 66
    longest = max(t for e in entries for t in array_sort_times(e).values() if t)
    for entry in entries:
        picture.text(16, y + 12, entry["label"], size=12, weight="bold")
        y += 22
        for label, time in array_sort_times(entry).items():
            if time is None:
                continue
            picture.text(left - 10, y + bar - 3, label.replace("`", ""), "end", 11)
            picture.bar(left, y, width * time / longest, bar, styles[label.split(",")[0]])
            picture.text(left + width * time / longest + 6, y + bar - 3, number(time), size=11)
            y += bar + 5
        y += 10
    return picture.svg()


PICTURES = {"segmented-sort.svg": draw_segmented_sort, "spgemm.svg": draw_spgemm,
            "suffix-array.svg": draw_suffix_array, "array-sort.svg": draw_array_sort}


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    with open(FIGURES / "performance.json", encoding="utf-8") as file:
        noted = json.load(file)
    wanted = {page: page_with_tables(page.read_text(encoding="utf-8"), noted) for page in PAGES}
    for name, draw in PICTURES.items():
        wanted[FIGURES / name] = draw(noted)
    old = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if sys.argv[1:]:
        for path in old:
            print(f"performance.py: {path.relative_to(FIGURES.parent)} is out of date", file=sys.stderr)
        return 1 if old else 0
    for path in old:
        path.write_text(wanted[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
