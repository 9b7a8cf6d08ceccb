#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rewrites the table of docs/gpu-runs.md from the file that check.py wrote.

    table.py                              docs/results/gpu-run.json.xz into docs/gpu-runs.md
    table.py gpu-run.json                 compress this file to docs/results/gpu-run.json.xz first
    table.py --check                      change nothing; exit with 1 when the table is out of date
    table.py --print gpu-run.json[.xz]    print the table of a file, change nothing

The table stands between `<!-- gpu-run -->` and `<!-- end -->`. Needs Python 3.9.
"""

import json
import lzma
import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "gpu-runs.md"
RECORD = DOCS / "results" / "gpu-run.json.xz"
SANITIZERS = {"memcheck": ("error", "errors"), "racecheck": ("hazard", "hazards"), "initcheck": ("error", "errors")}


def read(path):
    data = pathlib.Path(path).read_bytes()
    return json.loads(lzma.decompress(data) if str(path).endswith(".xz") else data)


def sum_of(parts, key):
    return sum(part[key] or 0 for part in parts)


def not_ended(cell):
    """Whether a process did not end, or did not begin."""
    return len(cell["parts"]) < cell["runs"] or not all(part["ended"] for part in cell["parts"])


def at(cell, run):
    return "" if cell["commit"] == run["commit"] else f" ({cell['commit']})"


def tests_cells(cell, run):
    if not cell:
        return ["not run", "", ""]
    parts = cell["parts"]
    if not_ended(cell):
        return [f"not ended: {sum_of(parts, 'passed')}{at(cell, run)}", str(sum_of(parts, "failed")),
                str(sum_of(parts, "skipped"))]
    return [f"{sum_of(parts, 'passed')}{at(cell, run)}", str(sum_of(parts, "failed")), str(sum_of(parts, "skipped"))]


def sanitizer_cell(tool, cell, run):
    if not cell:
        return "not run"
    parts = cell["parts"]
    found, tests = sum_of(parts, "findings"), sum_of(parts, "passed") + sum_of(parts, "failed")
    one, many = SANITIZERS[tool]
    text = f"{found} {one if found == 1 else many}, {tests} test{'' if tests == 1 else 's'}"
    failed = sum_of(parts, "failed")
    text += f", {failed} failed" if failed else ""
    if not_ended(cell):
        text = "not ended: " + text
    return (f"**{text}**" if found else text) + at(cell, run)


def table(run):
    programs = run["programs"]
    tools = [t for t in SANITIZERS if any(t in tools for tools in programs.values())]
    lines = [f"Commit {run['commit']}, {run['date']}: {run['gpus']} {run['gpu']}, driver {run['driver']}, "
             f"CUDA {run['cuda']}, Compute Sanitizer {run['compute_sanitizer']}.", "",
             "| program | passed | failed | skipped | " + " | ".join(tools) + " |", "|" + "---|" * (4 + len(tools))]
    for program, cells in programs.items():
        row = [program, *tests_cells(cells.get("tests"), run),
               *(sanitizer_cell(tool, cells.get(tool), run) for tool in tools)]
        lines.append("| " + " | ".join(row) + " |")
    every = {tool: [part for cells in programs.values() for part in cells.get(tool, {"parts": []})["parts"]]
             for tool in ["tests", *tools]}
    totals = ["all", *(str(sum_of(every["tests"], key)) for key in ("passed", "failed", "skipped"))]
    for tool in tools:
        totals.append(f"{sum_of(every[tool], 'findings')} {SANITIZERS[tool][1]}")
    lines.append("| " + " | ".join(f"**{text}**" for text in totals) + " |")
    return lines


def page_with_table(text, run):
    wanted = "\n".join(["<!-- gpu-run -->", *table(run), "<!-- end -->"])
    changed, number = re.subn(r"<!-- gpu-run -->.*?<!-- end -->", lambda _: wanted, text, flags=re.DOTALL)
    if number != 1:
        sys.exit(f"table.py: found {number} tables in {PAGE.name}, expected 1 between <!-- gpu-run --> and <!-- end -->")
    return changed


def main():
    arguments = sys.argv[1:]
    if len(arguments) == 2 and arguments[0] == "--print":
        print("\n".join(table(read(arguments[1]))))
        return 0
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-") and arguments[0] != "--check"):
        sys.exit(__doc__)
    if arguments and arguments[0] != "--check":
        run = read(arguments[0])
        RECORD.write_bytes(lzma.compress((json.dumps(run, indent=1) + "\n").encode(), preset=9 | lzma.PRESET_EXTREME))
    old = PAGE.read_text(encoding="utf-8")
    new = page_with_table(old, read(RECORD))
    if arguments == ["--check"]:
        if old != new:
            print(f"table.py: the table of {PAGE.name} is out of date", file=sys.stderr)
        return 1 if old != new else 0
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
