"""Components of pictures: boxes that know their size, and rows, columns and frames that measure what is in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from trainyard.faces.pictures import svg

WIDTH = 960.0
"""Width of the content of every picture."""

SIZES = {"h1": 20.0, "h2": 14.0, "big": 14.0, "s": 10.0, "m": 9.0, "i": 7.0}
"""Heights of letters by class; others are 12 pixels high."""

BOLD = frozenset({"h1", "h2", "b", "m", "i", "a"})

WIDTHS = {0.32: "ijl,.'| ·", 0.43: "frt-/:;()![]I", 0.56: "ckvxyzs", 0.84: "w+→×OQ", 1.0: "mMW@%…↻✕▲▼"}
"""Widths of letters in their height, those of DejaVu Sans, the widest of common fonts; others are `LETTER` wide."""

LETTER, WIDE_AS = 0.66, {letter: width for width, letters in WIDTHS.items() for letter in letters}

Draw = Callable[[float, float], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Box:
    """Something of a known size, which is drawn wherever its upper left corner comes to be."""

    width: float
    height: float
    at: Draw


def wide(words: str, class_: str = "") -> float:
    """Return how wide words are at most, whatever the font; a letter of China or Japan is as wide as high."""
    letters = sum(WIDE_AS.get(letter, 1.0 if letter > "\u2e00" else LETTER) for letter in words)
    return letters * height_of(class_) * (1.1 if BOLD & set(class_.split()) else 1.0)


def height_of(class_: str) -> float:
    """Return how high the letters of a class are."""
    return next((SIZES[name] for name in class_.split() if name in SIZES), 12.0)


def label(words: str, class_: str = "") -> Box:
    """Return words on one line."""
    size, width = height_of(class_), wide(words, class_)
    begin = width if "ra" in class_.split() else 0.0
    return Box(width, size * 4 / 3, lambda x, y: [svg.text(x + begin, y + size, words, class_)])


def paragraph(words: str, width: float, class_: str = "") -> Box:
    """Return words on as many lines as it takes; nothing is cut. Those of class `ra` end at the right of the width."""
    lines = [label(line, class_) for line in broken(words, width, class_)]
    return column(sized(line, width, 1.0) for line in lines) if "ra" in class_.split() else column(lines)


def broken(words: str, width: float, class_: str = "") -> Iterator[str]:
    """Yield the lines of words: broken at blanks, and where a word is too wide, after a slash or hyphen or anywhere."""
    line = ""
    for piece in re.findall(r"\S+\s*", svg.clean(words)):
        if line and wide((line + piece).rstrip(), class_) > width:
            yield line.rstrip()
            line = ""
        line += piece
        while wide(line.rstrip(), class_) > width:
            most = next(count for count in range(len(line), 0, -1) if count == 1 or wide(line[:count], class_) <= width)
            room = max((at + 1 for at in range(most) if line[at] in "/-"), default=most)
            yield line[:room]
            line = line[room:]
    if line.strip():
        yield line.rstrip()


def row(boxes: Iterable[Box], gap: float = 0.0, *, align: float = 0.0) -> Box:
    """Return boxes side by side; `align` is 0 for their tops on one line, 0.5 for their middles."""
    every = list(boxes)
    height = max((box.height for box in every), default=0.0)
    lefts = offsets([box.width for box in every], gap)
    tops = [(height - box.height) * align for box in every]
    return Box(total([box.width for box in every], gap), height, placed(every, lefts, tops))


def column(boxes: Iterable[Box], gap: float = 0.0) -> Box:
    """Return boxes below each other, those of no height left out."""
    every = [box for box in boxes if box.height]
    tops = offsets([box.height for box in every], gap)
    width = max((box.width for box in every), default=0.0)
    return Box(width, total([box.height for box in every], gap), placed(every, [0.0] * len(every), tops))


def flow(boxes: Iterable[Box], width: float, gap: float, between: float | None = None, *, align: float = 0.0) -> Box:
    """Return boxes side by side, in as many rows as it takes; the gap `between` rows is by default that of boxes."""
    rows: list[list[Box]] = []
    for box in boxes:
        if rows and total([one.width for one in rows[-1]], gap) + gap + box.width <= width:
            rows[-1].append(box)
        else:
            rows.append([box])
    return column((row(side, gap, align=align) for side in rows), gap if between is None else between)


def grid(boxes: Sequence[Box], across: int, gap: float) -> Box:
    """Return equal boxes in rows of so many."""
    return column((row(boxes[at : at + across], gap) for at in range(0, len(boxes), across)), gap)


def stacked(*boxes: Box) -> Box:
    """Return boxes on top of each other, the last one uppermost."""
    height, width = max(box.height for box in boxes), max(box.width for box in boxes)
    return Box(width, height, placed(boxes, [0.0] * len(boxes), [0.0] * len(boxes)))


def sized(box: Box, width: float, align: float = 0.0) -> Box:
    """Return a box in a column of some width: at its left, or at its right where `align` is 1."""
    return Box(width, box.height, lambda x, y: box.at(x + (width - box.width) * align, y))


def cell(width: float, height: float, class_: str, rx: float | None = None) -> Box:
    """Return a rectangle, once in each class: what fills it, and a line around it."""
    return Box(width, height, lambda x, y: [svg.rect(x, y, width, height, one, rx=rx) for one in class_.split()])


def blank(width: float, height: float) -> Box:
    """Return room in which nothing is."""
    return Box(width, height, lambda _x, _y: ())


def upright(height: float, class_: str) -> Box:
    """Return a line from top to bottom."""
    return Box(0, height, lambda x, y: [svg.line(x, y, x, y + height, class_)] if height else [])


def lettered(box: Box, letters: str, class_: str) -> Box:
    """Return a box with a few letters in its middle."""
    x0, y0 = box.width / 2, box.height / 2 + height_of(class_) / 3
    return Box(box.width, box.height, lambda x, y: [*box.at(x, y), svg.text(x + x0, y + y0, letters, f"{class_} n")])


def framed(box: Box, class_: str, pad: float, rx: float) -> Box:
    """Return a box with some room and a line around it."""
    width, height = box.width + 2 * pad, box.height + 2 * pad
    frame = cell(width, height, class_, rx)
    return Box(width, height, lambda x, y: [*frame.at(x, y), *box.at(x + pad, y + pad)])


def titled(box: Box, title: str) -> Box:
    """Return a box with words that viewers show over it."""
    return Box(box.width, box.height, lambda x, y: [svg.group(box.at(x, y), title)])


def legend(samples: Iterable[tuple[Box, str]]) -> Box:
    """Return the meanings of samples, side by side."""
    return flow((row([sample, label(words, "f")], 7, align=0.5) for sample, words in samples), WIDTH, 16, 4)


def total(sizes: Sequence[float], gap: float) -> float:
    """Return the size of things with gaps between them."""
    return sum(sizes) + gap * max(0, len(sizes) - 1)


def offsets(sizes: Sequence[float], gap: float) -> list[float]:
    """Return where each of several things begins that follow each other."""
    return [sum(sizes[:at]) + gap * at for at in range(len(sizes))]


def placed(boxes: Sequence[Box], lefts: Sequence[float], tops: Sequence[float]) -> Draw:
    """Return a function that draws boxes at their places."""
    return lambda x, y: (
        part for box, left, top in zip(boxes, lefts, tops, strict=True) for part in box.at(x + left, y + top)
    )
