"""Documents that know the line of every field."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from trainyard.base.documents.construct import as_key_or_none, is_merge
from trainyard.base.documents.nodes import ALIAS, MAPPING, SEQUENCE, Node, compose
from trainyard.base.documents.problem import TooMany, Unreadable
from trainyard.base.findings import Location, Path

BOM = b"\xef\xbb\xbf"
SURROGATE_ESCAPE = re.compile(r"\\(?:u[dD][89a-fA-F][0-9a-fA-F]{2}|.)", re.DOTALL)


@dataclass(frozen=True, eq=False, slots=True)
class Document:
    """One document of a file: its plain value, and on demand the place of every field.

    `text` is the part of the file that holds it and starts at `first_line`, for JSON behind JSON also at a later
    `first_column`; without it only the file is known.
    `refused` says that Kubernetes would not take the document although it has a value: a finding tells why.
    """

    file: str
    index: int
    value: Any
    text: bytes | None = field(default=None, repr=False)
    first_line: int = field(default=1, repr=False)
    first_column: int = field(default=1, repr=False)
    refused: bool = False

    def location(self, path: Path = (), *, key: bool = False) -> Location:
        """Return where the value at the path is written, or with `key` where its key is.

        A path that does not exist gives its nearest existing ancestor; a merged or aliased field gives the place
        where it is written. The text is parsed for its places when first asked; the last few are remembered.
        """
        if self.text is None:
            return Location(self.file, document=self.index)
        line, column = self._start() if not path else self._place(path, key=key)
        if line == 1:
            column += self.first_column - 1
        return Location(self.file, line + self.first_line - 1, column, self.index)

    def within(self, path: Path, part: str) -> Location:
        """Return where a part of the text at the path is written; where it is spelt otherwise, where the text is."""
        start = self.location(path)
        first = next((line.strip() for line in part.splitlines() if line.strip()), "")
        lines = (self.text or b"").removeprefix(BOM).decode("utf-8", "replace").split("\n")
        number, column = (start.line or 1) - self.first_line, (start.column or 1) - 1
        for at in range(number, len(lines)):
            found = lines[at].find(first, column if at == number and not (at == 0 and self.first_column > 1) else 0)
            if first and found >= 0:
                shift = self.first_column - 1 if at == 0 else 0
                return Location(self.file, at + self.first_line, found + 1 + shift, self.index)
        return start

    def _start(self) -> tuple[int, int]:
        """Find the root without parsing: the first line that is no comment and no separator."""
        lines = (self.text or b"").removeprefix(BOM).split(b"\n")
        for number, line in enumerate(lines, 1):
            content = line.lstrip(b" \t\r")
            if content and not content.startswith(b"#") and not line.startswith(b"---"):
                return number, len(line) - len(content) + 1
        return 1, 1

    def _place(self, path: Path, *, key: bool) -> tuple[int, int]:
        node = tree_of(self.text or b"")
        if node is None:
            return self._start()
        name = node
        for part in path:
            found = child(node, part)
            if found is None:
                break
            name, node = found
        return (name.line, name.column) if key else (node.line, node.column)


def child(node: Node, part: str | int) -> tuple[Node, Node] | None:
    """Return the nodes of a child's key and value; an item of a list is its own key."""
    node = behind(node)
    if node.kind == SEQUENCE:
        if isinstance(part, int) and 0 <= part < len(node.children):
            return node.children[part], node.children[part]
        return None
    if node.kind != MAPPING or isinstance(part, int):
        return None
    return pairs_of(node).get(part)


def behind(node: Node) -> Node:
    """Return the node that an alias stands for, any other as it is."""
    while node.kind == ALIAS and node.target is not None:
        node = node.target
    return node


def pairs_of(node: Node) -> dict[str, tuple[Node, Node]]:
    """Return the pairs of a mapping by key, those that are merged in too; of a key that comes twice the last."""
    if node.named is not None:
        return node.named
    found = node.named = {}
    for key, value in node.pairs():
        if is_merge(key):
            sources: Sequence[Node] = value.children if value.kind == SEQUENCE else [value]
            for source in map(behind, sources):
                found |= pairs_of(source) if source.kind == MAPPING else {}
        elif (name := as_key_or_none(key)) is not None:
            found[name] = key, value
    return found


@lru_cache(maxsize=8)
def tree_of(text: bytes) -> Node | None:
    """Return the nodes of a text that was read before, None where only JSON could read it."""
    source = text.decode("utf-8", "replace")
    if "\\u" in source:
        source = SURROGATE_ESCAPE.sub(_without_surrogate, source)
    try:
        return compose(source, judged=True)[0]
    except (Unreadable, TooMany):
        return None


def _without_surrogate(escape: re.Match[str]) -> str:
    """JSON may write a character as two surrogates, YAML may not; the places stay the same."""
    return "\\u0041" if len(escape.group()) == 6 else escape.group()
