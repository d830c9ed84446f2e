"""Checks as modules declare them, found in the folder of their subject, and the one loop that asks them.

A check comes after others where it presumes what they look at: it is left out where one of them found an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from graphlib import TopologicalSorter
from importlib import import_module
from typing import Generic, ParamSpec, cast

from trainyard.base.findings import Finding, did_you_mean
from trainyard.base.system.registry import modules
from trainyard.base.system.unforeseen import judge_safely
from trainyard.specs.shapes import UnknownShapeError

P = ParamSpec("P")

ALL = "*"
"""After this comes a check that presumes that nothing else is wrong: it is asked when all others were."""


@dataclass(frozen=True, eq=False)
class Check(Generic[P]):
    """A function that yields findings, and what it comes after; it is called as the function is."""

    function: Callable[P, Iterable[Finding]]
    subject: Subject[P]
    after: tuple[str, ...] = ()
    """Names of checks, of modules for all of theirs, or ALL."""
    otherwise: Callable[P, Iterable[Finding]] | None = None
    """What is asked in its place where one of those found an error."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Iterable[Finding]:
        """Return the findings of the function."""
        return self.function(*args, **kwargs)

    @property
    def module(self) -> str:
        """The last part of its module's name."""
        return self.function.__module__.rpartition(".")[2]

    @property
    def place(self) -> str:
        """Where it is declared: `between/order.py:check`."""
        return f"{self.subject.folder}/{self.module}.py:{self.function.__name__}"

    @property
    def name(self) -> str:
        """Module and function: `size.check_pods`."""
        return f"{self.module}.{self.function.__name__}"

    def comes_after(self, other: Check[...]) -> bool:
        """Say whether another check is asked before."""
        rest = ALL in self.after and ALL not in other.after
        return other is not self and (rest or other.name in self.after or other.module in self.after)


@dataclass(frozen=True, eq=False)
class Subject(Generic[P]):
    """A thing that is checked: the folder of its checks, and what must hold before any of them is asked."""

    folder: str
    after: tuple[str, ...] = ()
    """Checks of a subject before; where one of them found an error, this one is not looked at."""

    def check(
        self, *, after: Sequence[str] = (), otherwise: Callable[P, Iterable[Finding]] | None = None
    ) -> Callable[[Callable[P, Iterable[Finding]]], Check[P]]:
        """Declare a check: a decorator for a function that is given what the subject says and yields findings."""
        return lambda function: Check(function, self, tuple(after), otherwise)

    def checks(self) -> tuple[Check[P], ...]:
        """Return the checks of this subject: by module, and each after those that it comes after.

        Raises ValueError for a check that comes after one that does not exist.
        """
        return cast("tuple[Check[P], ...]", ordered(self))


@cache
def ordered(subject: Subject[...]) -> tuple[Check[...], ...]:
    """Return the checks of a subject in the order in which they are asked."""
    declared = checks_in(subject.folder)
    known = {ALL} | {check.name for check in declared} | {check.module for check in declared}
    mine = [check for check in declared if check.subject is subject]
    for check in mine:
        for name in check.after:
            if name not in known:
                raise ValueError(f"check {check.name} comes after {name!r}, which is none; {did_you_mean(name, known)}")
    sorter: TopologicalSorter[Check[...]] = TopologicalSorter(dict.fromkeys(mine, ()))
    for check in mine:
        sorter.add(check, *(other for other in mine if check.comes_after(other)))
    return tuple(sorter.static_order())


@cache
def checks_in(folder: str) -> tuple[Check[...], ...]:
    """Return the checks that the modules of a folder declare: by module, and as they stand there.

    Raises ValueError for a check of a subject whose checks are found elsewhere.
    """
    package = import_module(f"{__package__}.{folder}")
    found = sorted(modules(package), key=lambda module: module.__name__)
    values = ((module, variable) for module in found for variable in vars(module).values())
    declared = [
        item for module, item in values if isinstance(item, Check) and item.function.__module__ == module.__name__
    ]
    for check in declared:
        if check.subject.folder != folder:
            raise ValueError(f"check {check.name} is in folder {folder}, but must be in {check.subject.folder}")
    return tuple(declared)


@dataclass
class Look:
    """One look at a job, a cluster, a team or all of them: what the checks found so far."""

    findings: list[Finding] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)
    """Checks that found an error, and their modules."""
    stopped: Callable[[Check[...], str], Finding] | None = None
    """What is found where a check stops Trainyard itself, and the others are asked; None where it stops this look."""

    def ask(self, subject: Subject[P], *args: P.args, **kwargs: P.kwargs) -> None:
        """Ask the checks of a subject."""
        for check in subject.checks():
            function = check.otherwise if self.is_out(check) else check.function
            if function is not None:
                self.add(check, partial(function, *args, **kwargs))

    def add(self, check: Check[...], work: Callable[[], Iterable[Finding]]) -> None:
        """Add the findings of a check; none where it needs a shape that does not exist, which another check reports."""
        stopped = self.stopped
        try:
            found = judge_safely(lambda: list(work()), lambda why: [stopped(check, why)]) if stopped else list(work())
        except UnknownShapeError:
            found = []
        self.findings += found
        if any(finding.is_error for finding in found):
            self.failed |= {check.name, check.module}

    def is_out(self, check: Check[...]) -> bool:
        """Say whether a check presumes what does not hold."""
        return bool(self.failed if ALL in check.after else self.failed.intersection(check.after))

    def reaches(self, subject: Subject[...]) -> bool:
        """Say whether a subject can be looked at, by what was found before."""
        return not self.failed.intersection(subject.after)
