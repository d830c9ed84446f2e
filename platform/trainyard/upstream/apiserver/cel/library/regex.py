"""Finding parts of text by RE2 patterns.

Source: kubernetes/apiserver v0.35.4 pkg/cel/library/regex.go.
"""

from __future__ import annotations

from trainyard.upstream.apiserver.cel import values
from trainyard.upstream.apiserver.cel.functions import Functions
from trainyard.upstream.apiserver.cel.library.standard import pattern

FUNCTIONS = Functions()

MATCH = 10
"""How many elements could be compared while one match is found."""


@FUNCTIONS.define("string.find(string) -> string")
def find(text: str, expression: str) -> str:
    """Return the first match, or nothing."""
    match = pattern(expression, captures=True).search(text)
    return match[0] if match else ""


@FUNCTIONS.define("string.findAll(string) -> list<string>", "string.findAll(string, int) -> list<string>")
def find_all(text: str, expression: str, limit: int = -1) -> list[str]:
    """All matches, or the first so many; an empty match right behind another does not count, as in Go."""
    found: list[str] = []
    end = -1
    for match in pattern(expression, captures=True).finditer(text):
        if 0 <= limit <= len(found):
            break
        if match.start() == match.end() == end:
            continue
        values.toil(MATCH)
        found.append(match[0])
        end = match.end()
    return found
