"""A quick look at the bytes of a document: whether there may be a credential in it at all."""

from __future__ import annotations

from functools import lru_cache

import re2

from trainyard.credentials.shapes import HINTS

NAME = r"(?i:token|secret|passw(?:or)?d|passphrase|passcode|[a-z0-9_.-]pass|pwd|credential|creds?)"
KEY = r"(?i:[a-z0-9][_.-]?key)"
PLURAL = r"(?i:s)?(?:[_-]?[0-9]{1,3})?"
IS = r"""\\?["']?[ \t]*[:=][ \t]*"""
FIELD = rf"{NAME}{PLURAL}{IS}(?:[^\s{{\[$tf]|t[^r]|f[^a])|{KEY}{PLURAL}{IS}(?:[|>]|\\?[\"']?[A-Za-z+/=_-]*[0-9])"
"""A value behind a name: of a key one with a digit, since many fields are called keys."""

PAIR = rf"""(?:name|variable|field){IS}\\?["']?[A-Za-z0-9_./-]*(?:{NAME}|{KEY}){PLURAL}\\?["']?\s*(?:,|\}}|\n|$)"""
ENTRY = rf"""key["']?[ \t]*:[ \t]*["']?[A-Za-z0-9_./-]*(?:{NAME}|{KEY}){PLURAL}["']?\s*,?\s*["']?value["']?[ \t]*:"""
"""A name that is a value itself, and another field has the value."""

FLAG = rf"""--?[A-Za-z0-9_.-]*(?:{NAME}|{KEY}){PLURAL}\\?["']?[\s,=]"""
LOGIN = r"""(?:-u|--user)[ =]["']?[A-Za-z0-9_.@-]+:"""
OBJECT = r"""kind["']?[ \t]*:[ \t]*["']?Secret["']?\s"""

MAY = "|".join(f"(?:{each})" for each in (HINTS, FIELD, PAIR, ENTRY, FLAG, LOGIN, OBJECT))
"""A form of which there are keys, or a name of a credential where a value may follow."""

_MAY = re2.compile(MAY)


@lru_cache(maxsize=64)
def may_hold(text: bytes) -> bool:
    """Say whether there may be a credential in a text; nearly all that have none are told apart by this."""
    return _MAY.search(text) is not None


@lru_cache(maxsize=2**15)
def may_have(text: str) -> bool:
    """Say the same of a text."""
    return _MAY.search(text) is not None
