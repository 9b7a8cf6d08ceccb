#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the picture of docs/cluster.md: ranks.svg, what three ranks send in each step of the three jobs.

    docs/figures/draw_ranks.py [FOLDER]    default: the folder of this script
"""
import pathlib
import sys

from draw_how_it_works import Picture

RANKS = 3
LEFT, TOP = 92, 62
LANE, LANE_GAP = 26, 14
HEIGHT = RANKS * LANE + (RANKS - 1) * LANE_GAP
COLOURS = "abc"

# Steps of a job: ("work", what, width), or a communication: (kind, what, of which size, width). "from 0" is
# a broadcast, "small" a collective call of some kilobytes, "all" the exchange of the data.
JOBS = [
    ("sort: keys alone", [
        ("work", "divide", 120),
        ("small", "counts of buckets", "4 KiB a rank", 110),
        ("work", "borders", 100),
        ("small", "samples of borders", "some KiB, 3 times", 130),
        ("all", "keys", "s (P - 1) / P keys", 150),
        ("work", "sort buckets", 120),
    ]),
    ("spgemm: C = A B", [
        ("work", "read rows", 92),
        ("all", "rows to equal products", "at most the entries of A", 180),
        ("small", "numbers of rows", "4 bytes a row", 130),
        ("all", "rows of B", "12 bytes an entry wanted", 180),
        ("work", "multiply", 140),
    ]),
    ("suffix-array", [
        ("from 0", "packed text", "3 n / 8 bytes", 130),
        ("work", "count", 90),
        ("small", "counts of buckets", "at most 1 MiB", 130),
        ("work", "own buckets", 130),
        ("all", "samples of groups", "few of a genome", 150),
        ("work", "order by samples", 140),
    ]),
]


def lane(rank, top):
    return top + rank * (LANE + LANE_GAP)


def centre(rank, top):
    return lane(rank, top) + LANE / 2


def draw_job(picture, top, name, steps):
    picture.text(24, top - 22, name, "text", "start", "title")
    for rank in range(RANKS):
        picture.text(24, centre(rank, top) + 5, f"rank {rank}", "note", "start", "small")
    x = LEFT
    for step in steps:
        kind, what, width = step[0], step[1], step[-1]
        if kind == "work":
            for rank in range(RANKS):
                picture.box(x, lane(rank, top), width, LANE, COLOURS[rank], what, "small")
            x += width
            continue
        begin, end = x + 6, x + width - 6
        for source in range(RANKS):
            for target in range(RANKS):
                if source == target or (kind == "from 0" and source != 0):
                    continue
                picture.path(
                    f"M {begin} {centre(source, top)} C {(begin + end) / 2} {centre(source, top)} "
                    f"{(begin + end) / 2} {centre(target, top)} {end} {centre(target, top)}",
                    f"flow-{COLOURS[source]}", arrow=False, width=1 if kind == "small" else 3.5)
        picture.text((begin + end) / 2, top + HEIGHT + 18, what, extra="small")
        picture.text((begin + end) / 2, top + HEIGHT + 34, step[2], "note", extra="small")
        x += width
    assert x <= 940, (name, x)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    step = HEIGHT + 98
    picture = Picture(TOP + len(JOBS) * step - 30, "What three ranks send in each step of the three jobs")
    for number, (name, steps) in enumerate(JOBS):
        draw_job(picture, TOP + number * step, name, steps)
    picture.save(folder / "ranks.svg")


if __name__ == "__main__":
    main()
