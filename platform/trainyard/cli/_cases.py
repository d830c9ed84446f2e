"""Cases in a file, answered as Kueue would: one answer a line, and what is wrong with a case that cannot be read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

from trainyard.cli._definitions import refused
from trainyard.cli._out import data, say
from trainyard.manifests import value_at

if TYPE_CHECKING:
    from trainyard.documents import Document, Path

UNREAD = "the case cannot be read: "
"""How the error of a case begins that is none: something is not there, or is no such value."""

PARTS = ("featureGates", "fairSharing", "admissionFairSharing", "resources", "waitForPodsReady")
"""Fields of Kueue's configuration that are mappings."""


def replayed(path: File) -> int:
    """Print the answer to each case of a file, one a line; 1 where one cannot be answered."""
    from trainyard.documents import load
    from trainyard.limits import FILE_BYTES
    from trainyard.system import files

    documents, findings = load(files.read_bounded(path, most=FILE_BYTES), file=str(path))
    for each in findings:
        say(f"{each.location.file}:{each.location.line}: {each.message}", error=True)
    failed = bool(findings)
    for document in documents:
        answer = answered(document.value)
        error = str(answer.get("error") or "")
        if error.startswith(UNREAD):
            for line in faults(document, error):
                say(line, error=True)
        data(json.dumps(answer, ensure_ascii=False))
        failed |= bool(error)
    return int(failed)


def answered(case: object) -> dict[str, object]:
    """Return the answer to a case; what is none is the answer's `error`."""
    from trainyard.queueing.replay import replay

    if not isinstance(case, Mapping) or not case.keys() & {"name", "mode", "objects"}:
        return {"error": "a case is a mapping with name, mode and objects"}
    try:
        return replay(case)
    except RecursionError:
        return {"name": str(case.get("name") or ""), "error": "the case's cohorts or objects go deeper than is judged"}
    except KeyError as error:
        return {"name": str(case.get("name") or ""), "error": f"{UNREAD}a field {error} is missing"}
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError) as error:
        return {"name": str(case.get("name") or ""), "error": f"{UNREAD}{error}"}


def faults(document: Document, error: str) -> Iterator[str]:
    """Yield with file and line what is wrong with a case: its form, what definitions of kinds refuse, or the error."""
    from trainyard.documents import format_path
    from trainyard.manifests import Manifest

    told = False
    for path, message in malformed(document.value):
        where, told = document.location(path), True
        yield f"{where.file}:{where.line}: {format_path(path)} {message}"
    objects = document.value.get("objects")
    for index, value in enumerate(objects if isinstance(objects, list) else ()):
        for each in refused(Manifest(document, value, ("objects", index))) if isinstance(value, dict) else ():
            told = True
            yield f"{each.location.file}:{each.location.line}: {each.object}: {each.path}: {each.message}"
    if not told:
        where = document.location()
        yield f"{where.file}:{where.line}: {error}"


def malformed(case: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield fields of a case that are not of their form, and what they should be."""
    for field in ("objects", "admitted"):
        several = case.get(field) or []
        if not isinstance(several, list):
            yield (field,), "should be a list"
            continue
        for index, each in enumerate(several):
            if not isinstance(each, Mapping):
                yield (field, index), "should be a mapping"
            elif field == "admitted" and not isinstance(each.get("workload"), str):
                yield (field, index), "should name its workload"
    parts: tuple[Path, ...] = (("config",), *(("config", name) for name in PARTS))
    for path in parts:
        value = value_at(case, path)
        if value is not None and not isinstance(value, Mapping):
            yield path, "should be a mapping"
