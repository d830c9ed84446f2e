"""Judges a large tree of files with a process for each core; what it comes to is the same, in the same order."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

from trainyard.api.judge import Judge
from trainyard.checks.inputs import decode
from trainyard.checks.result import Result

Input = tuple[str, bytes]
Alone = Callable[[Sequence[Input], Judge], Result]
"""Judges files in one process."""

LARGE = 8 * 2**20
"""Bytes that one process judges in about the time in which several are at work."""

PART = 2**20
"""Bytes that a process judges before it hands over what it found."""

DEFINITION, POLICY = "CustomResourceDefinition", "ValidatingAdmissionPolicy"


def pays(inputs: Sequence[Input]) -> bool:
    """Whether there is much to judge, and each object can be judged alone: policies look at all others."""
    large = sum(len(data) for _, data in inputs) > LARGE and len(inputs) > 1
    able = sys.platform == "linux" and (os.cpu_count() or 1) > 1
    return large and able and not any(POLICY.encode() in data for _, data in inputs)


def definitions(inputs: Iterable[Input]) -> Iterator[object]:
    """Yield the objects of the files that speak of CRDs: they define kinds for the other files."""
    for name, data in inputs:
        if DEFINITION.encode() in data:
            yield from (each.value for each in decode(name, data)[0])


def judged(inputs: Sequence[Input], judge: Judge, alone: Alone, watch: Callable[[float], None]) -> Result | None:
    """Judge files with several processes; None where a kind was spelt so that it was not seen to concern all files."""
    parts = split(inputs)
    result = Result()
    context = multiprocessing.get_context("fork")
    with context.Pool(os.cpu_count(), _begin, (judge, alone, parts)) as pool:
        for number, found in enumerate(pool.imap(_part, range(len(parts))), 1):
            if found is None:
                return None
            result.extend(found)
            watch(number / len(parts))
    return result


def split(inputs: Iterable[Input]) -> list[list[Input]]:
    """Return the files in their order, in parts of about equal bytes."""
    parts: list[list[Input]] = []
    size = PART
    for each in inputs:
        if size >= PART:
            parts.append([])
            size = 0
        parts[-1].append(each)
        size += len(each[1])
    return parts


_shared: tuple[Judge, Alone, list[list[Input]]] | None = None


def _begin(judge: Judge, alone: Alone, parts: list[list[Input]]) -> None:
    global _shared  # noqa: PLW0603  # how a forked process gets what cannot be sent to it cheaply
    _shared = judge, alone, parts


def _part(number: int) -> Result | None:
    assert _shared is not None
    judge, alone, parts = _shared
    result = alone(parts[number], judge)
    for each in result.objects:
        if each.object.kind == POLICY:
            return None
        if each.object.kind == DEFINITION and not _seen(parts[number], each.file):
            return None
    return result


def _seen(inputs: Iterable[Input], file: str) -> bool:
    return any(name == file and DEFINITION.encode() in data for name, data in inputs)
