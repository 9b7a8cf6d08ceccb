# SPDX-License-Identifier: Apache-2.0
"""Hou et al. 2017: segmented sort. What pages.py writes into its page."""

import pathlib
import statistics

from charts import bars, chart
from cusp import product_rows
from performance import Picture, geometric_mean, number, table
from reports import claims, report, rows_of


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


# The generated parts of the page, by name.
PARTS = {
    "hou-claims": hou_claims,
    "hou-reg-sort": lambda: hou_bindings("reg_sort"),
    "hou-smem-merge": lambda: hou_bindings("smem_merge"),
    "hou-grid": hou_grid_table,
    "hou-chunks": hou_chunks,
    "hou-block-sizes": hou_block_sizes,
    "hou-bins": hou_bins,
    "hou-moderngpu": hou_moderngpu,
    "hou-suffix-arrays": hou_suffix_arrays,
}
# The pictures: the report that each needs, or None, and what draws it.
PICTURES = {
    "hou-fig11.svg": ("hou-lengths", lambda: chart("Fig. 11: segments of equal length, u32 pairs", "pairs in each segment", "10^9 pairs per second", hou_lengths())),
    "hou-fig9.svg": ("hou-kernels", lambda: chart("Fig. 9: reg-sort, u32 pairs, best block size", "pairs in each segment", "10^9 pairs per second", hou_kernel_rates("reg_sort"), log_y=False)),
    "hou-fig10.svg": ("hou-kernels", lambda: chart("Fig. 10: smem-merge, u32 pairs", "pairs in each segment", "10^9 pairs per second", hou_kernel_rates("smem_merge"), log_y=False)),
    "hou-fig12.svg": ("hou-grid", hou_heat),
    "hou-fig13.svg": ("hou-suffix-arrays", lambda: bars("Fig. 13: suffix arrays", "10^6 symbols per second.", hou_fig13())),
    "hou-fig14.svg": ("cusp-products", lambda: bars("Fig. 14: products A * A", "Time / that of essc.", hou_fig14())),
    "hou-fig2.svg": ("hou-products", hou_fig2),
}
