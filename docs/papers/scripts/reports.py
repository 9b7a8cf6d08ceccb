# SPDX-License-Identifier: Apache-2.0
"""Reports of the bench, and what all pages read of them."""

import json
import lzma
import pathlib

from performance import table

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "results" / "papers"
# Reports of earlier runs, in the other folders of docs/results.
EARLIER = {"sort-merge-u32": "sort", "sort-u32-4e9": "sort"}


def report(name, cache={}):
    if name not in cache:
        path = (RESULTS.parent / EARLIER[name] if name in EARLIER else RESULTS) / f"{name}.json.xz"
        cache[name] = json.loads(lzma.open(path, "rt", encoding="utf-8").read()) if path.exists() else None
    return cache[name]


def rows_of(name):
    """{case: {method: row}} of a report, right results only."""
    cases = {}
    for row in (report(name) or {"rows": []})["rows"]:
        if row["agrees"] and not row["failure"]:
            cases.setdefault(row["case"].removesuffix(" on the device"), {})[row["method"]] = row
    return cases


def measured_by(names):
    """Which GPU and commit the reports are from."""
    commits = {}
    for name in names:
        if (r := report(name)) and (r.get("gpu") or r.get("backend") == "host"):
            machine = r["gpu"]["name"] if r.get("gpu") else f"the host of that machine, {r['machine']['cores']} cores"
            commits.setdefault(machine, set()).update(r["commit"].split("; "))
    found = [f"{machine}, commit{'s' if len(of) > 1 else ''} {', '.join(sorted(of))}" for machine, of in sorted(commits.items())]
    return [f"Measured on: {'; '.join(found)}." if found else "Not measured yet."]


def milliseconds(row):
    return 1e3 * row["median_seconds"]


def verdict(holds):
    return "" if holds is None else "yes" if holds else "no"


def claims(lines):
    """Lines of (claim, printed, here, whether it holds)."""
    return table(["claim", "printed", "here", "held"], [[c, p, h, verdict(v)] for c, p, h, v in lines])


MACHINES = {"": "one GPU", "-x2": "two GPUs", "-x4": "four GPUs"}
GPUS_OF = {"": 1, "-x2": 2, "-x4": 4}


def best_suffix(name):
    """Suffix of the report of that name on the most GPUs; None without any."""
    return next((suffix for suffix in reversed(MACHINES) if report(name + suffix)), None)
