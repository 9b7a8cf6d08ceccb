#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the links between the Markdown files of this repository lead to a file, and to a heading where they name one.

    check_links.py ROOT

Prints a line for each link that does not; the exit code is then 1. Links to other sites are not followed.
"""

import pathlib
import re
import sys


def anchors_of(path):
    """The names of a file's headings, as GitHub forms them."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = set()
    for heading in re.findall(r"^#+ +(.*?) *$", text, flags=re.MULTILINE):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", shown).replace(" ", "-"))
    return found


def links_of(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"[a-z]+:", link)]


def main():
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1], "README.md").exists():
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1])
    pages = [path for path in sorted(root.rglob("*.md")) if not any(part.startswith((".", "build")) for part in path.relative_to(root).parts)]
    wrong = 0
    for page in pages:
        for link in links_of(page):
            file, _, anchor = link.partition("#")
            target = page.parent / file if file else page
            if not target.exists():
                print(f"{page.relative_to(root)}: {link}: found no such file")
            elif anchor and target.suffix == ".md" and anchor not in anchors_of(target):
                print(f"{page.relative_to(root)}: {link}: found no such heading")
            else:
                continue
            wrong += 1
    print(f"{len(pages)} pages, {wrong} links that lead nowhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
