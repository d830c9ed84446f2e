"""A policy: one file in `policies/`, in CEL where it looks at one object, in Python where it looks across them."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from trainyard.checks.world import Place, World
from trainyard.documents import load
from trainyard.errors import TrainyardError
from trainyard.findings import Severity

PREFIX = "trainyard.dev/"


@dataclass(frozen=True, slots=True)
class Problem:
    """What a Python policy yields: where, one sentence, and the nearest change that would pass."""

    place: Place
    message: str
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy as loaded; `check` is set for Python, `document` for CEL."""

    id: str
    title: str
    reason: str
    source: str
    fix: str
    severity: Severity
    file: str
    needs: frozenset[str] = frozenset()
    check: Callable[[World], Iterable[Problem]] | None = None
    document: Mapping[str, Any] = field(default_factory=dict)


def load_policies(paths: Iterable[Path]) -> list[Policy]:
    """Read policies from their files, sorted by id.

    Raises TrainyardError where a policy cannot be used: a broken policy must not pass as one that found nothing.
    """
    found = [load_python(path) if path.suffix == ".py" else load_cel(path) for path in paths]
    found.sort(key=lambda policy: policy.id)
    for first, second in pairwise(found):
        if first.id == second.id:
            raise TrainyardError(f"policy {first.id!r} is defined twice: {first.file} and {second.file}")
    return found


def load_cel(path: Path) -> Policy:
    """Read a ValidatingAdmissionPolicy; its annotations carry reason, fix, source and severity."""
    documents, findings = load(path.read_bytes(), file=path.name)
    if findings or len(documents) != 1 or not isinstance(documents[0].value, dict):
        raise TrainyardError(f"policy {path.name} should be one ValidatingAdmissionPolicy: {_first(findings)}")
    value = documents[0].value
    metadata = value.get("metadata") or {}
    if value.get("kind") != "ValidatingAdmissionPolicy" or metadata.get("name") != path.stem:
        raise TrainyardError(f"policy {path.name} should be a ValidatingAdmissionPolicy named {path.stem!r}")
    notes = metadata.get("annotations") or {}
    missing = [key for key in ("reason", "fix", "source") if not notes.get(PREFIX + key)]
    if missing:
        raise TrainyardError(f"policy {path.name} has no annotation {PREFIX}{missing[0]}")
    return Policy(
        id=path.stem,
        title=notes.get(PREFIX + "title", path.stem),
        reason=notes[PREFIX + "reason"],
        source=notes[PREFIX + "source"],
        fix=notes[PREFIX + "fix"],
        severity=Severity(notes.get(PREFIX + "severity", "error")),
        file=path.name,
        document=value,
    )


def load_python(path: Path) -> Policy:
    """Import a Python policy; its docstring has the title, then `Why:`, `Fix:` and `Source:`."""
    identifier = path.stem.replace("_", "-")
    spec = importlib.util.spec_from_file_location(f"trainyard_policy_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise TrainyardError(f"policy {path.name} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        check = module.check
    except Exception as error:
        raise TrainyardError(f"policy {path.name} cannot be imported: {error}") from error
    text = module.__doc__ or ""
    parts = {part: _section(text, part) for part in ("Why", "Fix", "Source")}
    missing = [part for part, found in parts.items() if not found]
    if missing:
        raise TrainyardError(f"policy {path.name} has no '{missing[0]}:' in its docstring")
    return Policy(
        id=identifier,
        title=text.strip().splitlines()[0].rstrip("."),
        reason=parts["Why"],
        source=parts["Source"],
        fix=parts["Fix"],
        severity=getattr(module, "SEVERITY", Severity.ERROR),
        file=path.name,
        needs=frozenset(getattr(module, "NEEDS", frozenset())),
        check=check,
    )


def _section(text: str, name: str) -> str:
    found = re.search(rf"^{name}: (.*?)(?=^\w+: |\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    return " ".join(found.group(1).split()).rstrip(".") if found else ""


def _first(findings: Iterable[Any]) -> str:
    return next((finding.message for finding in findings), "it is something else")
