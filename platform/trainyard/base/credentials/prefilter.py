"""A quick look at the bytes of a document: whether there may be a credential in it at all."""

from __future__ import annotations

from functools import cache, lru_cache

import re2

from trainyard.base.credentials.shapes import encodable, hints

NAME = r"(?i:token|secret|passw(?:or)?d|passphrase|passcode|[a-z0-9_.-]pass|pwd|credential|creds?)"
KEY = r"(?i:[a-z0-9][_.-]?key)"
PLURAL = r"(?i:s)?(?:[_-]?[0-9]{1,3})?"
IS = r"""\\?["']?\s*[:=][ \t]*"""
APART = r"(?:\s|#[^\n]*\n)*"
"""What may stand between a name and its value: blanks, line ends and comments."""

WORTH = (
    r"(?:[^\s{\[$tf]|\$[^A-Za-z_({]|t(?:[^r]|r[^u]|ru[^e]|rue[^\s,}\]\"'#\\])"
    r"|f(?:[^a]|a[^l]|al[^s]|als[^e]|alse[^\s,}\]\"'#\\]))"
)
"""The beginning of a value that is no reference, no map, no list, and neither true nor false."""

BELOW = r"\s*\n(?:\s*#[^\n]*\n)*\s*(?:[\"']|(?:[^\s#:{\[-]|-[^\s])(?:[^:\n]|:[^\s])*(?:\n|$))"
"""A value in a line of its own, which is none of a map and none of a list."""

FIELD = (
    rf"{NAME}{PLURAL}{IS}(?:{WORTH}|{BELOW})"
    rf"|{KEY}{PLURAL}{IS}{APART}(?:[|>]|\\?[\"']?[A-Za-z+/=_-]*[0-9])"
)
"""A value behind a name: of a key one with a digit, since many fields are called keys."""

PROPERTY = r"(?:[&!|>][^\s]*\s+)*"
"""An anchor, a tag or the sign of a block, which YAML has before a value."""

NAMED = rf"""{PROPERTY}\\?["']?[A-Za-z0-9_./-]*(?:{NAME}|{KEY}){PLURAL}\\?["']?"""
PAIR = rf"""(?:name|variable|field){IS}{APART}{NAMED}\s*(?:,|\}}|\n|#|$)"""
ENTRY = rf"""key["']?[ \t]*:{APART}{NAMED}\s*,?{APART}["']?value["']?[ \t]*:"""
BEFORE = rf"""value["']?[ \t]*:[^\n]*[\s,][\s"'{{-]*key["']?[ \t]*:{APART}{NAMED}"""
"""A name that is a value itself, and another field has the value."""

FLAG = rf"""--?[A-Za-z0-9_.-]*(?:{NAME}|{KEY}){PLURAL}\\?["']?[\s,=]"""
LOGIN = r"""(?:-u|--user)[ =]["']?[A-Za-z0-9_.@-]+:"""
SETTING = r"(?i:requirepass|masterauth)[ \t]+[^\s]|[ \t\n]login\s+\S+\s+password\s"
"""Settings whose values no sign sets apart, as Redis and ~/.netrc have them."""
OBJECT = rf"""kind["']?\s*:{APART}{PROPERTY}["']?Secret\b"""


@cache
def may() -> re2.Pattern[bytes]:
    """Return the pattern of a form of which there are keys, or of a credential's name where a value may follow."""
    patterns = (hints(), FIELD, PAIR, ENTRY, BEFORE, FLAG, LOGIN, SETTING, OBJECT)
    return re2.compile("|".join(f"(?:{pattern})" for pattern in patterns))


@lru_cache(maxsize=64)
def may_hold(text: bytes) -> bool:
    """Say whether there may be a credential in a text; nearly all that have none are told apart by this."""
    return may().search(text) is not None


@lru_cache(maxsize=2**15)
def may_have(text: str) -> bool:
    """Say the same of a text."""
    return may().search(encodable(text)) is not None
