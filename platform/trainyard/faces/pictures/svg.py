"""SVG as text: elements of a few kinds, with everything in them escaped, and no scripts, links or fonts of others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from trainyard.faces.report.legible import escaped

MARK = "<!-- trainyard picture -->"
"""Second line of every picture: what has it may be overwritten."""

HEAD = f'<?xml version="1.0" encoding="UTF-8"?>\n{MARK}\n'

NO_XML = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What no XML may hold (Extensible Markup Language 1.0, 2.2), and controls, which nobody wants to."""

WIDE = 0.56
"""Width of a character of a sans-serif font, in its height; capitals and digits of most are a little wider."""


def is_ours(data: bytes) -> bool:
    """Whether a file that begins so is a picture that was drawn here."""
    return data.startswith(HEAD.encode())


def plain(text: str) -> str:
    """Return a text as XML has it, in which nothing is hidden or turns the direction of the rest."""
    return escape(NO_XML.sub("\ufffd", escaped(text, keep="")))


def number(value: float) -> str:
    """Return a coordinate, to a tenth of a pixel.

    >>> number(3.0), number(3.14)
    ('3', '3.1')
    """
    return f"{value:.1f}".removesuffix(".0")


def attributes(**values: str | float | None) -> str:
    """Return attributes; an underscore at the end of a name is left out, and those within are hyphens."""
    named = ((name.rstrip("_").replace("_", "-"), value) for name, value in values.items() if value not in {None, ""})
    return "".join(
        f" {name}={quoteattr(plain_value(value))}" if isinstance(value, str) else f' {name}="{number(value or 0)}"'
        for name, value in named
    )


def plain_value(text: str) -> str:
    """Return the text of an attribute, which `quoteattr` escapes."""
    return NO_XML.sub("\ufffd", escaped(text, keep=""))


def rect(x: float, y: float, width: float, height: float, class_: str, *, rx: float | None = None) -> str:
    """Return a rectangle."""
    return f"<rect{attributes(class_=class_, x=x, y=y, width=width, height=height, rx=rx)}/>"


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    """Return a line."""
    return f"<line{attributes(class_=class_, x1=x1, y1=y1, x2=x2, y2=y2)}/>"


def text(x: float, y: float, words: str, class_: str = "", *, anchor: str = "") -> str:
    """Return words whose first letter stands at a place, or their middle (`middle`) or last one (`end`)."""
    return f"<text{attributes(class_=class_, x=x, y=y, text_anchor=anchor)}>{plain(words)}</text>"


def said_in_one(x: float, y: float, *parts: tuple[str, str]) -> str:
    """Return words of several classes, each behind the one before, however wide that gets."""
    spans = (
        f"<tspan{attributes(class_=class_, dx=7 if number else None)}>{plain(words)}</tspan>"
        for number, (words, class_) in enumerate(parts)
    )
    return f"<text{attributes(x=x, y=y)}>{''.join(spans)}</text>"


def squares(places: Iterable[tuple[float, float]], size: float, class_: str) -> str:
    """Return equal squares as one path, which takes a fraction of the bytes."""
    drawn = "".join(f"M{number(x)} {number(y)}h{number(size)}v{number(size)}h-{number(size)}z" for x, y in places)
    return f"<path{attributes(class_=class_, d=drawn)}/>" if drawn else ""


def group(parts: Iterable[str], *, title: str = "") -> str:
    """Return elements as one, with words that viewers show over it."""
    named = f"<title>{plain(title)}</title>" if title else ""
    return f"<g>{named}{''.join(parts)}</g>"


def fitting(words: str, width: float, height: float) -> str:
    """Return as much of some words as fits a width, in letters of a height.

    >>> fitting("vision/resnet50", 60, 10)
    'vision/re…'
    """
    room = int(width / (height * WIDE))
    return words if len(words) <= room else words[: max(room - 1, 0)] + "…"


def wide(words: str, height: float) -> float:
    """Return about how wide words are in letters of a height."""
    return len(words) * height * WIDE


def document(width: float, height: float, parts: Iterable[str], *, title: str, description: str, style: str) -> str:
    """Return a whole picture; title and description are what those hear who do not see it."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg"{attributes(width=width, height=height)}'
    head += f' viewBox="0 0 {number(width)} {number(height)}" role="img" aria-labelledby="title description">'
    named = f'<title id="title">{plain(title)}</title>\n<desc id="description">{plain(description)}</desc>'
    body = "\n".join(part for part in parts if part)
    return f"{HEAD}{head}\n{named}\n{style}\n{body}\n</svg>\n"
