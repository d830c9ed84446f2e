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


def is_ours(data: bytes) -> bool:
    """Whether a file that begins so is a picture that was drawn here."""
    return data.startswith(HEAD.encode())


def clean(text: str) -> str:
    """Return a text that XML can hold, in which nothing is hidden or turns the direction of the rest."""
    return NO_XML.sub("\ufffd", escaped(text, keep=""))


def number(value: float) -> str:
    """Return a coordinate, to a tenth of a pixel.

    >>> number(3.0), number(3.14)
    ('3', '3.1')
    """
    return f"{value:.1f}".removesuffix(".0")


def attributes(**values: str | float | None) -> str:
    """Return attributes; an underscore at the end of a name is left out."""
    named = ((name.rstrip("_"), value) for name, value in values.items() if value not in {None, ""})
    return "".join(
        f" {name}={quoteattr(clean(value))}" if isinstance(value, str) else f' {name}="{number(value or 0)}"'
        for name, value in named
    )


def rect(x: float, y: float, width: float, height: float, class_: str, *, rx: float | None = None) -> str:
    """Return a rectangle."""
    return f"<rect{attributes(class_=class_, x=x, y=y, width=width, height=height, rx=rx)}/>"


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    """Return a line."""
    return f"<line{attributes(class_=class_, x1=x1, y1=y1, x2=x2, y2=y2)}/>"


def text(x: float, y: float, words: str, class_: str = "") -> str:
    """Return words on one line; classes say whether their first letter or their middle is at `x`."""
    return f"<text{attributes(class_=class_, x=x, y=y)}>{escape(clean(words))}</text>"


def group(parts: Iterable[str], title: str) -> str:
    """Return elements as one, with words that viewers show over it."""
    return f"<g><title>{escape(clean(title))}</title>{''.join(parts)}</g>"


def document(width: float, height: float, parts: Iterable[str], *, title: str, description: str, style: str) -> str:
    """Return a whole picture; title and description are what those hear who do not see it."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg"{attributes(width=width, height=height)}'
    head += f' viewBox="0 0 {number(width)} {number(height)}" role="img" aria-labelledby="title description">'
    named = (
        f'<title id="title">{escape(clean(title))}</title>\n<desc id="description">{escape(clean(description))}</desc>'
    )
    body = "\n".join(parts)
    return f"{HEAD}{head}\n{named}\n{style}\n{body}\n</svg>\n"
