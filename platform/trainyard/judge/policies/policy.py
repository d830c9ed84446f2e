"""A policy: one file in `policies/`, in CEL where it looks at one object, in Python where it looks across them."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

from trainyard.base import catalogue
from trainyard.base.errors import PolicyError
from trainyard.base.findings import Finding, Location, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.base.system import reads
from trainyard.judge.policies.needs import LACKS
from trainyard.judge.policies.places import Place
from trainyard.judge.policies.recorded import Looks
from trainyard.judge.policies.world import World


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
    """`inventory`: the cluster's description is known; `cluster`: the objects are all that the cluster has, but for
    those of runs, of which some may be left out; `runs`: they are all that it has, those of runs among them."""
    check: Callable[[World], Iterable[Problem]] | None = None
    document: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """What waivers and the repository's `policies` name it by."""
        return self.rule.id


UNUSABLE = Rule(
    id="policy/unusable",
    title="Every file in policies/ is a policy that can be run.",
    why="a policy that cannot run would look like one without findings",
    fix="correct the file, or delete it",
    source="docs/extending.md",
    layer="policy",
)


def usable(paths: Iterable[Path]) -> list[Policy]:
    """Read the policies that can be used, for whoever has the findings on the others from `unusable`."""
    return sift(paths)[0]


def unusable(paths: Iterable[Path]) -> Iterator[Finding]:
    """Yield the problems with the files of policies."""
    for error in sift(paths)[1]:
        yield UNUSABLE.of(Location(f"policies/{error.file}", error.line, error.column), error.message)


def sift(paths: Iterable[Path]) -> tuple[list[Policy], list[PolicyError]]:
    """Read policies from their files, sorted by id, and say what is wrong with the others."""
    found: list[Policy] = []
    broken: list[PolicyError] = []
    with reads.apart():  # who listed the files is taken to have read them, wherever a copy of one lies
        for path in paths:
            try:
                found.append(load_python(path) if path.suffix == ".py" else load_cel(path))
            except PolicyError as error:
                broken.append(error)
    found.sort(key=lambda policy: policy.id)
    for first, second in pairwise(found):
        if first.id == second.id:
            broken.append(PolicyError(second.file, f"the policy is defined twice; {first.file} is the other"))
    return found, broken


def load_cel(path: Path) -> Policy:
    """Read a ValidatingAdmissionPolicy."""
    return Policy(catalogue.policy(path), path.name, document=catalogue.document_of(path).value)


def load_python(path: Path) -> Policy:
    """Import a Python policy, once for as long as its file stays as it is."""
    found = path.stat()
    return import_policy(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=256)
def import_policy(path: Path, _modified: int, _size: int) -> Policy:
    """Import a Python policy from a file of that time and size, and from nothing else.

    Python's own way would run what `__pycache__` beside it holds, which a branch can bring, whatever the file says.
    """
    module = ModuleType(f"trainyard_policy_{path.stem}")
    module.__file__ = str(path)
    looks = Looks()
    vars(module)["__builtins__"] = looks.names
    try:
        code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True, optimize=0)  # with its docstring
        exec(code, vars(module))  # noqa: S102 - the purpose
        check = module.check
    except SyntaxError as error:
        raise PolicyError(path.name, f"not valid Python: {error.msg}", error.lineno or 1, error.offset or 1) from error
    except (Exception, SystemExit) as error:
        raise PolicyError(
            path.name, f"import stopped with {type(error).__name__}: {error}", line_of(error, path)
        ) from error
    rule = catalogue.of_docstring(path, module.__doc__, getattr(module, "SEVERITY", Severity.ERROR))
    rule = replace(rule, may_waive=getattr(module, "WAIVABLE", True) is not False)
    needs = frozenset(getattr(module, "NEEDS", frozenset()))
    if unknown := sorted(needs - LACKS.keys()):
        raise PolicyError(path.name, f"NEEDS has {unknown[0]!r}; {did_you_mean(unknown[0], LACKS)}")
    return Policy(rule, path.name, needs, looks.asking(check))


def line_of(error: BaseException, path: Path) -> int:
    """Return the last line of a file that an exception went through."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path) and frame.lineno]
    return lines[-1] if lines else 1
