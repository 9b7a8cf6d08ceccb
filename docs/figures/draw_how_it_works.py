#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of docs/how-it-works.md: how_tile, how_product, how_suffixes and how_exchange.

    docs/figures/draw_how_it_works.py [FOLDER]    default: the folder of this script

Every number in a picture is computed here from the example's input, and the results are compared with
a plain sort, product or suffix array before anything is written.
"""
import pathlib
import sys

WIDTH = 960

# One rule per class: (light, dark). Text and lines need contrast with the card and with every fill.
COLOURS = {
    "card": (("fill", "#ffffff", "#0d1117"), ("stroke", "#d0d7de", "#3d444d")),
    "text": (("fill", "#1f2328", "#f0f6fc"),),
    "note": (("fill", "#59636e", "#a5aeb8"),),
    "line": (("stroke", "#59636e", "#a5aeb8"), ("fill", "none", "none")),
    "head": (("fill", "#59636e", "#a5aeb8"),),
    "plain": (("fill", "#f6f8fa", "#1c2128"), ("stroke", "#8c959f", "#6e7681")),
    "bare": (("fill", "none", "none"), ("stroke", "#8c959f", "#6e7681")),
    "a": (("fill", "#cfe3ff", "#12396b"), ("stroke", "#3b7dd8", "#5b9bf0")),
    "b": (("fill", "#ffe0b8", "#5c3a0c"), ("stroke", "#c07a15", "#e0a050")),
    "c": (("fill", "#cdeccd", "#17492a"), ("stroke", "#3b9450", "#56b870")),
    "d": (("fill", "#ead5f5", "#462a5c"), ("stroke", "#9150b8", "#bb80e0")),
    "sample": (("fill", "#fff1a8", "#5c5200"), ("stroke", "#9a8700", "#d8c440")),
    "flow-a": (("stroke", "#3b7dd8", "#5b9bf0"), ("fill", "none", "none")),
    "flow-b": (("stroke", "#c07a15", "#e0a050"), ("fill", "none", "none")),
    "flow-c": (("stroke", "#3b9450", "#56b870"), ("fill", "none", "none")),
    "flow-d": (("stroke", "#9150b8", "#bb80e0"), ("fill", "none", "none")),
}


def style():
    light = "".join(
        f".{name}{{{';'.join(f'{key}:{value}' for key, value, _ in rules)}}}"
        for name, rules in COLOURS.items()
    )
    dark = "".join(
        f".{name}{{{';'.join(f'{key}:{value}' for key, _, value in rules)}}}"
        for name, rules in COLOURS.items()
    )
    return (
        "text{font-family:Helvetica,Arial,sans-serif;font-size:14px}"
        ".mono{font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace}"
        ".title{font-weight:bold;font-size:15px}.small{font-size:12px}"
        f"{light}@media (prefers-color-scheme: dark){{{dark}}}"
    )


class Picture:
    def __init__(self, height, title):
        self.height = height
        self.parts = [f"<title>{title}</title>"]

    def text(self, x, y, text, kind="text", anchor="middle", extra=""):
        text = str(text).replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(
            f'<text x="{x}" y="{y}" class="{kind} {extra}" text-anchor="{anchor}">{text}</text>'
        )

    def box(self, x, y, width, height, kind="plain", text=None, extra="mono"):
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" class="{kind}"/>'
        )
        if text is not None:
            self.text(x + width / 2, y + height / 2 + 5, text, extra=extra)

    def path(self, points, kind="line", arrow=True, width=1.5):
        self.parts.append(f'<path d="{points}" class="{kind}" stroke-width="{width}"/>')
        if arrow:
            x, y = (float(number) for number in points.split()[-2:])
            self.parts.append(f'<path d="M {x - 4} {y - 7} L {x + 4} {y - 7} L {x} {y} Z" class="head"/>')

    def save(self, path):
        body = "\n".join(self.parts)
        path.write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" '
            f'width="{WIDTH}" height="{self.height}" role="img">\n<style>{style()}</style>\n'
            f'<rect x="1" y="1" width="{WIDTH - 2}" height="{self.height - 2}" rx="8" class="card"/>\n'
            f"{body}\n</svg>\n"
        )


def tile(path):
    """Seven items of three segments in a tile of eight, as words of 2 + 3 + 3 bits."""
    segments = [[41, 38, 44], [52], [39, 47, 38]]
    capacity, segment_bits, window_bits, index_bits = 8, 2, 3, 3
    colours = "abc"
    keys = [key for segment in segments for key in segment]
    owner = [s for s, segment in enumerate(segments) for _ in segment]
    least = min(keys)
    span = (max(keys) - least).bit_length()
    words = [
        owner[e] << (window_bits + index_bits)
        | (keys[e] - least) >> (span - window_bits) << index_bits
        | e
        for e in range(len(keys))
    ]
    padding = (1 << (segment_bits + window_bits + index_bits)) - 1
    words += [padding] * (capacity - len(words))
    order = sorted(words)
    places = [word & (capacity - 1) for word in order[: len(keys)]]
    found = [keys[e] for e in places]
    # Runs of equal segment and window are put in order by whole keys.
    mended, ties = [], []
    i = 0
    while i < len(found):
        j = i
        while j < len(found) and order[j] >> index_bits == order[i] >> index_bits:
            j += 1
        if j - i > 1:
            ties.append((i, j))
        mended += sorted(found[i:j])
        i = j
    assert mended == [key for segment in segments for key in sorted(segment)]

    picture = Picture(630, "A tile of eight items and its packed words")
    picture.text(24, 32, "A word of a warp's tile (512 items): 32 bits", "text", "start", "title")
    x, widths = 24, (230, 442, 240)
    for width, kind, label in zip(
        widths,
        ("b", "plain", "a"),
        ("segment in the tile: s bits", "key window: 23 - s bits", "index e of the item: 9 bits"),
    ):
        picture.box(x, 46, width, 32, kind, label, extra="")
        x += width
    picture.text(24, 96, "bit 31", "note", "start", "small")
    picture.text(936, 96, "bit 0", "note", "end", "small")

    picture.text(24, 134, "The same with 8 items and words of 2 + 3 + 3 bits", "text", "start", "title")
    left, step = 168, 97

    def label(y, first, second=""):
        picture.text(24, y + 13, first, "text", "start")
        picture.text(24, y + 29, second, "note", "start", "small")

    def word_boxes(y, word, e):
        x = left + e * step
        bits = f"{word:0{segment_bits + window_bits + index_bits}b}"
        kind = "bare" if word == padding else colours[word >> (window_bits + index_bits)]
        picture.box(x, y, 24, 30, kind, bits[:2], "mono small")
        picture.box(x + 24, y, 32, 30, "plain", bits[2:5], "mono small")
        picture.box(x + 56, y, 32, 30, "bare", bits[5:], "mono small")

    y = 150
    label(y, "index e")
    for e in range(capacity):
        picture.text(left + e * step + 44, y + 14, e, "note", extra="mono")
    y = 176
    label(y, "key", "colour: its segment")
    for e in range(capacity):
        if e < len(keys):
            picture.box(left + e * step, y, 88, 30, colours[owner[e]], keys[e])
        else:
            picture.box(left + e * step, y, 88, 30, "bare", "padding", "small")
    y = 226
    label(y, f"key - {least}", "least key of the tile")
    for e, key in enumerate(keys):
        picture.text(left + e * step + 44, y + 19, f"{key - least} = {key - least:0{span}b}", extra="mono")
    y = 276
    label(y, "packed word", "window: 3 top bits")
    for e, word in enumerate(words):
        word_boxes(y, word, e)
        picture.text(left + e * step + 44, y + 46, word, "note", extra="mono small")
    picture.text(left + 4 * step, 352, "sort the words as unsigned numbers", extra="small")
    picture.path(f"M {left + 4 * step} 358 L {left + 4 * step} 378")
    y = 388
    label(y, "sorted words", "padding comes last")
    for p, word in enumerate(order):
        word_boxes(y, word, p)
        picture.text(left + p * step + 44, y + 46, word, "note", extra="mono small")
    y = 458
    label(y, "keys[index]", "in shared memory")
    for p, key in enumerate(found):
        picture.box(left + p * step, y, 88, 30, colours[owner[places[p]]], key)
    for begin, end in ties:
        middle = left + (begin + end) * step / 2 - 4
        x0, x1 = left + begin * step, left + end * step - 9
        picture.path(f"M {x0} 494 L {x0} 500 L {x1} 500 L {x1} 494", arrow=False)
        picture.text(middle, 516, "equal windows: repaired by whole keys", "note", extra="small")
        picture.path(f"M {middle} 522 L {middle} 540")
    y = 550
    label(y, "result", "segments in order")
    for p, key in enumerate(mended):
        picture.box(left + p * step, y, 88, 30, colours[owner[places[p]]], key)
    picture.text(24, 612, "A run of more than 16 equal windows is not repaired: the tile is sorted digit by digit.",
                 "note", "start", "small")
    picture.save(path)


def product(path):
    """C = A * B of 3 x 3: row 0 by its bitmap, row 2 by a sort of its products."""
    a = [[1, 0, 2], [0, 3, 0], [4, 5, 6]]
    b = [[1, 0, 2], [0, 3, 0], [4, 0, 5]]
    c = [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]

    def products_of(row):
        return [
            (j, a[row][k], b[k][j])
            for k in range(3) if a[row][k]
            for j in range(3) if b[k][j]
        ]

    counts = [len(products_of(row)) for row in range(3)]
    assert counts == [4, 1, 5] and sum(1 for row in c for entry in row if entry) == 6

    picture = Picture(700, "A product of two 3 x 3 matrices, step by step")

    def matrix(x, y, name, entries, kinds):
        picture.text(x + 57, y - 10, name, extra="title")
        for i, row in enumerate(entries):
            for j, entry in enumerate(row):
                kind = kinds[i] if entry else "bare"
                picture.box(x + 38 * j, y + 34 * i, 38, 34, kind, entry if entry else "")

    matrix(40, 48, "A", a, "abc")
    picture.text(180, 104, "x", extra="title")
    matrix(206, 48, "B", b, ["plain"] * 3)
    picture.text(346, 104, "=", extra="title")
    matrix(372, 48, "C", c, "abc")

    picture.text(572, 38, "products", "note", extra="small")
    picture.text(668, 38, "entries", "note", extra="small")
    picture.text(816, 38, "in this example made by", "note", extra="small")
    ways = ("a block: row bitmap", "8 lanes: sort", "8 lanes: sort")
    for i in range(3):
        y = 48 + 34 * i
        terms = " + ".join(
            str(sum(1 for j in range(3) if b[k][j])) for k in range(3) if a[i][k]
        )
        picture.text(572, y + 22, f"{terms} = {counts[i]}" if "+" in terms else terms, extra="mono")
        picture.text(668, y + 22, sum(1 for entry in c[i] if entry), extra="mono")
        picture.box(716, y + 3, 200, 28, "abc"[i], ways[i], "")
    picture.path("M 24 172 L 936 172", arrow=False, width=1)

    # Row 2: sorted in registers.
    row = products_of(2)
    words = [(j << 3 | lane) for lane, (j, _, _) in enumerate(row)]
    order = sorted(words)
    picture.text(24, 200, "Row 2: words of (column, lane) are sorted, runs of equal columns are added",
                 "text", "start", "title")
    left, step = 190, 112
    for y, label in ((214, "lane"), (240, "product"), (272, "word: column | lane"), (352, "sorted words"),
                     (394, "run of a column"), (432, "entry of C")):
        picture.text(24, y + 18, label, "text", "start")
    for lane, (j, left_factor, right_factor) in enumerate(row):
        x = left + lane * step
        picture.text(x + 48, 232, lane, "note", extra="mono")
        picture.text(x + 48, 258, f"{left_factor}·{right_factor} = {left_factor * right_factor}",
                     extra="mono")
        picture.box(x, 272, 40, 30, "c", j)
        picture.box(x + 40, 272, 56, 30, "bare", f"{lane:03b}")
        picture.text(x + 48, 318, words[lane], "note", extra="mono small")
    picture.path(f"M {left + 272} 322 L {left + 272} 344")
    runs = []
    for place, word in enumerate(order):
        x = left + place * step
        picture.box(x, 352, 40, 28, "c", word >> 3)
        picture.box(x + 40, 352, 56, 28, "bare", f"{word & 7:03b}")
        if runs and runs[-1][0] == word >> 3:
            runs[-1][2].append(word & 7)
        else:
            runs.append([word >> 3, place, [word & 7]])
    for column, place, lanes in runs:
        values = [row[lane][1] * row[lane][2] for lane in lanes]
        assert sum(values) == c[2][column]
        x0, x1 = left + place * step, left + (place + len(lanes) - 1) * step + 96
        picture.path(f"M {x0} 386 L {x0} 392 L {x1} 392 L {x1} 386", arrow=False)
        terms = " + ".join(str(value) for value in values)
        picture.text((x0 + x1) / 2, 412, terms, extra="mono")
        picture.box((x0 + x1) / 2 - 70, 430, 140, 28, "c", f"column {column}: {sum(values)}", "")
    picture.path("M 24 474 L 936 474", arrow=False, width=1)

    # Row 0: by its bitmap.
    row = products_of(0)
    columns = sorted({j for j, _, _ in row})
    bits = [1 if j in columns else 0 for j in range(3)]
    picture.text(24, 502, "Row 0: a bit per column; the rank of a column is the number of set bits before it",
                 "text", "start", "title")
    for j, bit in enumerate(bits):
        x = 160 + 48 * j
        picture.text(x + 24, 528, f"col {j}", "note", extra="small")
        picture.box(x, 536, 48, 30, "a" if bit else "bare", bit)
        picture.text(x + 24, 586, columns.index(j) if bit else "-", extra="mono")
    picture.text(24, 556, "row bitmap", "text", "start")
    picture.text(24, 586, "rank", "text", "start")
    picture.text(24, 626, "count: 2 bits set,", "note", "start", "small")
    picture.text(24, 642, "so row 0 of C has 2 entries", "note", "start", "small")
    sums = [0] * len(columns)
    picture.text(354, 528, "product", "note", "start", "small")
    picture.text(512, 528, "rank", "note", extra="small")
    for rank in range(len(columns)):
        picture.text(616 + 136 * rank, 528, f"sums[{rank}]", "note", extra="small")
    for i, (j, left_factor, right_factor) in enumerate(row):
        y = 552 + 26 * i
        value = left_factor * right_factor
        rank = columns.index(j)
        before = sums[rank]
        sums[rank] += value
        picture.text(354, y, f"{left_factor}·{right_factor} = {value} in column {j}", "text", "start", "small")
        picture.text(512, y, rank, extra="mono")
        added = f"{before} + {value} = {sums[rank]}" if before else f"{value}"
        picture.text(616 + 136 * rank, y, added, extra="mono")
    assert [c[0][j] for j in columns] == sums
    for rank, j in enumerate(columns):
        picture.box(552 + 136 * rank, 654, 128, 28, "a", f"column {j}: {sums[rank]}", "")
    for rank in range(len(columns)):
        picture.path(f"M {616 + 136 * rank} 636 L {616 + 136 * rank} 650", arrow=False)
    picture.text(354, 673, "entries of C, in order:", "text", "start")
    picture.save(path)


def suffixes(path):
    """The suffix array of GATTAGATTACA: first sort by 2 letters, one round of 2, then samples."""
    text = "GATTAGATTACA"
    n = len(text)
    final = sorted(range(n), key=lambda p: text[p:])

    def grouped(depth, slots):
        """Groups of neighbouring slots whose suffixes agree in `depth` letters."""
        groups, begin = [], 0
        while begin < n:
            end = begin + 1
            key = text[slots[begin] : slots[begin] + depth]
            while end < n and len(key) == depth and text[slots[end] : slots[end] + depth] == key:
                end += 1
            if end - begin > 1:
                groups.append((begin, end))
            begin = end
        return groups

    first = sorted(range(n), key=lambda p: (text[p : p + 2], p))
    first_groups = grouped(2, first)
    second = sorted(range(n), key=lambda p: (text[p : p + 4], p))
    second_groups = grouped(4, second)
    left = {second[slot] for begin, end in second_groups for slot in range(begin, end)}

    # The sample of p: of p and p + 1 the one whose next two letters have the lesser hash; AT before
    # GA here; equal letters (TT) only when there is nothing else.
    hashes = {"AT": 0, "TA": 1, "GA": 2, "TT": 9}

    def sample(p):
        return min((p, p + 1), key=lambda q: hashes[text[q : q + 2]])

    own = {p: sample(p) for p in left}
    samples = sorted(set(own.values()) | {sample(p + 1) for p in left})
    assert samples == [1, 3, 6, 8]
    rank = {}
    in_group = {slot: begin for begin, end in second_groups for slot in range(begin, end)}
    for slot, p in enumerate(second):
        if p in samples:
            rank[p] = in_group.get(slot, slot)
    assert rank == {1: 3, 6: 3, 8: 8, 3: 9}
    step = {p: sample(p + 1) for p in (1, 6)}
    assert step == {1: 3, 6: 8}
    for place, p in enumerate(sorted((1, 6), key=lambda p: rank[step[p]])):
        rank[p] = 3 + place
    result = list(second)
    for begin, end in second_groups:
        result[begin:end] = sorted(second[begin:end], key=lambda p: rank[own[p]])
    assert result == final == [11, 9, 4, 6, 1, 10, 5, 0, 8, 3, 7, 2]

    picture = Picture(654, "The suffix array of a text of 12 letters, step by step")
    left_edge, step_x = 216, 60
    picture.text(24, 32, "The text and its positions", "text", "start", "title")
    for p, letter in enumerate(text):
        x = left_edge + p * step_x
        picture.text(x + 28, 52, p, "note", extra="mono small")
        picture.box(x, 58, 56, 30, "sample" if p in samples else "plain", letter)
    picture.text(24, 78, "yellow: a sample (step 3)", "note", "start", "small")

    kinds = {}
    for name, (begin, end) in zip("abcd", first_groups):
        for slot in range(begin, end):
            kinds[first[slot]] = name

    def slots(y, title, order, groups, depth_from, depth_to, note, compared):
        picture.text(24, y, title, "text", "start", "title")
        picture.text(24, y + 30, note[0], "text", "start")
        picture.text(24, y + 54, note[1], "text", "start")
        inside = {slot for begin, end in groups for slot in range(begin, end)}
        for slot, p in enumerate(order):
            x = left_edge + slot * step_x
            picture.box(x, y + 36, 56, 30, kinds[p] if slot in inside else "bare", p)
            if p in compared:
                picture.text(x + 28, y + 28, (text[p : p + depth_to] + "$")[:depth_to][depth_from:] or "$",
                             "note", extra="mono small")
        for begin, end in groups:
            x0, x1 = left_edge + begin * step_x, left_edge + end * step_x - 4
            picture.path(f"M {x0} {y + 70} L {x0} {y + 76} L {x1} {y + 76} L {x1} {y + 70}", arrow=False)

    slots(124, "1. First sort: by the first two letters ($: the end)", first, first_groups, 0, 2,
          ("first two letters", "suffix"), range(n))
    picture.text(24, 216, "brackets: groups that agree so far", "note", "start", "small")
    slots(250, "2. One text round: each group, a segment, is sorted by its next two letters", second,
          second_groups, 2, 4, ("letters 3 and 4", "suffix"),
          [first[slot] for begin, end in first_groups for slot in range(begin, end)])

    y = 374
    picture.text(24, y, "3. Samples: both groups that are left agree in four letters", "text", "start", "title")
    rows = [
        ("sample of suffix p: p or p + 1", [f"{p} -> {own[p]}" for p in sorted(left)]),
        ("rank of a sample: its slot", ["1 -> 3 (group)", "6 -> 3 (group)", "8 -> 8", "3 -> 9"]),
        ("step to the next sample", ["1 -> 3", "6 -> 8"]),
        ("key: rank after the step", ["1: rank 9", "6: rank 8"]),
        ("so the new ranks are", ["6 -> 3", "1 -> 4"]),
    ]
    for i, (label, cells) in enumerate(rows):
        picture.text(24, y + 27 + 25 * i, label, "text", "start")
        for j, cell in enumerate(cells):
            picture.text(300 + 140 * j, y + 27 + 25 * i, cell, "text", "start", "mono")
    picture.text(24, y + 156, "The ranks of samples order both groups: sample 6 (rank 3) comes before sample 1 "
                 "(rank 4), so 6 before 1 and 5 before 0.", "note", "start", "small")
    picture.text(24, 574, "4. The suffix array", "text", "start", "title")
    for slot, p in enumerate(final):
        x = left_edge + slot * step_x
        picture.box(x, 588, 56, 30, "bare", p)
        picture.text(x + 28, 636, slot, "note", extra="mono small")
    picture.text(24, 608, "suffix", "text", "start")
    picture.text(24, 636, "slot", "note", "start")
    picture.save(path)


def exchange(path):
    """Four devices with six keys each; the leading decimal digit is the bucket."""
    devices = [
        [67, 12, 58, 83, 31, 5],
        [24, 90, 53, 37, 71, 86],
        [9, 42, 88, 20, 57, 78],
        [51, 95, 74, 26, 48, 81],
    ]
    share = 6
    keys = [key for device in devices for key in device]
    order = sorted(keys)
    counts = [[sum(1 for key in device if key // 10 == digit) for digit in range(10)] for device in devices]
    total = [sum(counts[d][digit] for d in range(4)) for digit in range(10)]
    begin = [sum(total[:digit]) for digit in range(10)]
    # Borders at 6, 12 and 18; the second lies within the bucket of the fives and asks for one digit more.
    bounds = [order[share * d] for d in range(1, 4)]
    split = [digit for d in range(1, 4) for digit in range(10)
             if begin[digit] < share * d < begin[digit] + total[digit]]
    assert split == [5], (split, total, begin)
    limits = [bound if bound // 10 in split else bound // 10 * 10 for bound in bounds]

    def destination(key):
        return sum(1 for limit in limits if key >= limit)

    received = [[[key for key in devices[s] if destination(key) == d] for s in range(4)] for d in range(4)]
    assert [sum(map(len, parts)) for parts in received] == [share] * 4
    colours = "abcd"

    picture = Picture(656, "The exchange over four devices")
    cell, gap, left = 34, 24, 24

    def at(device, place):
        return left + device * (share * cell + gap) + place * cell

    picture.text(24, 30, "1. Each device counts the leading digits of its keys; colour: the device a key will go to",
                 "text", "start", "title")
    for s, device in enumerate(devices):
        picture.text(at(s, 3), 54, f"device {s}", "note", extra="small")
        for place, key in enumerate(device):
            picture.box(at(s, place), 62, cell, 30, colours[destination(key)], f"{key:02d}", "mono small")

    y = 124
    picture.text(24, y, "2. The plan adds the counts and places the borders between shares of six",
                 "text", "start", "title")
    for digit in range(10):
        x = 160 + 60 * digit
        picture.text(x + 28, y + 24, f"{digit}x", "note", extra="mono small")
        for s in range(4):
            picture.text(x + 28, y + 42 + 17 * s, counts[s][digit], "note", extra="mono small")
        picture.text(x + 28, y + 114, total[digit], extra="mono")
        picture.text(x + 28, y + 136, begin[digit], extra="mono")
    picture.text(24, y + 24, "bucket", "text", "start")
    for s in range(4):
        picture.text(24, y + 42 + 17 * s, f"on device {s}", "note", "start", "small")
    picture.text(24, y + 114, "together", "text", "start")
    picture.text(24, y + 136, "keys before", "text", "start")
    picture.text(780, y + 46, "Borders at 6, 12 and 18.", "note", "start", "small")
    picture.text(780, y + 66, "12 lies inside bucket 5x:", "note", "start", "small")
    picture.text(780, y + 82, "its next digit is counted,", "note", "start", "small")
    picture.text(780, y + 98, f"the border is at key {bounds[1]}.", "note", "start", "small")
    for d, limit in enumerate(limits):
        digit = limit // 10
        x = 160 + 60 * digit + (28 if digit in split else -2)
        top = y + 142 if digit in split else y + 12
        picture.path(f"M {x} {top} L {x} {y + 152}", f"flow-{colours[d + 1]}", arrow=False, width=3)

    y = 312
    picture.text(24, y, "3. Every key moves once: each device sends one part to every device",
                 "text", "start", "title")
    top, bottom = y + 14, y + 186
    where = [{} for _ in range(4)]
    for s, device in enumerate(devices):
        # Grouped by destination, as the scatter writes them.
        place = 0
        for d in range(4):
            part = received[d][s]
            for key in part:
                picture.box(at(s, place), top, cell, 30, colours[d], f"{key:02d}", "mono small")
                place += 1
            where[s][d] = (at(s, place - len(part)), at(s, place), len(part))
    for d in range(4):
        place = 0
        for s in range(4):
            x0, x1, size = where[s][d]
            if size == 0:
                continue
            to = (at(d, place) + at(d, place + size)) / 2
            picture.path(f"M {(x0 + x1) / 2} {top + 30} C {(x0 + x1) / 2} {top + 100} {to} {bottom - 80} {to} {bottom - 2}",
                         f"flow-{colours[d]}", arrow=False, width=1 + 1.5 * size)
            for key in received[d][s]:
                picture.box(at(d, place), bottom, cell, 30, colours[d], f"{key:02d}", "mono small")
                place += 1
    y = 564
    picture.text(24, y, "4. Each device sorts what it has received: the chunks, one after another, are in order",
                 "text", "start", "title")
    for d in range(4):
        mine = sorted(key for part in received[d] for key in part)
        assert mine == order[share * d : share * (d + 1)]
        for place, key in enumerate(mine):
            picture.box(at(d, place), y + 14, cell, 30, colours[d], f"{key:02d}", "mono small")
        picture.text(at(d, 3), y + 64, f"device {d}", "note", extra="small")
    picture.save(path)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    tile(folder / "how_tile.svg")
    product(folder / "how_product.svg")
    suffixes(folder / "how_suffixes.svg")
    exchange(folder / "how_exchange.svg")


if __name__ == "__main__":
    main()
