# SPDX-License-Identifier: Apache-2.0
"""Tanasic et al. 2013: merge sort over several GPUs. What pages.py writes into its page."""

from charts import chart, stacked
from performance import number, table
from reports import GPUS_OF, MACHINES, best_suffix, claims, milliseconds, report, rows_of
from runs import EXPONENTS


# The machines by the suffix of their reports.



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


# The generated parts of the page, by name.
PARTS = {
    "tanasic-claims": tanasic_claims,
    "tanasic-links": tanasic_links,
    "tanasic-links-two-gpus": lambda: tanasic_links("tanasic-links-x2"),
    "tanasic-links-four-gpus": lambda: tanasic_links("tanasic-links-x4"),
    "tanasic-links-apart": lambda: tanasic_links("tanasic-links-64M", "runtime"),
    "tanasic-fig6b": lambda: ["![rates from host memory to host memory](tanasic-fig6b.svg)"] if report("tanasic-host-peers")
    else ["Fig. 6(b), the same from host memory beside sorts of the host, is not measured yet by size; the rates of 2^28 records are below."],
    "tanasic-times": tanasic_times,
    "tanasic-times-two-gpus": lambda: tanasic_times("-x2"),
    "tanasic-times-four-gpus": lambda: tanasic_times("-x4"),
    "tanasic-host": tanasic_host,
    "tanasic-peers": tanasic_peers,
    "tanasic-two-gpus": tanasic_two_gpus,
    "tanasic-four-gpus": tanasic_four_gpus,
}
# The pictures: the report that each needs, or None, and what draws it.
PICTURES = {
    "tanasic-fig6a.svg": ("tanasic-f32", lambda: chart("Fig. 6(a): pairs of an f32 and a u32 in GPU memory", "records", "10^9 records per second", tanasic_fig6a())),
    "tanasic-fig6b.svg": ("tanasic-host-peers", lambda: chart("Fig. 6(b): pairs of an f32 and a u32 from host memory to host memory", "records", "10^9 records per second", tanasic_fig6b())),
    "tanasic-fig7.svg": ("tanasic-f32-x2", lambda: chart("Fig. 7: speedup by more GPUs, pairs of an f32 and a u32", "records", "speedup", tanasic_fig7(), log_y=False)),
    "tanasic-fig8.svg": ("tanasic-host-f32", lambda: stacked("Fig. 8: copies from and to the host, and sorting", "Shares of the whole, pairs of a floating-point key and a u32.", tanasic_fig8())),
    "tanasic-fig9.svg": ("tanasic-f32", lambda: stacked("Fig. 9: parts of the time, pairs of a floating-point key and a u32", "From one more sort, which waits after each part.", tanasic_breakdown())),
}
