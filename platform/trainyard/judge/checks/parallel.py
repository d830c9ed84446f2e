"""Judges much with a process for each core; what it comes to is the same, in the same order.

Files are judged in parts; a large file is cut between documents. What objects of one file mean for those of others,
CRDs and what webhooks look up, is decoded first and known to every process.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from trainyard.base.documents import is_plain
from trainyard.base.findings import Location
from trainyard.base.system import progress
from trainyard.base.system.pool import split_off
from trainyard.judge.checks.inputs import decode
from trainyard.judge.checks.result import Result
from trainyard.judge.checks.sorting import NAMED, NO_OBJECT
from trainyard.upstream.apiserver import Judge, aware, neighbours, webhooks
from trainyard.upstream.apiserver.admission import podsecurity
from trainyard.upstream.apiserver.neighbours import DEFINITION, POLICY
from trainyard.upstream.kueue import scope

Input = tuple[str, bytes]


class Piece(NamedTuple):
    """A file by name and content, or what stands from a line of it on."""

    name: str
    data: bytes
    line: int = 1


T = TypeVar("T")
R = TypeVar("R")
Alone = Callable[[Piece, Judge], tuple[Result, int]]
"""Judges a piece in one process, and counts its documents."""

LARGE = 8 * 2**20
"""Bytes that one process judges in about the time in which several are at work."""

PART = 2**20
"""Bytes that a process judges before it hands over what it found."""

SHARED = frozenset({DEFINITION, *webhooks.CONSULTED}) - {"Namespace"}
"""Kinds whose objects matter to objects of other files; Namespaces do too, where something speaks of their labels."""

INSTALLS = (b"training-operator", b"kuberay-operator", b"config.ray.io/")
"""What stands in objects that say what operators add to pods; training-operator names a ConfigMap beside."""

NAMESPACE = b"Namespace"
LEVEL = podsecurity.LABEL.encode()
SCOPE = scope.GROUP.encode()
"""What stands in Kueue's configuration, which selects namespaces."""
ESCAPE = re.compile(rb"\\[uUx/]")
"""What a quoted text may hold for a letter."""

BETWEEN = re.compile(rb"\n---\r?\n(?=[A-Za-z\"{])")
"""Where a file may be cut: behind a separator, before a document."""


def pays(inputs: Sequence[Input]) -> bool:
    """Whether there is much to judge, and each object can be judged alone: policies look at all others."""
    much = is_much(sum(len(data) for _, data in inputs))
    return much and not any(POLICY.encode() in data for _, data in inputs)


def is_much(size: int) -> bool:
    """Whether so many bytes are worth several processes, where there are cores and processes are split off cheaply."""
    return size > LARGE and sys.platform == "linux" and (os.cpu_count() or 1) > 1


def each(items: Sequence[T], judge: Callable[[T], R]) -> Iterator[R]:
    """Yield the result of each item in order, from several processes that share what is known now."""
    with split_off(_begin_each, judge, items) as pool:
        yield from pool.imap(_item, range(len(items)))


def judge_inputs(inputs: Iterable[Input], judge: Judge, alone: Alone) -> Result | None:
    """Judge inputs with several processes; None where a kind was spelt so that it was not seen to concern them all."""
    parts = split(piece for input_ in inputs for piece in cut(*input_))
    known = [*shared_objects([piece for part in parts for piece in part])]
    judge = aware(judge, known)
    found: list[tuple[Piece, Result, int]] = []
    with split_off(_begin, judge, alone, parts) as pool:
        for number, results in enumerate(pool.imap(_part, range(len(parts)))):
            if results is None:
                return None
            found += ((piece, *one_result) for piece, one_result in zip(parts[number], results, strict=True))
            progress.tell("judging", number + 1, len(parts), "MiB")
    result = join_results(found)
    if said := neighbours.note(known):
        result.notes.append(said)
    return result


def shared_objects(pieces: Sequence[Piece]) -> Iterator[dict[str, Any]]:
    """Yield the objects of the pieces that speak of a kind which matters to all."""
    words = [kind.encode() for kind in SHARED]
    if any(LEVEL in piece.data for piece in pieces):
        words += [NAMESPACE, *INSTALLS]
        if any(INSTALLS[0] in piece.data for piece in pieces):
            words.append(b"ConfigMap")
    if any(SCOPE in piece.data for piece in pieces):
        words += [NAMESPACE, SCOPE]
    for name, data, _ in pieces:
        if any(word in data for word in words):
            yield from (manifest.value for manifest in decode(name, data)[0])


def cut(name: str, data: bytes) -> Iterator[Piece]:
    """Yield the pieces of a large file; one of a common size is one piece."""
    start, line = 0, 1
    if len(data) > 2 * PART and is_plain(data):
        for match in BETWEEN.finditer(data):
            if match.end() - start >= PART:
                yield Piece(name, data[start : match.end()], line)
                line += data.count(b"\n", start, match.end())
                start = match.end()
    yield Piece(name, data[start:] if start else data, line)


def split(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """Return the pieces in their order, in parts of about equal bytes."""
    parts: list[list[Piece]] = []
    size = PART
    for piece in pieces:
        if size >= PART:
            parts.append([])
            size = 0
        parts[-1].append(piece)
        size += len(piece.data)
    return parts


def join_results(found: Iterable[tuple[Piece, Result, int]]) -> Result:
    """Put the results together; documents of a file that was cut are counted on, and no piece may hold an object."""
    whole = Result()
    for result, count in each_file(found):
        if count:
            for what in (NO_OBJECT, *NAMED):
                result.passed.pop(what, None)
            result.others = [other for other in result.others if other.what in result.passed]
        whole.extend(result)
    return whole


def each_file(found: Iterable[tuple[Piece, Result, int]]) -> Iterator[tuple[Result, int]]:
    """Yield the result of each file, and how many documents it has."""
    files: list[tuple[Result, int]] = []
    for piece, result, count in found:
        if piece.line == 1:
            yield from files
            files = [(result, count)]
        else:
            ((whole, before),) = files
            whole.extend(move_documents(result, before))
            files = [(whole, before + count)]
    yield from files


def move_documents(result: Result, count: int) -> Result:
    """Return a result whose documents come behind so many others."""

    def place(location: Location) -> Location:
        return location if location.document is None else replace(location, document=location.document + count)

    return replace(
        result,
        objects=[replace(item, document=item.document + count) for item in result.objects],
        findings=[replace(finding, location=place(finding.location)) for finding in result.findings],
    )


_given: tuple[Callable[[Any], Result], Sequence[Any]] | None = None


def _begin_each(judge: Callable[[Any], Result], items: Sequence[Any]) -> None:
    global _given  # noqa: PLW0603  # how a forked process gets what cannot be sent to it cheaply
    _given = judge, items


def _item(number: int) -> Result:
    assert _given is not None
    judge, items = _given
    return judge(items[number])


_work: tuple[Judge, Alone, list[list[Piece]]] | None = None


def _begin(judge: Judge, alone: Alone, parts: list[list[Piece]]) -> None:
    global _work  # noqa: PLW0603  # how a forked process gets what cannot be sent to it cheaply
    _work = judge, alone, parts


def _part(number: int) -> list[tuple[Result, int]] | None:
    assert _work is not None
    judge, alone, parts = _work
    found = []
    for piece in parts[number]:
        result, count = alone(piece, judge)
        if any(is_missed(item.object.kind, piece.data) for item in result.objects):
            return None
        found.append((result, count))
    return found


def is_missed(kind: str, data: bytes) -> bool:
    """Whether an object concerns all others, and its kind was not seen in the bytes."""
    if kind == NAMESPACE.decode():
        return LEVEL not in data and (NAMESPACE not in data or ESCAPE.search(data) is not None)
    return kind == POLICY or (kind in SHARED and kind.encode() not in data)
