"""A file's bytes as documents: each text by the fastest reader that can judge it, problems as findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from typing import Any, NamedTuple

import yaml

from trainyard.base.documents import events, jsontext, lines
from trainyard.base.documents.construct import construct
from trainyard.base.documents.nodes import compose
from trainyard.base.documents.pieces import pieces
from trainyard.base.documents.positions import Document
from trainyard.base.documents.problem import Problem, Remarkable, TooMany, Unreadable
from trainyard.base.documents.rules import RULES
from trainyard.base.documents.stream import recode_utf8, split, whole_file_problem
from trainyard.base.findings import Finding, Location, Severity, format_path
from trainyard.base.limits import DIRECTIVES, DOCUMENT_VALUES, MIB

EMPTY = "decode/empty-file"


def load(data: bytes, *, file: str, first_line: int = 1) -> tuple[list[Document], list[Finding]]:
    """Read every document of a file, typed as Kubernetes types it; never raises, whatever the bytes.

    Empty documents are skipped and not counted. A document with a key written twice has a value, with the last one,
    and a finding; one that has no value has only its finding. Findings are of layer `decode`. Bytes that are a piece
    of a file start at `first_line` of it.
    """
    data = recode_utf8(data)
    if problem := whole_file_problem(data):
        return [], [finding_of(problem, file, None)]
    documents: list[Document] = []
    findings: list[Finding] = []
    memo, index = events.Memo(), 0
    for found, problems in _read_all(data, first_line, memo):
        findings += [finding_of(one_problem, file, index) for one_problem in problems]
        refused = any(RULES[one_problem.rule].severity is Severity.ERROR for one_problem in problems)
        for value, source, first_line, column in found:
            documents.append(Document(file, index, value, source, first_line, column, refused))
            index += 1
        if problems and not found:
            index += 1
    if not documents and not findings:
        problem = Problem(EMPTY, "file contains no document; write one or delete the file", 1, 1)
        findings.append(finding_of(problem, file, None))
    return documents, findings


def _read_all(data: bytes, first_line: int, memo: events.Memo) -> Iterator[tuple[list[Found], list[Problem]]]:
    """Yield the values of each document and its problems; JSON values and items of Lists are documents of their own."""
    for text, line, problem in split(data, first_line):
        found, problems = ([], [problem]) if problem else _read(text, line, memo)
        several = list(pieces(BytesIO(text).read, line, most=MIB)) if _is_large(problems) else []
        if len(several) < 2:
            yield found, problems
            continue
        for piece in several:
            if piece.problem is not None:
                yield [], [piece.problem]
                continue
            for part, part_line, part_problem in split(piece.data, piece.line):
                yield ([], [part_problem]) if part_problem else _read(part, part_line, memo)


def _is_large(problems: list[Problem]) -> bool:
    """Say whether a text is too large to be one document."""
    return any(problem.rule == "decode/size" for problem in problems)


class Found(NamedTuple):
    """A value with the text that it comes from, and where in the file that starts."""

    value: Any
    text: bytes
    line: int
    column: int = 1


def _read(text: bytes, line: int, memo: events.Memo) -> tuple[list[Found], list[Problem]]:
    """Return the values of one text, nearly always one, and the problems in it."""
    if problem := _directives(text, line):
        return [], [problem]
    try:
        found = _read_fast(text, line, memo)
        if found is not None:
            return [token for token in found if token.value is not None], []
        root, dropped = compose(text.decode(), line)
        value, problems = construct(root) if root is not None else (None, [])
    except Unreadable as unreadable:
        return [], [unreadable.problem]
    except TooMany:
        message = f"document has more than {DOCUMENT_VALUES:,} values, which no object of a cluster has; split it"
        return [], [Problem("decode/size", message, line, 1)]
    return [] if value is None else [Found(value, text, line)], problems + ([dropped] if dropped else [])


def _directives(text: bytes, line: int) -> Problem | None:
    """Return the problem of a document that begins with more directives than a YAML reader compares in a second."""
    if text.startswith(b"%") and text.count(b"\n%") >= DIRECTIVES:
        message = "lines that begin with '%' are YAML directives, which Kubernetes ignores; remove them"
        return Problem("decode/directive", message, line, 1)
    return None


def _read_fast(text: bytes, line: int, memo: events.Memo) -> list[Found] | None:
    """Return the values of an unremarkable text, or None where places are needed or something may be wrong."""
    decoded = text.decode()
    if text.lstrip().startswith(b"{"):
        try:
            return _json_documents(decoded, line)
        except (ValueError, Remarkable):
            pass
    try:
        return [Found(lines.read(decoded, memo), text, line)]
    except (Remarkable, yaml.YAMLError):
        pass
    try:
        return [Found(events.build(text, memo), text, line)]
    except (Remarkable, yaml.YAMLError):
        return None


def _json_documents(text: str, line: int) -> list[Found]:
    """Return JSON objects that follow one another, each with its own text."""
    objects = jsontext.read(text, line)
    ends = [at for _, at in objects[1:]] + [len(text)]
    found: list[Found] = []
    counted = start = 0
    for (value, at), end in zip(objects, ends, strict=True):
        line += text.count("\n", counted, at)
        start = max(start, text.rfind("\n", counted, at) + 1)
        counted = at
        found.append(Found(value, text[at:end].encode(), line, at - start + 1))
    return found


def finding_of(problem: Problem, file: str, index: int | None) -> Finding:
    """Return the finding that a problem with a document of a file is."""
    found = RULES[problem.rule].of(Location(file, problem.line, problem.column, index), problem.message)
    return found if problem.path is None else replace(found, path=format_path(problem.path))
