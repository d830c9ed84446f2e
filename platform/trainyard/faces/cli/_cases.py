"""Cases in a file, answered as Kueue would: one answer a line, and what is wrong with a case that cannot be read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from trainyard.base.manifests import value_at
from trainyard.faces.cli._definitions import schema_findings
from trainyard.faces.cli._out import data, say

if TYPE_CHECKING:
    from trainyard.base.documents import Document, Path

UNREAD = "the case cannot be read: "
"""How the error of a case begins that is none: something is not there, or is no such value."""

PARTS = ("featureGates", "fairSharing", "admissionFairSharing", "resources", "waitForPodsReady")
"""Fields of Kueue's configuration that are mappings."""


def replayed(name: str) -> int:
    """Print the answer to each case of a file or of standard input, one a line; 1 where one cannot be answered."""
    from trainyard.faces.cli._case_files import documents_in

    failed = False
    for documents, findings in documents_in(name):
        for finding in findings:
            say(f"{finding.location.file}:{finding.location.line}: {finding.message}", error=True)
        failed |= bool(findings)
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
    from trainyard.upstream.kueue.replay import replay

    if not isinstance(case, Mapping) or not case.keys() & {"name", "mode", "objects"}:
        return {"error": "a case is a mapping with name, mode and objects"}
    try:
        return replay(case)
    except RecursionError:
        return {"name": str(case.get("name") or ""), "error": "the case's cohorts or objects are nested too deeply"}
    except KeyError as error:
        return {"name": str(case.get("name") or ""), "error": f"{UNREAD}a field {error} is missing"}
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError) as error:
        return {"name": str(case.get("name") or ""), "error": f"{UNREAD}{error}"}


def faults(document: Document, error: str) -> Iterator[str]:
    """Yield with file and line what is wrong with a case: its form, what definitions of kinds refuse, or the error."""
    from trainyard.base.documents import format_path
    from trainyard.base.manifests import Manifest

    told = False
    for path, message in malformed(document.value):
        where, told = document.location(path), True
        yield f"{where.file}:{where.line}: {format_path(path)} {message}"
    objects = document.value.get("objects")
    for index, value in enumerate(objects if isinstance(objects, list) else ()):
        for finding in (
            schema_findings(Manifest(document, value, ("objects", index))) if isinstance(value, dict) else ()
        ):
            told = True
            line = f"{finding.location.file}:{finding.location.line}"
            yield f"{line}: {finding.object}: {finding.full_message}"
    if not told:
        where = document.location()
        yield f"{where.file}:{where.line}: {error}"


def malformed(case: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield fields of a case that are not of their form, and what they should be."""
    for field in ("objects", "admitted"):
        several = case.get(field) or []
        if not isinstance(several, list):
            yield (field,), "must be a list"
            continue
        for index, item in enumerate(several):
            if not isinstance(item, Mapping):
                yield (field, index), "must be a mapping"
            elif field == "admitted" and not isinstance(item.get("workload"), str):
                yield (field, index), "must name its workload"
    parts: tuple[Path, ...] = (("config",), *(("config", name) for name in PARTS))
    for path in parts:
        value = value_at(case, path)
        if value is not None and not isinstance(value, Mapping):
            yield path, "must be a mapping"
