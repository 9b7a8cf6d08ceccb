# SPDX-License-Identifier: Apache-2.0
"""Garland's survey: the classics on every distribution. What pages.py writes into its page."""

from charts import chart
from performance import number, table
from reports import claims, milliseconds, rows_of


def classic_points(value_of, name="garland-classics"):
    series = {}
    for rows in rows_of(name).values():
        for method, row in rows.items():
            if (value := value_of(row)) > 0:
                series.setdefault(method, []).append((row["items"], value))
    return series


def garland_rates(name="garland-classics", what="keys"):
    points = classic_points(lambda r: r["rate"], name)
    shown = {m: line for m, line in points.items() if m not in ("counting by offset", "sortie merge", "sortie radix")}
    return chart(f"Rate of the classics, u32 {what}", what, f"10^9 {what} per second", shown)


def garland_table(infix="", what="keys"):
    first = f"garland{infix}" if infix else "garland-classics"
    cases = {"uniform": rows_of(first).get(f"2^20 {what}", {})}
    cases |= {c.split(", ")[1]: r for c, r in rows_of(f"garland{infix}-distributions").items() if c.startswith(f"2^20 {what}, ")}
    at = {m: f"2^20 {what}" for m in cases["uniform"]}
    if not at:
        return ["Not measured yet."]
    lines = [[m, *(number(milliseconds(rows[m])) if m in rows else "" for rows in cases.values())] for m in at]
    small = {"uniform": rows_of(first).get(f"2^14 {what}", {})}
    small |= {c.split(", ")[1]: r for c, r in rows_of(f"garland{infix}-quadratic").items()}
    for m in small["uniform"]:
        if m not in at:
            lines.append([m + f", 2^14 {what}", *(number(milliseconds(small[c][m])) if m in small.get(c, {}) else "" for c in cases)])
    return table([f"method, 2^20 {what}, ms", *cases], lines)


def garland_pair_claims():
    rows = rows_of("garland-pairs").get("2^28 pairs")
    if not rows:
        return []
    ratio = lambda a, b: rows[a]["median_seconds"] / rows[b]["median_seconds"]
    return [("the same of pairs: tiled merge / tiled radix, 2^28 pairs", "> 1", f"{ratio('tiled merge', 'tiled radix'):.2f}", ratio("tiled merge", "tiled radix") > 1),
            ("the same of pairs: quicksort / sample sort, 2^28 pairs", "> 1", f"{ratio('quicksort', 'sample sort'):.2f}", ratio("quicksort", "sample sort") > 1)]


def garland_claims():
    at = rows_of("garland-classics")
    top = at["2^28 keys"]
    small = at["2^14 keys"]
    time = lambda rows, m: rows[m]["median_seconds"]
    return claims([
        ("radix sort outruns merge sort on integers: tiled merge / tiled radix, 2^28 keys", "> 1", f"{time(top, 'tiled merge') / time(top, 'tiled radix'):.2f}", time(top, "tiled merge") > time(top, "tiled radix")),
        ("one bit a pass is not efficient: binary split / tiled radix", "> 1", f"{time(top, 'binary split') / time(top, 'tiled radix'):.2f}", time(top, "binary split") > time(top, "tiled radix")),
        ("selection and insertion are mostly sequential: their time / odd-even transposition, 2^14 keys", "> 1",
         f"{time(small, 'selection') / time(small, 'odd-even transposition'):.1f}, {time(small, 'insertion') / time(small, 'odd-even transposition'):.1f}",
         min(time(small, "selection"), time(small, "insertion")) > time(small, "odd-even transposition")),
        ("sample sort partitions into many ranges and beats quicksort: quicksort / sample sort, 2^28 keys", "> 1", f"{time(top, 'quicksort') / time(top, 'sample sort'):.2f}", time(top, "quicksort") > time(top, "sample sort")),
        *garland_pair_claims(),
    ])


# The generated parts of the page, by name.
PARTS = {
    "garland-claims": garland_claims,
    "garland-table": garland_table,
    "garland-pairs-table": lambda: garland_table("-pairs", "pairs"),
}
# The pictures: the report that each needs, or None, and what draws it.
PICTURES = {
    "garland-rates.svg": ("garland-classics", garland_rates),
    "garland-pairs.svg": ("garland-pairs", lambda: garland_rates("garland-pairs", "pairs")),
}
