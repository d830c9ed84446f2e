"""Characters that look like plain quotes, dashes and spaces, and are others to every program that reads them."""

from __future__ import annotations

import re

QUOTES = "“”„‟‘’‚‛«»"
QUOTED = re.compile(rf"[{QUOTES}][^{QUOTES}]*[{QUOTES}]|[^\s{QUOTES}]*=[{QUOTES}][^{QUOTES}]*[{QUOTES}]")
"""A text in such quotes as a whole, or the value of an option in them."""

SPACES = {
    "\u00a0": "a no-break space",
    "\u202f": "a narrow no-break space",
    "\u200b": "a zero-width space",
    "\u2060": "a word joiner",
    "\ufeff": "a byte order mark",
}
"""What nobody sees, or takes for a space."""

UNSEEN = re.compile(rf"(?<![^\x00-\x7f])[{''.join(SPACES)}](?![^\x00-\x7f])")
"""One of these between plain letters: in a text of another script it may be meant."""

DASH = "\u2010-\u2015\u2212"
DASHED = re.compile(rf"(?P<dashes>[-{DASH}]*[{DASH}][-{DASH}]*)[A-Za-z][\w.-]*(?:=.*)?")
"""An option that begins with another dash."""

LONGEST = 40
"""Characters of a text that a message shows."""


def fault(text: str, *, prose: bool = False) -> str | None:
    """Return the problem with the characters of a text that a program reads, and its remedy.

    A text that may be `prose`, as a variable's, may have any space.

    >>> fault("“train.py”")
    'is “train.py”, whose quotes are part of the text; write train.py'
    >>> fault("--lr\u00a01")
    "contains a no-break space (U+00A0) after '--lr'; write a plain space"
    >>> fault("\u2014lr=1")
    "begins with '\u2014', which is no '-'; write --lr=1"
    >>> fault("says “yes” twice") is None
    True
    """
    said = text.strip()
    if QUOTED.fullmatch(said):
        bare = "".join(char for char in text if char not in QUOTES)
        return f"is {text[:LONGEST]}, whose quotes are part of the text; write {bare[:LONGEST]}"
    if dashed := DASHED.fullmatch(said):
        plain = "--" + said.removeprefix(dashed["dashes"])
        return f"begins with {dashed['dashes']!r}, which is no '-'; write {plain[:LONGEST]}"
    if (unseen := UNSEEN.search(text)) and not prose:
        char = unseen[0]
        before = text[: unseen.start()].split()[-1:] or [""]
        is_inside = bool(before[0]) and not text.endswith(char)
        remedy = "write a plain space" if char in "\u00a0\u202f" and is_inside else "remove it"
        return f"contains {SPACES[char]} (U+{ord(char):04X}) after {before[0][-LONGEST:]!r}; {remedy}"
    return None
