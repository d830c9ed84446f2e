"""One document's text as a tree of nodes that know their places, from the events of libyaml."""

from __future__ import annotations

import re
from typing import Any

import yaml
from yaml._yaml import CParser

from trainyard.documents.problem import Problem, Unreadable

MAX_DEPTH = 200
"""Deepest nesting of lists and maps; Go's library stops at 10,000, real objects at about 60."""

SCALAR, MAPPING, SEQUENCE, ALIAS = range(4)

UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What YAML allows in no text, not even in quotes; escape sequences may still name it."""


class Node:
    """One node of the tree; line and column count from 1, lines from the start of the file.

    A scalar has `text`, a mapping `pairs`, a sequence `items`, an alias its anchor's node as `target`.
    `size` is the number of values that decoding the node makes, aliases expanded.
    """

    __slots__ = ("column", "items", "kind", "line", "pairs", "plain", "size", "tag", "target", "text")

    def __init__(self, kind: int, event: Any, first_line: int) -> None:
        mark = event.start_mark
        self.kind = kind
        self.line: int = mark.line + first_line
        self.column: int = mark.column + 1
        self.tag: str | None = getattr(event, "tag", None)
        self.plain = False
        self.text = ""
        self.pairs: list[tuple[Node, Node]] = []
        self.items: list[Node] = []
        self.target: Node | None = None
        self.size = 1


def compose(text: str, first_line: int = 1) -> tuple[Node | None, Problem | None]:
    """Return the tree of the first document in the text, and a warning if more text follows it.

    The text starts at `first_line` of its file. The node is None where the text holds no document.
    Raises Unreadable with the first syntax error.
    """
    if bad := UNPRINTABLE.search(text):
        raise Unreadable(_unprintable(text, bad, first_line))
    try:
        return _Composer(text, first_line).document()
    except yaml.MarkedYAMLError as error:
        raise Unreadable(_syntax(error, text, first_line)) from None


class _Composer:
    """Builds nodes by asking the parser for one event after another."""

    def __init__(self, text: str, first_line: int) -> None:
        self.first_line = first_line
        self.next: Any = CParser(text).get_event
        self.anchors: dict[str, Node] = {}
        self.open: set[int] = set()

    def document(self) -> tuple[Node | None, Problem | None]:
        self.next()  # the stream's start
        start = self.next()
        if start.__class__ is yaml.StreamEndEvent:
            return None, None
        root = self.node(self.next(), 0)
        end = self.next()
        return root, self.rest(explicit=end.explicit)

    def rest(self, *, explicit: bool) -> Problem | None:
        """Look at what follows the document: Kubernetes reads the first one of a text and drops the rest in silence."""
        try:
            event = self.next()
        except yaml.MarkedYAMLError as error:
            if not explicit:
                raise
            line, column = _place(error)
        else:
            if event.__class__ is yaml.StreamEndEvent:
                return None
            line, column = event.start_mark.line, event.start_mark.column
        message = "kubectl and Argo CD drop the text from here; begin the next document with '---' on its own line"
        return Problem("decode/text-after-end", message, line + self.first_line, column + 1)

    def node(self, event: Any, depth: int) -> Node:
        kind = event.__class__
        if kind is yaml.AliasEvent:
            return self.alias(event)
        if kind is yaml.ScalarEvent:
            node = Node(SCALAR, event, self.first_line)
            node.text, node.plain = event.value, event.implicit[0]
            if event.anchor is not None:
                self.anchors[event.anchor] = node
            return node
        if depth == MAX_DEPTH:
            raise Unreadable(_too_deep(event, self.first_line))
        node = Node(MAPPING if kind is yaml.MappingStartEvent else SEQUENCE, event, self.first_line)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        self.open.add(id(node))
        if node.kind == MAPPING:
            self.pairs(node, depth + 1)
        else:
            self.items(node, depth + 1)
        self.open.discard(id(node))
        return node

    def pairs(self, node: Node, depth: int) -> None:
        while (event := self.next()).__class__ is not yaml.MappingEndEvent:
            key = self.node(event, depth)
            value = self.node(self.next(), depth)
            node.pairs.append((key, value))
            node.size += key.size + value.size

    def items(self, node: Node, depth: int) -> None:
        while (event := self.next()).__class__ is not yaml.SequenceEndEvent:
            item = self.node(event, depth)
            node.items.append(item)
            node.size += item.size

    def alias(self, event: Any) -> Node:
        node = Node(ALIAS, event, self.first_line)
        target = self.anchors.get(event.anchor)
        if target is None:
            message = (
                f"alias '*{event.anchor}' has no anchor before it; write '&{event.anchor}' at the value it repeats"
            )
            raise Unreadable(Problem("decode/unknown-alias", message, node.line, node.column))
        if id(target) in self.open:
            message = f"anchor '&{event.anchor}' contains itself; write the value out"
            raise Unreadable(Problem("decode/recursive-alias", message, node.line, node.column))
        node.target = target
        node.size += target.size
        return node


def _place(error: yaml.MarkedYAMLError) -> tuple[int, int]:
    mark = error.problem_mark or error.context_mark
    return (mark.line, mark.column) if mark else (0, 0)


def _too_deep(event: Any, first_line: int) -> Problem:
    mark = event.start_mark
    message = f"nesting is deeper than {MAX_DEPTH} levels; flatten the document"
    return Problem("decode/depth", message, mark.line + first_line, mark.column + 1)


def _unprintable(text: str, bad: re.Match[str], first_line: int) -> Problem:
    before = text[: bad.start()]
    message = f"control character U+{ord(bad.group()):04X} is not allowed in YAML; remove it or escape it in quotes"
    column = len(before) - before.rfind("\n")
    return Problem("decode/control-character", message, before.count("\n") + first_line, column)


def _syntax(error: yaml.MarkedYAMLError, text: str, first_line: int) -> Problem:
    """Turn libyaml's error into one sentence at the place where it noticed."""
    line, column = _place(error)
    problem = str(error.problem or "unreadable text")
    lines = text.split("\n")
    where = lines[line] if line < len(lines) else ""
    if "\t" in problem or "tab character" in problem or where[: column + 1].strip(" ").startswith("\t"):
        message = "a tab stands where YAML wants spaces; indent with spaces"
        return Problem("decode/tab", message, line + first_line, column + 1)
    context = f" {error.context}" if error.context else ""
    message = f"not YAML: {problem}{context}; mend the syntax here"
    return Problem("decode/syntax", message, line + first_line, column + 1)
