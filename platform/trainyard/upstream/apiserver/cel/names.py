"""Property names as identifiers: `a-b` is `a__dash__b` in an expression.

Source: kubernetes/apiserver v0.35.4 pkg/cel/escaping.go.
"""

from __future__ import annotations

import re

RESERVED = frozenset(
    {
        *("true", "false", "null", "in"),
        *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop"),
        *("namespace", "package", "return", "var", "void", "while"),
    }
)
"""Words that the language keeps; a property of such a name is `__namespace__`, or the word itself after a dot."""

_ESCAPED = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_NAME = re.compile(r"[A-Za-z_.\-/][A-Za-z0-9_.\-/]*", re.ASCII)
_PARTS = re.compile(r"__|[.\-/]")


def escape(name: str) -> str | None:
    """Return a property's name in expressions, None where it can have none."""
    if name in RESERVED:
        return f"__{name}__"
    if not _NAME.fullmatch(name):
        return None
    return _PARTS.sub(lambda match: _ESCAPED[match[0]], name)
