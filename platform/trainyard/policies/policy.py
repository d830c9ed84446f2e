"""A policy: one file in `policies/`, in CEL where it looks at one object, in Python where it looks across them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from trainyard import catalogue
from trainyard.documents import load
from trainyard.errors import TrainyardError
from trainyard.findings import Severity, did_you_mean
from trainyard.policies.places import Place
from trainyard.policies.run import LACKS
from trainyard.policies.world import World
from trainyard.rules import Rule


@dataclass(frozen=True, slots=True)
class Problem:
    """What a Python policy yields: where, one sentence, and the nearest change that would pass."""

    place: Place
    message: str
    fix: str | None = None
    severity: Severity | None = None
    """Where this one weighs otherwise than the policy says of all."""


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy as loaded; `check` is set for Python, `document` for CEL."""

    rule: Rule
    file: str
    needs: frozenset[str] = frozenset()
    """`inventory`: the cluster's description is known; `cluster`: the objects are all that the cluster has."""
    check: Callable[[World], Iterable[Problem]] | None = None
    document: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """What waivers and the repository's `policies` name it by."""
        return self.rule.id


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
    """Read a ValidatingAdmissionPolicy."""
    rule = catalogue.policy(path)
    documents, _ = load(path.read_bytes(), file=path.name)
    return Policy(rule, path.name, document=documents[0].value)


def load_python(path: Path) -> Policy:
    """Import a Python policy, once for as long as its file stays as it is."""
    found = path.stat()
    return imported(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=256)
def imported(path: Path, _modified: int, _size: int) -> Policy:
    """Import a Python policy from a file of that time and size."""
    spec = importlib.util.spec_from_file_location(f"trainyard_policy_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise TrainyardError(f"policy {path.name} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        check = module.check
    except (Exception, SystemExit) as error:
        raise TrainyardError(f"policy {path.name} cannot be imported: {type(error).__name__}: {error}") from error
    rule = catalogue.of_docstring(path, module.__doc__, getattr(module, "SEVERITY", Severity.ERROR))
    needs = frozenset(getattr(module, "NEEDS", frozenset()))
    if unknown := sorted(needs - LACKS.keys()):
        raise TrainyardError(f"policy {path.name} needs {unknown[0]!r}; {did_you_mean(unknown[0], LACKS)}")
    return Policy(rule, path.name, needs, check)
