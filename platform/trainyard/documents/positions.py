"""Documents that know the line of every field, and the notation for a field's path."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from trainyard.documents.construct import as_key_or_none, is_merge
from trainyard.documents.nodes import ALIAS, MAPPING, SEQUENCE, Node, compose
from trainyard.documents.problem import Path, Unreadable
from trainyard.findings import Location

PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
SURROGATE_ESCAPE = re.compile(r"\\(?:u[dD][89a-fA-F][0-9a-fA-F]{2}|.)", re.DOTALL)


@dataclass(eq=False, slots=True)
class Document:
    """One document of a file: its plain value, and on demand the place of every field.

    `text` is the part of the file that holds it and starts at `first_line`; without it only the file is known.
    `refused` says that Kubernetes would not take the document although it has a value: a finding tells why.
    """

    file: str
    index: int
    value: Any
    text: bytes | None = field(default=None, repr=False)
    first_line: int = field(default=1, repr=False)
    refused: bool = False
    _root: Node | None = field(default=None, init=False, repr=False)
    _composed: bool = field(default=False, init=False, repr=False)

    def location(self, path: Path = (), *, key: bool = False) -> Location:
        """Return where the value at the path is written, or with `key` where its key is.

        A path that does not exist gives its nearest existing ancestor; a merged or aliased field gives the place
        where it is written. The text is parsed for places once, when first asked.
        """
        node = self._tree()
        if node is None:
            return Location(self.file, self.first_line if self.text else None, None, self.index)
        name = node
        for part in path:
            found = child(node, part)
            if found is None:
                break
            name, node = found
        place = name if key else node
        return Location(self.file, place.line, place.column, self.index)

    def _tree(self) -> Node | None:
        if not self._composed:
            self._composed = True
            if self.text is not None:
                self._root = _tree_of(self.text, self.first_line)
        return self._root


def child(node: Node, part: str | int) -> tuple[Node, Node] | None:
    """Return the nodes of a child's key and value; an item of a list is its own key."""
    while node.kind == ALIAS and node.target is not None:
        node = node.target
    if node.kind == SEQUENCE:
        if isinstance(part, int) and 0 <= part < len(node.children):
            return node.children[part], node.children[part]
        return None
    if node.kind != MAPPING or isinstance(part, int):
        return None
    found = None
    for key, value in node.pairs():
        if is_merge(key):
            sources: Sequence[Node] = value.children if value.kind == SEQUENCE else [value]
            found = next((pair for source in reversed(sources) if (pair := child(source, part))), found)
        elif as_key_or_none(key) == part:
            found = key, value
    return found


def _tree_of(text: bytes, first_line: int) -> Node | None:
    source = text.decode("utf-8", "replace")
    if "\\u" in source:
        source = SURROGATE_ESCAPE.sub(_without_surrogate, source)
    try:
        return compose(source, first_line, judged=True)[0]
    except Unreadable:
        return None


def _without_surrogate(escape: re.Match[str]) -> str:
    """JSON may write a character as two surrogates, YAML may not; the places stay the same."""
    return "\\u0041" if len(escape.group()) == 6 else escape.group()


def format_path(path: Path) -> str:
    """Write a path as a field: `spec.containers[0].resources.limits["nvidia.com/gpu"]`."""
    out = ""
    for part in path:
        if isinstance(part, int):
            out += f"[{part}]"
        elif PLAIN_KEY.fullmatch(part):
            out += f".{part}" if out else part
        else:
            out += '["' + part.replace("\\", "\\\\").replace('"', '\\"') + '"]'
    return out
