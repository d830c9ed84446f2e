"""Expressions in a given environment: compile once, evaluate often."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from trainyard.upstream.apiserver.cel import literals
from trainyard.upstream.apiserver.cel.check import check
from trainyard.upstream.apiserver.cel.checked import Checked, exact, takes_plain_json
from trainyard.upstream.apiserver.cel.compile import Compiler
from trainyard.upstream.apiserver.cel.cost import Shape, estimate
from trainyard.upstream.apiserver.cel.errors import CompileError, Issue
from trainyard.upstream.apiserver.cel.library import functions
from trainyard.upstream.apiserver.cel.parse import parse
from trainyard.upstream.apiserver.cel.program import Program, slots_of
from trainyard.upstream.apiserver.cel.types import DYN, Type


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

    def estimate(self, expression: str) -> Callable[[Shape], int]:
        """Return a function from the shape of variables to the highest cost of an evaluation; raises CompileError."""
        checked = self._checked(expression)
        return lambda shape: estimate(checked, shape)

    def _checked(self, expression: str) -> Checked:
        return check(parse(expression, self.minor), expression, self.variables, functions(self.minor))

    def _compile(self, expression: str, results: Iterable[Type]) -> Program:
        checked = self._checked(expression)
        issues = list(literals.issues(checked))
        if not exact(checked.type, results):
            wanted = " or ".join(map(str, results))
            issues.append(Issue(f"must evaluate to {wanted}, not {checked.type}"))
        if issues:
            raise CompileError(expression, issues)
        names = tuple(sorted(checked.variables))
        compiler = Compiler(checked, slots_of(names))
        plan, plain = compiler.plan(checked.root), takes_plain_json(checked)
        return Program.of(expression, checked.type, plan=plan, plain=plain, variables=names, size=compiler.size)
