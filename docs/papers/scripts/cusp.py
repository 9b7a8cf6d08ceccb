# SPDX-License-Identifier: Apache-2.0
"""CUSP: products of sparse matrices by expanded lists. What pages.py writes into its page."""

from performance import number, table
from reports import claims, report, rows_of


def product_rows():
    """Rows of products by case, with those of email-Enron, which is not part of this repository, and of bhSPARSE, which bench spgemm does not run."""
    found = {case: dict(rows) for case, rows in (rows_of("cusp-products") | rows_of("cusp-email-enron")).items()}
    for case, rows in rows_of("hou-bhsparse").items():
        found.setdefault(case, {}).update(rows)
    return found


def cusp_table():
    lines = []
    others = ["bhsparse"] if report("hou-bhsparse") else []
    for case, rows in product_rows().items():
        ms = {m: r["median_seconds"] * 1e3 for m, r in rows.items()}
        peak = rows.get("esc", {}).get("peak_work_space")
        lines.append([f"`{case}`", *(number(ms[m]) if m in ms else "fails" for m in ("cusp", "esc", "essc", "fused", "cusparse")), *(number(ms[m]) if m in ms else "fails" for m in others),
                      f"{ms['cusp'] / ms['esc']:.2f}" if "cusp" in ms else "", f"{ms['esc'] / ms['essc']:.2f}" if "essc" in ms else "",
                      f"{peak / 2 ** 20:.0f}" if peak else ""])
    return table(["A", "CUSP 0.6.1, ms", "`esc`", "`essc`", "`fused`", "cuSPARSE", *(["bhSPARSE"] * len(others)), "CUSP / `esc`", "`esc` / `essc`", "work space of `esc`, MiB"], lines)


def cusp_claims():
    times = [{m: r["median_seconds"] for m, r in rows.items()} for rows in product_rows().values()]
    cusp = [t["cusp"] / t["essc"] for t in times]
    esc = [t["esc"] / t["essc"] for t in times]
    cusparse, bhsparse = ([t[peer] / t["essc"] for t in times if peer in t] for peer in ("cusparse", "bhsparse"))
    span = lambda ratios: f"{min(ratios):.1f} to {max(ratios):.1f}"
    phases = [{m: rows[m]["phase_seconds"] for m in ("esc", "essc")} for rows in product_rows().values()]
    share = [100 * of["esc"]["sort"] / sum(of["esc"].values()) for of in phases]
    sorts = [of["esc"]["sort"] / of["essc"]["sort"] for of in phases]
    return claims([
        ("segmented sort speeds ESC up: CUSP / `essc`", "up to 2.3 K80, 1.9 Titan X", span(cusp), min(cusp) > 1),
        ("the same with both sorts by today's CUB: `esc` / `essc`", "", span(esc), min(esc) > 1),
        ("`essc` is faster than cuSPARSE", "up to 86.5", span(cusparse), min(cusparse) > 1),
        *([("`essc` is faster than bhSPARSE", "up to 2.3", span(bhsparse), min(bhsparse) > 1)] if bhsparse else []),
        ("the sort takes most of ESC: its part of `esc`", "45 to 85 %", f"{min(share):.0f} to {max(share):.0f} %", min(share) > 45),
        ("the segmented sort is faster than the sort by row and column: sort of `esc` / sort of `essc`", "3.2 to 8", span(sorts), min(sorts) > 1)])


# The generated parts of the page, by name.
PARTS = {
    "cusp-table": cusp_table,
    "cusp-claims": cusp_claims,
}
PICTURES = {}
