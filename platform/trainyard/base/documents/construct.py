"""A tree of nodes as plain values, with everything that Kubernetes refuses on the way."""

from __future__ import annotations

import base64
import math
import re
from dataclasses import replace
from datetime import datetime
from typing import Any

from trainyard.base.documents.nodes import ALIAS, MAPPING, SCALAR, SEQUENCE, Node
from trainyard.base.documents.problem import Problem, Unreadable
from trainyard.base.documents.scalars import INT64_MAX, Scalar, as_json, as_key, resolve
from trainyard.base.findings import Path, count_of
from trainyard.base.limits import FINDINGS

TAG = "tag:yaml.org,2002:"
BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
TIMESTAMP = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)(?:(?P<apart>[Tt ])(\d\d?):(\d\d?):(\d\d?)(?:\.\d+)?(?P<zone>Z|[+-]\d\d:\d\d)?)?", re.ASCII
)
RESOLVED_TAGS = {TAG + name for name in ("str", "bool", "int", "float", "null", "timestamp")}


def construct(root: Node) -> tuple[Any, list[Problem]]:
    """Return the value of the tree and the problems that leave it a value, such as duplicate keys.

    Raises Unreadable at the first problem that leaves none: a null key, `.nan`, too many aliases.
    """
    builder = _Builder()
    builder.check_aliases(root)
    value = builder.value(root)
    paths = _paths(root, {id(node) for node, _ in builder.repeated}) if builder.repeated else {}
    problems = [replace(problem, path=paths.get(id(node))) for node, problem in builder.repeated]
    if (more := builder.again - FINDINGS) > 0:
        message = f"and {count_of(more, 'more key')} {'appears' if more == 1 else 'appear'} twice in this document"
        problems.append(Problem("decode/duplicate-key", message, root.line, root.column))
    return value, problems


class _Builder:
    """Holds what one construction finds; every alias makes a copy, so that no two fields share a value."""

    def __init__(self) -> None:
        self.repeated: list[tuple[Node, Problem]] = []
        self.again = 0

    def check_aliases(self, root: Node) -> None:
        written, total = _written(root), root.size
        aliased = total - written
        if aliased > 100 and total > 1000 and aliased / total > _allowed_ratio(total):
            message = f"aliases expand {written} values to {total}; write the values out"
            raise Unreadable(Problem("decode/alias-expansion", message, root.line, root.column))

    def value(self, node: Node) -> Any:
        if node.kind == SCALAR:
            return self.scalar(node)
        if node.kind == SEQUENCE:
            return [self.value(item) for item in node.children]
        if node.kind == MAPPING:
            out: dict[str, Any] = {}
            self.fill(node, out, {})
            return out
        assert node.target is not None
        return self.value(node.target)

    def scalar(self, node: Node) -> Scalar:
        value = as_json(scalar_value(node))
        if isinstance(value, float) and not math.isfinite(value):
            spelt = "what is too large" if node.text[-1:].isdigit() else node.text
            message = f"{spelt} is not a number in JSON; write a finite number, or quote it"
            raise Unreadable(Problem("decode/not-finite", message, node.line, node.column))
        return value

    def fill(self, node: Node, out: dict[str, Any], places: Places, *, merged: bool = False) -> None:
        """Add the pairs of a mapping to `out`, those that it merges where `<<` stands."""
        for key_node, value_node in node.pairs():
            if is_merge(key_node):
                for source in merge_sources(value_node):
                    self.fill(source, out, places, merged=True)
                continue
            key = key_of(key_node)
            value = self.value(value_node)
            if key in places:
                self.again += 1
                if self.again <= FINDINGS:
                    self.repeated.append((key_node, _repeated(key, key_node, places[key], merged=merged)))
            out[key] = value
            places[key] = key_node, merged


Places = dict[str, tuple[Node, bool]]
"""Where a key of a map is written so far, and whether it came by `<<`."""


def is_merge(key: Node) -> bool:
    """Whether a key is the merge key `<<`, not merely a string that reads so."""
    return key.kind == SCALAR and key.text == "<<" and (key.plain or key.tag == TAG + "merge")


def merge_sources(value: Node) -> list[Node]:
    """Return the mappings that `<<` merges, in the order in which they apply: the first of a list comes last."""
    nodes = reversed(value.children) if value.kind == SEQUENCE else iter([value])
    sources = []
    for node in nodes:
        source = node.target if node.kind == ALIAS else node
        if source is None or source.kind != MAPPING:
            message = "'<<' merges a value that is not a map; use a map, or a list of maps"
            raise Unreadable(Problem("decode/merge", message, node.line, node.column))
        sources.append(source)
    return sources


def key_of(node: Node) -> str:
    """Return the JSON key of a key node; raises Unreadable where Kubernetes refuses it."""
    while node.kind == ALIAS and node.target is not None:
        node = node.target
    if node.kind != SCALAR:
        what = "map" if node.kind == MAPPING else "list"
        message = f"a key is a {what}; keys must be strings"
        raise Unreadable(Problem("decode/key", message, node.line, node.column))
    key = as_key(scalar_value(node))
    if key is None:
        message = f"key {node.text or 'null'!r} is not a string in JSON; quote it"
        raise Unreadable(Problem("decode/key", message, node.line, node.column))
    return key


def as_key_or_none(node: Node) -> str | None:
    """Return the JSON key of a key node, or None where it has none."""
    try:
        return key_of(node)
    except Unreadable:
        return None


def scalar_value(node: Node) -> Scalar:
    """Resolve a scalar by its style and tag; tags of one's own make strings (go-yaml `resolve.go`)."""
    tag, text = node.tag, node.text
    if tag is None:
        return resolve(text) if node.plain else text
    if tag == TAG + "binary":
        return _binary(node)
    if tag not in RESOLVED_TAGS or tag == TAG + "str":
        return text
    value = resolve(text)
    if tag == TAG + "float" and type(value) is int and value <= INT64_MAX:
        return float(value)
    if not _fits(tag, value, text):
        raise Unreadable(_mistagged(node))
    return value


def _binary(node: Node) -> str:
    """Decode base64; bytes that are no UTF-8 become replacement characters one by one, as Go's JSON writes them."""
    text = node.text.replace("\n", "").replace("\r", "")
    if not BASE64.fullmatch(text):
        raise Unreadable(_mistagged(node))
    return ESCAPED_BYTE.sub("\ufffd", base64.b64decode(text).decode("utf-8", "surrogateescape"))


def _fits(tag: str, value: Scalar, text: str) -> bool:
    name = tag.removeprefix(TAG)
    if name == "timestamp":
        return isinstance(value, str) and _is_timestamp(text)
    types = {"bool": bool, "int": int, "float": float, "null": type(None)}
    return type(value) is types[name]


def _is_timestamp(text: str) -> bool:
    """Whether go-yaml takes a text for a time: with a zone after `T`, without one after a space."""
    match = TIMESTAMP.fullmatch(text)
    if match is None or (match["apart"] in ("T", "t")) != bool(match["zone"]):
        return False
    year, month, day, _, hour, minute, second = (
        int(part) if part and part.isdigit() else 0 for part in match.groups()[:7]
    )
    try:
        datetime(year, month, day, hour, minute, second)  # noqa: DTZ001  # only whether it exists
    except ValueError:
        return False
    return True


def _mistagged(node: Node) -> Problem:
    name = (node.tag or "").removeprefix(TAG)
    message = f"the value does not match its tag '!!{name}'; remove the tag or correct the value"
    return Problem("decode/tag", message, node.line, node.column)


def _repeated(key: str, node: Node, first: tuple[Node, bool], *, merged: bool) -> Problem:
    """Say that a key is set twice; strict servers refuse it for merged keys too."""
    if merged or first[1]:
        message = f"key {key[:60]!r} is set here and by '<<' too, which the API server refuses; keep one"
        return Problem("decode/merged-key", message, node.line, node.column)
    message = f"key {key[:60]!r} is written twice, first on line {first[0].line}; keep one"
    return Problem("decode/duplicate-key", message, node.line, node.column)


def _paths(root: Node, keys: set[int]) -> dict[int, Path]:
    """Return the paths of these key nodes where they are written, in one walk over the tree."""
    paths: dict[int, Path] = {}
    todo: list[tuple[Node, Path]] = [(root, ())]
    while todo:
        node, path = todo.pop()
        if node.kind == SEQUENCE:
            todo += [(item, (*path, index)) for index, item in enumerate(node.children)]
        elif node.kind == MAPPING:
            for key, value in node.pairs():
                inner = path if is_merge(key) else (*path, key_of(key))
                if id(key) in keys:
                    paths[id(key)] = inner
                todo.append((value, inner))
    return paths


def _written(root: Node) -> int:
    """Count the nodes as written, aliases not expanded."""
    count, todo = 0, [root]
    while todo:
        node = todo.pop()
        count += 1
        todo.extend(node.children)
    return count


def _allowed_ratio(total: int) -> float:
    """Return the share of values that aliases may make, as go-yaml's `decode.go` limits it."""
    low, high = 400_000, 4_000_000
    if total <= low:
        return 0.99
    return max(0.10, 0.99 - 0.89 * (total - low) / (high - low))
