"""Expressions in a given environment: compile once, evaluate often."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.api.cel import literals
from trainyard.api.cel.blame import Culprit, finder
from trainyard.api.cel.check import check
from trainyard.api.cel.checked import Checked, exact, takes_plain_json
from trainyard.api.cel.compile import Compiler
from trainyard.api.cel.errors import CelError, CompileError, Issue, no_such_overload, over_budget
from trainyard.api.cel.folds import BudgetError
from trainyard.api.cel.library import functions
from trainyard.api.cel.logic import Frame, Run
from trainyard.api.cel.parse import parse
from trainyard.api.cel.types import DYN, Type
from trainyard.api.cel.values import ABSENT

COST_LIMIT = 1_000_000
"""What one evaluation may cost: kubernetes/apiserver v0.35.4 pkg/apis/cel/config.go PerCallLimit."""


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled expression; `plain` says that it gives the same for plain JSON as for converted values."""

    expression: str
    checked: Checked
    plain: bool
    _names: tuple[str, ...]
    _size: int
    _run: Run

    @property
    def type(self) -> Type:
        """The type of its value."""
        return self.checked.type

    @property
    def variables(self) -> set[str]:
        """The declared variables that it refers to."""
        return self.checked.variables

    def evaluate(self, bindings: Mapping[str, Any]) -> Any:
        """Return the value for these variables; a CelError where it fails, an Unknown where it cannot be told.

        A variable may itself be bound to an Unknown. Values that are not of the declared types fail as well.
        """
        try:
            return self._run(self._frame(bindings, self._size))
        except CelError as error:
            return error
        except (AttributeError, TypeError):
            return no_such_overload()
        except BudgetError:
            return over_budget()

    def culprit(self, bindings: Mapping[str, Any]) -> Culprit | None:
        """Return the element of a list or map that makes a false expression false, where one does."""
        compiler = Compiler(self.checked, slots_of(self._names))
        find = finder(compiler, self.checked.root)
        if find is None:
            return None
        try:
            return find(self._frame(bindings, compiler.size))
        except (AttributeError, CelError, BudgetError, TypeError):
            return None

    def _frame(self, bindings: Mapping[str, Any], size: int) -> Frame:
        frame: Frame = [COST_LIMIT, *(bindings.get(name, ABSENT) for name in self._names)]
        frame += [None] * (size - len(frame))
        return frame


def slots_of(names: Iterable[str]) -> dict[str, int]:
    """Return where a frame holds each variable."""
    return {name: slot for slot, name in enumerate(names, start=1)}


@dataclass(frozen=True, slots=True)
class Environment:
    """Declared variables, and the functions of a minor release of Kubernetes (35 is 1.35)."""

    variables: Mapping[str, Type]
    minor: int
    _programs: dict[tuple[str, tuple[Type, ...]], Program | CompileError] = field(default_factory=dict, compare=False)

    def compile(self, expression: str, *results: Type) -> Program:
        """Compile an expression whose value must be of one of these types, any where none is given.

        Raises CompileError with every issue. Compiling again returns what was compiled before.
        """
        key = (expression, results)
        found = self._programs.get(key)
        if found is None:
            try:
                found = self._compile(expression, results or (DYN,))
            except CompileError as error:
                found = error
            self._programs[key] = found
        if isinstance(found, CompileError):
            raise found
        return found

    def _compile(self, expression: str, results: Iterable[Type]) -> Program:
        checked = check(parse(expression, self.minor), expression, self.variables, functions(self.minor))
        issues = list(literals.issues(checked))
        if not exact(checked.type, results):
            wanted = " or ".join(map(str, results))
            issues.append(Issue(f"must evaluate to {wanted}, not {checked.type}"))
        if issues:
            raise CompileError(expression, issues)
        names = tuple(sorted(checked.variables))
        compiler = Compiler(checked, slots_of(names))
        run = compiler.run(checked.root)
        return Program(expression, checked, takes_plain_json(checked), names, compiler.size, run)
