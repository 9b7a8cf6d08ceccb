# SPDX-License-Identifier: Apache-2.0
"""Ilic 2022: radix sort over several GPUs. What pages.py writes into its page."""

from charts import bars, chart, stacked
from performance import number, table
from reports import GPUS_OF, MACHINES, best_suffix, claims, milliseconds, report, rows_of
from runs import RMG_CHANGES


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


# The generated parts of the page, by name.
PARTS = {
    "ilic-claims": ilic_claims,
    "ilic-table": ilic_table,
    "ilic-two-gpus": lambda: ilic_real_gpus("-x2", 2),
    "ilic-four-gpus": lambda: ilic_real_gpus("-x4", 4),
    "ilic-host": ilic_host,
    "ilic-bits": ilic_bits,
    "ilic-types": ilic_types,
    "ilic-sizes": ilic_sizes,
    "ilic-eight": ilic_eight,
    "ilic-links": ilic_links,
    "ilic-host-peers": ilic_host_peers,
    "ilic-entropy": lambda: ilic_skew_table("entropy"),
    "ilic-zipf": lambda: ilic_skew_table("zipf"),
    "ilic-distributions": ilic_distributions,
    "ilic-options": ilic_options,
}
# The pictures: the report that each needs, or None, and what draws it.
PICTURES = {
    "ilic-fig8.svg": ("ilic-bits", lambda: chart("Fig. 8: CUB's radix sort of 2^30 u32 keys by fewer bits", "bits", "milliseconds", {"cub radix": list(ilic_bit_times().items())}, log_y=False, log_x=False)),
    "ilic-fig11.svg": ("ilic-host-peers", lambda: bars("Figs. 11 and 13: sorts of the host, and from host memory on GPUs", "10^9 keys per second, uniform u32 keys.", ilic_fig11())),
    "ilic-fig12.svg": ("ilic-host-peers", lambda: chart("Figs. 12 and 14: sorts of the host, and from host memory on GPUs", "keys", "milliseconds", ilic_fig12())),
    "ilic-fig15.svg": ("ilic-host-x2", lambda: chart("Figs. 15 and 16: sorts from host memory on GPUs", "keys", "milliseconds", ilic_by_keys([("rmg", 2), ("tanasic", 2), ("rmg", 4), ("tanasic", 4), ("rmg", 8), ("tanasic", 8), ("het", 8)], ilic_best_host()))),
    "ilic-fig17.svg": ("ilic-host-512M-x2", ilic_fig17),
    "ilic-fig23.svg": ("ilic-skew", lambda: chart("Figs. 23 and 24: bit entropy", "random bits of a key", "time / that of uniform keys", ilic_skew("entropy"), log_y=False, log_x=False)),
    "ilic-fig25.svg": ("ilic-skew", lambda: chart("Figs. 25 and 26: Zipf distributions", "exponent", "time / that of uniform keys", ilic_skew("zipf"), log_y=False, log_x=False)),
    "ilic-fig27.svg": ("ilic-u32", lambda: bars("Figs. 27 and 28: types of keys", "Milliseconds, 2^29 keys in GPU memory.", ilic_type_bars())),
}
