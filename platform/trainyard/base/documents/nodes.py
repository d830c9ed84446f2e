"""One document's text as a tree of nodes that know their places, from the events of libyaml."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import yaml
from yaml._yaml import CParser

from trainyard.base.documents import syntax
from trainyard.base.documents.problem import Problem, TooMany, Unreadable
from trainyard.base.limits import DOCUMENT_VALUES

MAX_DEPTH = 200
"""Deepest nesting of lists and maps, aliases followed; go-yaml stops at 10,000, published CRDs go 41 deep."""

MAX_SECOND_LOOKS = 16 * 2**20
"""How many characters may be parsed again for what go-yaml accepts and libyaml does not."""

SCALAR, MAPPING, SEQUENCE, ALIAS = range(4)


class Node:
    """One node of the tree; line and column count from 1, lines from the start of the file.

    A scalar has `text` and whether it is `plain`; a mapping has its keys and values in turn as `children`, a sequence
    its items; an alias has its anchor's node as `target`. `size` is the number of values that decoding the node
    makes and `height` how many collections stand in one another in it, aliases expanded.
    """

    __slots__ = ("children", "column", "height", "kind", "line", "named", "plain", "size", "tag", "target", "text")

    def __init__(self, kind: int, event: Any, first_line: int) -> None:
        mark = event.start_mark
        self.kind = kind
        self.line: int = mark.line + first_line
        self.column: int = mark.column + 1
        self.tag: str | None = None
        self.plain = False
        self.text = ""
        self.children: Sequence[Node] = ()
        self.target: Node | None = None
        self.size = 1
        self.height = 0
        self.named: dict[str, tuple[Node, Node]] | None = None
        """The keys and values of a mapping by key, once somebody asked for one; merged ones are not among them."""

    def pairs(self) -> Iterator[tuple[Node, Node]]:
        """Yield the keys of a mapping with their values, as written."""
        turns = iter(self.children)
        return zip(turns, turns, strict=True)


def compose(text: str, first_line: int = 1, *, judged: bool = False) -> tuple[Node | None, Problem | None]:
    """Return the tree of the first document in the text, and a warning if more text follows it.

    The text starts at `first_line` of its file. The node is None where the text holds no document. Raises Unreadable
    with the first problem, unless the text was `judged` before and only its places are wanted.
    """
    if not judged and (problem := syntax.unprintable(text, first_line)):
        raise Unreadable(problem)
    source, adapted = text, False
    looks = 0 if syntax.COLON in text or syntax.DROPPED in text else MAX_SECOND_LOOKS // (len(text) + 1)
    while True:
        try:
            return _Composer(source, first_line, judged=judged, adapted=adapted).document()
        except yaml.MarkedYAMLError as error:
            looks -= 1
            accepted = syntax.accept_syntax(error, source) if looks > 0 else None
            if accepted is None:
                raise Unreadable(syntax.problem_of(error, text, first_line)) from None
            source, adapted = accepted, True
        except yaml.YAMLError:
            raise Unreadable(Problem("decode/syntax", "not YAML; correct the syntax", first_line, 1)) from None


class _Composer:
    """Builds nodes by asking the parser for one event after another."""

    def __init__(self, text: str, first_line: int, *, judged: bool, adapted: bool) -> None:
        self.text = text
        self.first_line = first_line
        self.adapted = adapted
        self.wary = not judged and ("\\/" in text or "?" in text)
        self.next: Any = CParser(text).get_event
        self.anchors: dict[str, Node] = {}
        self.open: set[int] = set()
        self.flows = 0
        self.left = DOCUMENT_VALUES

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
            line, column = syntax.place(error)
        else:
            if event.__class__ is yaml.StreamEndEvent:
                return None
            line, column = event.start_mark.line, event.start_mark.column
        message = "kubectl and Argo CD drop the text from here; begin a document with '---' on its own line"
        return Problem("decode/text-after-end", message, line + self.first_line, column + 1)

    def node(self, event: Any, depth: int) -> Node:
        kind = event.__class__
        self.left -= 1
        if self.left < 0:
            raise TooMany
        if kind is yaml.ScalarEvent:
            return self.scalar(event)
        if kind is yaml.AliasEvent:
            return self.alias(event, depth)
        node = Node(MAPPING if kind is yaml.MappingStartEvent else SEQUENCE, event, self.first_line)
        _check_depth(node, depth + 1)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        self.open.add(id(node))
        self.flows += event.flow_style
        self.children(node, depth + 1)
        self.flows -= event.flow_style
        self.open.discard(id(node))
        return node

    def scalar(self, event: Any) -> Node:
        node = Node(SCALAR, event, self.first_line)
        node.text, node.plain, node.tag = event.value, event.implicit[0], event.tag
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        if self.wary:
            source = self.text[event.start_mark.index : event.end_mark.index]
            if why := syntax.refuse_scalar(source, event.style, in_flow=self.flows > 0):
                raise Unreadable(Problem("decode/syntax", why, node.line, node.column))
        if self.adapted:
            node.text = node.text.replace(syntax.COLON, ":").replace(syntax.DROPPED, "")
        return node

    def children(self, node: Node, depth: int) -> None:
        end = yaml.MappingEndEvent if node.kind == MAPPING else yaml.SequenceEndEvent
        children: list[Node] = []
        while (event := self.next()).__class__ is not end:
            child = self.node(event, depth)
            children.append(child)
            node.size += child.size
            if child.height > node.height:
                node.height = child.height
        node.children = children
        node.height += 1

    def alias(self, event: Any, depth: int) -> Node:
        node = Node(ALIAS, event, self.first_line)
        target = self.anchors.get(event.anchor)
        if target is None:
            message = "this alias has no anchor before it; add the anchor, or quote the text"
            raise Unreadable(Problem("decode/unknown-alias", message, node.line, node.column))
        if id(target) in self.open:
            message = "this alias is inside its own anchor; write the value out"
            raise Unreadable(Problem("decode/recursive-alias", message, node.line, node.column))
        _check_depth(node, depth + target.height)
        node.target, node.height = target, target.height
        node.size += target.size
        return node


def _check_depth(node: Node, depth: int) -> None:
    if depth > MAX_DEPTH:
        message = f"nesting is deeper than {MAX_DEPTH} levels; flatten the document"
        raise Unreadable(Problem("decode/depth", message, node.line, node.column))
