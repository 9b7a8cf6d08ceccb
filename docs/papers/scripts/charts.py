# SPDX-License-Identifier: Apache-2.0
"""Charts of the pages."""

import math

from performance import Picture, number


STYLES = [("own", "circle"), ("a", "up"), ("b", "square"), ("c", "diamond"), ("d", "down"), ("e", "circle"), ("copy", "cross")]


def chart(title, x_label, y_label, series, log_y=True, log_x=True):
    """Lines of {label: [(x, y), ...]} over x or its binary logarithm."""
    picture = Picture(820, 440, title)
    left, right, top, bottom = 70, 800, 62 + 20 * ((len(series) + 3) // 4), 390
    points = [p for line in series.values() for p in line]
    scaled = math.log2 if log_x else float
    x_ends = [scaled(f(x for x, _ in points)) for f in (min, max)]
    low, high = (f(y for _, y in points) for f in (min, max))
    if log_y:
        y_ends = (math.floor(math.log10(low)), math.ceil(math.log10(high)))
        ticks = [10.0 ** e * k for e in range(y_ends[0], y_ends[1] + 1) for k in (1, 2, 5)]
        ticks = [t for t in ticks if low * 0.8 <= t <= high * 1.25]
        y_ends = (math.log10(low * 0.8), math.log10(high * 1.25))
    else:
        step = 10 ** math.floor(math.log10(high)) / 2
        y_ends = (0, high * 1.05)
        ticks = [step * k for k in range(int(high / step) + 1)]
    x_of = lambda x: left + (right - left) * (scaled(x) - x_ends[0]) / max(x_ends[1] - x_ends[0], 1)
    y_of = lambda y: bottom - (bottom - top) * ((math.log10(y) if log_y else y) - y_ends[0]) / (y_ends[1] - y_ends[0])
    picture.text(16, 28, title, size=15, weight="bold")
    for tick in ticks:
        picture.line(left, y_of(tick), right, y_of(tick))
        picture.text(left - 8, y_of(tick) + 4, f"{tick:g}", "end", 11)
    if log_x:
        for power in range(math.ceil(x_ends[0]), int(x_ends[1]) + 1, max(1, round((x_ends[1] - x_ends[0]) / 10))):
            picture.text(x_of(2 ** power), bottom + 18, str(2 ** power) if power < 14 else f"2^{power}", "middle", 11)
    else:
        for x in sorted({x for x, _ in points}):
            picture.text(x_of(x), bottom + 18, f"{x:g}", "middle", 11)
    picture.line(left, bottom, right, bottom, "axis")
    picture.text((left + right) / 2, bottom + 40, x_label, "middle")
    picture.add(f"<text class=\"ink\" font-size=\"12\" text-anchor=\"middle\" transform=\"translate(18 "
                f"{(top + bottom) / 2}) rotate(-90)\">{y_label}</text>")
    for i, (label, line) in enumerate(series.items()):
        name, shape = STYLES[i % len(STYLES)]
        dashed = i >= len(STYLES)
        xy = [(x_of(x), y_of(y)) for x, y in sorted(line)]
        picture.curve(xy, name, dashed)
        for x, y in xy:
            picture.mark(x, y, name, shape, 3.4)
        picture.legend(left + 182 * (i % 4), 50 + 20 * (i // 4), [(label, name, None if dashed else shape, dashed)], 0)
    return picture.svg()


def stacked(title, note, bars, shares=True):
    """A horizontal bar for each of {label: {part: value}}, as shares of its sum or as long as its sum."""
    parts = list(dict.fromkeys(part for values in bars.values() for part in values))
    highest = max(sum(values.values()) for values in bars.values())
    picture = Picture(820, 92 + 26 * len(bars) + 20 * ((len(parts) + 3) // 4), title)
    picture.text(16, 28, title, size=15, weight="bold")
    picture.text(16, 48, note, size=11.5, name="soft")
    for i, part in enumerate(parts):
        picture.legend(16 + 196 * (i % 4), 72 + 20 * (i // 4), [(part, STYLES[i % len(STYLES)][0], "square", False)], 0)
    y = 66 + 20 * ((len(parts) + 3) // 4)
    for label, values in bars.items():
        picture.text(190, y + 15, label, "end", 11.5)
        x, whole = 200.0, sum(values.values())
        for i, part in enumerate(parts):
            width = 590 * values.get(part, 0) / whole if shares else 550 * values.get(part, 0) / highest
            picture.bar(x, y, width, 18, STYLES[i % len(STYLES)][0])
            if width > 34:
                picture.text(x + width / 2, y + 14, f"{100 * values[part] / whole:.0f} %" if shares else number(values[part]), "middle", 11, "bg")
            x += width
        if not shares:
            picture.text(x + 6, y + 14, number(whole), "start", 11)
        y += 26
    return picture.svg()


def bars(title, note, groups, labels=()):
    """A horizontal bar for each value of {group: {label: value}}, one below the other."""
    labels = list(labels) or list(dict.fromkeys(label for values in groups.values() for label in values))
    rows = sum(len(values) for values in groups.values())
    picture = Picture(820, 100 + 15 * rows + 8 * len(groups) + 20 * ((len(labels) + 3) // 4), title)
    picture.text(16, 28, title, size=15, weight="bold")
    picture.text(16, 48, note, size=11.5, name="soft")
    for i, label in enumerate(labels):
        picture.legend(16 + 196 * (i % 4), 72 + 20 * (i // 4), [(label, STYLES[i % len(STYLES)][0], "square", False)], 0)
    highest = max(value for values in groups.values() for value in values.values())
    y = 66 + 20 * ((len(labels) + 3) // 4)
    for group, values in groups.items():
        picture.text(190, y + 7.5 * len(values) + 4, group, "end", 11.5)
        for label, value in values.items():
            picture.bar(200, y, 520 * value / highest, 12, STYLES[labels.index(label) % len(STYLES)][0])
            picture.text(206 + 520 * value / highest, y + 10, number(value), "start", 11)
            y += 15
        y += 8
    return picture.svg()
