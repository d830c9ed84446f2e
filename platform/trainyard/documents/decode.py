"""Bytes as documents: the stream split as kubectl splits it, each document built fast or, if remarkable, with care."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final

import yaml
from yaml._yaml import CParser

from trainyard.documents.construct import construct
from trainyard.documents.nodes import MAX_DEPTH, compose
from trainyard.documents.positions import Document
from trainyard.documents.problem import Problem, Unreadable
from trainyard.documents.scalars import as_json, as_key, resolve
from trainyard.findings import Finding, Location, Severity

MAX_BYTES = 64 * 2**20
"""Largest file that is read; 10 MiB is Argo CD's own limit for a folder's manifests."""

SEPARATOR = re.compile(rb"^---[^\n]*\n?", re.MULTILINE)
REMARKABLE = re.compile(rb"(?:^|[\s\[\]{},:])(?:[&*][0-9A-Za-z_-]|!|<<)|\xc2\x85|\xe2\x80[\xa8\xa9]")
"""May hold an anchor, an alias, a tag or a merge key; or line breaks that only YAML knows."""

UTF16 = (b"\xff\xfe", b"\xfe\xff")
BOM = b"\xef\xbb\xbf"
MISSING: Final = object()


class _Remarkable(Exception):  # noqa: N818  # a signal inside this module, never an error
    """The fast builder met what only the careful one can judge."""


def load(data: bytes, *, file: str) -> tuple[list[Document], list[Finding]]:
    """Read every document of a file, typed as Kubernetes types it; never raises, whatever the bytes.

    Empty documents are skipped. A document with a duplicate key has both a finding and a value, the last one
    written; a document without a value has only its finding. Findings are of layer `decode`.
    """
    if problem := _unreadable_file(data):
        return [], [_finding(problem, file, None)]
    documents: list[Document] = []
    findings: list[Finding] = []
    index = 0
    memo = _Memo()
    for part, first_line, problem in _split(data.removeprefix(BOM)):
        values, problems = ([], [problem]) if problem else _read(part, first_line, memo)
        findings += [_finding(found, file, index) for found in problems]
        documents += [
            Document(file, index + offset, value, part, first_line)
            for offset, value in enumerate(value for value in values if value is not None)
        ]
        index += max(len(values), 1) if values != [None] or problems else 0
    if not documents and not findings:
        problem = Problem("decode/empty-file", "file holds no document; write one or delete the file", 1, 1)
        findings.append(_finding(problem, file, None))
    return documents, findings


def _unreadable_file(data: bytes) -> Problem | None:
    if len(data) > MAX_BYTES:
        size = len(data) / 2**20
        return Problem("decode/size", f"file has {size:.0f} MiB, at most {MAX_BYTES >> 20} are read; split it", 1, 1)
    if data.startswith(UTF16):
        return Problem("decode/encoding", "file is UTF-16; save it as UTF-8", 1, 1)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start]
        column = len(before[before.rfind(b"\n") + 1 :].decode()) + 1
        message = f"byte 0x{data[error.start]:02X} is not UTF-8; save the file as UTF-8"
        return Problem("decode/encoding", message, before.count(b"\n") + 1, column)
    return None


def _split(data: bytes) -> Iterator[tuple[bytes, int, Problem | None]]:
    """Yield each document's text with its first line, as the API machinery's YAMLReader cuts a stream.

    A line that starts with `---` ends a document wherever it stands, and may carry nothing but a comment
    (apimachinery 0.35 `util/yaml/decoder.go`).
    """
    start, line = 0, 1
    for match in SEPARATOR.finditer(data):
        if match.start() > start:
            part = data[start : match.start()]
            yield part, line, None
            line += part.count(b"\n")
        rest = match.group()[3:].strip()
        if rest and not rest.startswith(b"#"):
            shown = match.group().decode().strip()[:40]
            message = f"{shown!r} is no document separator; put only '---' on the line"
            yield b"", line, Problem("decode/separator", message, line, 1)
        start, line = match.end(), line + 1
    if start < len(data):
        yield data[start:], line, None


def _read(part: bytes, first_line: int, memo: _Memo) -> tuple[list[Any], list[Problem]]:
    """Return the values of one part, usually one, and the problems in it."""
    if part.lstrip().startswith(b"{"):
        try:
            return _read_json(part.decode()), []
        except (ValueError, RecursionError, _Remarkable):
            pass
    if not REMARKABLE.search(part):
        try:
            return [_build(part, memo)], []
        except (_Remarkable, yaml.YAMLError):
            pass
    try:
        root, dropped = compose(part.decode(), first_line)
        value, problems = construct(root) if root is not None else (None, [])
    except Unreadable as unreadable:
        return [], [unreadable.problem]
    return [value], problems + ([dropped] if dropped else [])


class _Memo:
    """What plain scalars mean, remembered over the documents of a file: most recur hundreds of times."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.keys: dict[str, str] = {}

    def value(self, text: str) -> Any:
        value = as_json(resolve(text))
        if isinstance(value, float) and not math.isfinite(value):
            raise _Remarkable
        self.values[text] = value
        return value

    def key(self, text: str) -> str:
        key = as_key(resolve(text))
        if key is None or text == "<<":
            raise _Remarkable
        self.keys[text] = key
        return key


def _build(part: bytes, memo: _Memo) -> Any:
    """Build the value of a text without anchors, aliases and tags straight from libyaml's events.

    Raises _Remarkable where a finding is due, which takes places.
    """
    get = CParser(part).get_event
    scalar, mapping, sequence = yaml.ScalarEvent, yaml.MappingStartEvent, yaml.SequenceStartEvent
    mapping_end, sequence_end = yaml.MappingEndEvent, yaml.SequenceEndEvent
    values, keys = memo.values, memo.keys

    def build(event: Any, depth: int) -> Any:
        kind = event.__class__
        if depth == MAX_DEPTH:
            raise _Remarkable
        if kind is mapping:
            out: dict[str, Any] = {}
            while (event := get()).__class__ is scalar:
                key = event.value
                if event.implicit[0]:
                    key = keys[key] if key in keys else memo.key(key)
                if key in out:
                    raise _Remarkable
                event = get()
                if event.__class__ is scalar:
                    value = event.value
                    if event.implicit[0]:
                        found = values.get(value, MISSING)
                        value = memo.value(value) if found is MISSING else found
                    out[key] = value
                else:
                    out[key] = build(event, depth + 1)
            if event.__class__ is not mapping_end:
                raise _Remarkable
            return out
        if kind is sequence:
            items: list[Any] = []
            while (event := get()).__class__ is not sequence_end:
                items.append(build(event, depth + 1))
            return items
        if kind is not scalar:
            raise _Remarkable
        value = event.value
        if event.implicit[0]:
            found = values.get(value, MISSING)
            return memo.value(value) if found is MISSING else found
        return value

    get()
    if get().__class__ is yaml.StreamEndEvent:
        return None
    value = build(get(), 0)
    get()
    if get().__class__ is not yaml.StreamEndEvent:
        raise _Remarkable
    return value


def _read_json(text: str) -> list[Any]:
    """Read one JSON object, or several one after another; raises where YAML must judge instead."""
    decoder = json.JSONDecoder(
        object_pairs_hook=_object, parse_int=_json_number, parse_float=_json_number, parse_constant=_json_number
    )
    values, at = [], len(text) - len(text.lstrip())
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        values.append(value)
        _check_depth(value)
        at += len(text[at:]) - len(text[at:].lstrip())
    return values


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise _Remarkable
    return out


def _json_number(text: str) -> Any:
    number = as_json(resolve(text))
    if isinstance(number, str):
        raise _Remarkable
    return number


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        if not level:
            return
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
    raise _Remarkable


def _finding(problem: Problem, file: str, index: int | None) -> Finding:
    severity = Severity.WARNING if problem.rule in {"decode/empty-file", "decode/text-after-end"} else Severity.ERROR
    location = Location(file, problem.line, problem.column, index)
    return Finding(problem.rule, "decode", problem.message, location, severity)
