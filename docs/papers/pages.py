#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the figures of the papers, and writes the generated parts of the pages in this folder.

    pages.py                              rewrite the tables and the pictures
    pages.py --check                      change nothing; exit with 1 when one is out of date
    pages.py --measure BENCH [PAGE ...]   first run BENCH for these pages (default: all) and keep
                                          the reports in docs/results/papers; BENCH is build/bin/sortie-bench
    pages.py --commands BENCH             print the command lines of --measure

A page has its generated parts between `<!-- NAME -->` and `<!-- end -->`. The folder `scripts` has a module for
each paper. Needs the standard library of Python 3.9 only. The same reports give the same bytes.
"""

import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER / "scripts"), str(FOLDER.parent / "figures")]
import capannini  # noqa: E402
import cusp  # noqa: E402
import garland  # noqa: E402
import hou  # noqa: E402
import ilic  # noqa: E402
import tanasic  # noqa: E402
from measure import measure  # noqa: E402
from reports import measured_by, report  # noqa: E402
from runs import ON_GPUS, RUNS  # noqa: E402

PAPERS = (hou, tanasic, ilic, capannini, garland, cusp)
PARTS = {
    **{name: part for paper in PAPERS for name, part in paper.PARTS.items()},
    **{f"{page}-source": (lambda names=tuple(runs): measured_by(names)) for page, runs in RUNS.items()},
    **{f"{page}-{word}-gpus-source": (lambda names=tuple(runs): measured_by(names)) for number, word in ((2, "two"), (4, "four")) for page, runs in ON_GPUS[number].items()},
    "capannini-2011-source": lambda: measured_by(["capannini-distributions", "capannini-deviations", "garland-classics"]),
}
PICTURES = {name: picture for paper in PAPERS for name, picture in paper.PICTURES.items()}


def page_with_parts(path):
    def replace(match):
        name = match.group(1)
        if name not in PARTS:
            sys.exit(f"pages.py: found part \"{name}\" in {path.name}, expected one of {', '.join(PARTS)}")
        try:
            lines = PARTS[name]()
        except (AttributeError, KeyError, StopIteration, TypeError, ValueError):
            page = next(p for p in RUNS if p.startswith(name.split("-")[0]))
            if all(map(report, RUNS[page])):
                raise
            lines = ["Not measured yet."]
        return "\n".join([f"<!-- {name} -->", *lines, "<!-- end -->"])
    return re.sub(r"<!-- (\S+) -->.*?<!-- end -->", replace, path.read_text(encoding="utf-8"), flags=re.DOTALL)


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--commands"] and len(arguments) == 2:
        for runs in [*RUNS.values(), *(of for pages_on in ON_GPUS.values() for of in pages_on.values())]:
            for name, lines in runs.items():
                for i, line in enumerate([lines] if isinstance(lines, str) else lines):
                    print(f"{arguments[1]} {line} --json {name}{'' if isinstance(lines, str) else f'-{i}'}.json")
        return 0
    if arguments[:1] == ["--measure"] and len(arguments) > 1 and all(page in RUNS for page in arguments[2:]):
        measure(arguments[1], arguments[2:])
        arguments = []
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    wanted = {path: page_with_parts(path) for path in sorted(FOLDER.glob("*.md"))}
    for name, (needed, draw) in PICTURES.items():
        if needed is None or report(needed):
            wanted[FOLDER / name] = draw()
    old = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in old:
        if arguments:
            print(f"pages.py: {path.name} is out of date", file=sys.stderr)
        else:
            path.write_text(wanted[path], encoding="utf-8")
    return 1 if old and arguments else 0


if __name__ == "__main__":
    sys.exit(main())
