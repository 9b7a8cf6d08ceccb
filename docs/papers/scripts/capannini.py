# SPDX-License-Identifier: Apache-2.0
"""Capannini et al. 2011: bitonic sort beside quicksort and radix sort. What pages.py writes into its page."""

import math
import statistics

from charts import chart
from performance import number, table
from reports import claims, milliseconds, report, rows_of


def bsn_transactions(n, k, sigma):
    """Section 6.1: the partitions that cover the network, each read and written once."""
    log_n, log_s, step = math.log2(n), int(math.log2(sigma)), int(math.log2(sigma / k))
    passes = 1 + sum(math.ceil((s - log_s) / step) + 1 for s in range(log_s + 1, int(log_n) + 1))
    return 2 * n / k * passes


def quicksort_transactions(n, k):
    return math.log2(n) * (n / k + 2 + 4 * n / k ** 2 + n / k + n)


def radix_transactions(n, b=4, h=1024):
    return 32 / b * n / h * 2 ** b


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


# The generated parts of the page, by name.
PARTS = {
    "capannini-claims": capannini_claims,
    "capannini-table": capannini_table,
    "capannini-counters": capannini_counters,
    "capannini-accesses": capannini_accesses,
    "capannini-indexers": capannini_indexers,
    "capannini-counted-by": capannini_counted_by,
    "capannini-work": capannini_work,
    "capannini-deviations": capannini_deviations,
    "capannini-slow-sorts": capannini_slow_sorts,
    "capannini-distributions": capannini_distributions,
}
# The pictures: the report that each needs, or None, and what draws it.
PICTURES = {
    "capannini-fig5.svg": ("garland-classics", capannini_times),
    "capannini-fig6.svg": (None, capannini_formulas),
}
