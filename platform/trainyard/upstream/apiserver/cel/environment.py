"""Expressions in a given environment: compile once, evaluate often."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from trainyard.upstream.apiserver.cel import literals
from trainyard.upstream.apiserver.cel.alike import first_alike
from trainyard.upstream.apiserver.cel.check import check
from trainyard.upstream.apiserver.cel.checked import Checked, exact, takes_plain_json
from trainyard.upstream.apiserver.cel.compile import Compiler
from trainyard.upstream.apiserver.cel.cost import Shape, estimate
from trainyard.upstream.apiserver.cel.errors import CompileError, Issue
from trainyard.upstream.apiserver.cel.library import functions
from trainyard.upstream.apiserver.cel.parse import parse
from trainyard.upstream.apiserver.cel.program import Program, slots_of
from trainyard.upstream.apiserver.cel.syntax import Ident, Select, walk
from trainyard.upstream.apiserver.cel.types import DYN, ObjectType, Type

Key = tuple[str, int, tuple[Type, ...], frozenset[tuple[str, Type | None]]]
"""An expression, the first minor release that compiles it so, the types that its value may have, and those of the
variables that it names."""

COMPILED: OrderedDict[Key, Program] = OrderedDict()
"""Programs of all environments: policies of several clusters share most of their expressions."""

LIMIT = 4096
"""How many programs are kept for other environments."""


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
        since = first_alike(self.minor)
        return check(parse(expression, since), expression, self.variables, functions(since))

    def _compile(self, expression: str, results: tuple[Type, ...]) -> Program:
        read = frozenset(self._read_types(expression))
        if not all(is_ordinary(type_) for _, type_ in read):
            return self._program(expression, results)
        key = expression, first_alike(self.minor), results, read
        found = COMPILED.get(key)
        if found is None:
            found = COMPILED[key] = self._program(expression, results)
            if len(COMPILED) > LIMIT:
                COMPILED.popitem(last=False)
        else:
            COMPILED.move_to_end(key)
        return found

    def _read_types(self, expression: str) -> Iterator[tuple[str, Type | None]]:
        """Yield the names that an expression may refer to, with their types; of `variables` its fields alone count."""
        names, fields = references(expression, first_alike(self.minor))
        for name, type_ in self.variables.items():
            if name.partition(".")[0] not in names:
                continue
            if name == VARIABLES and fields is not None and isinstance(type_, ObjectType):
                for field_ in fields:
                    known = type_.find(field_)
                    yield f"{VARIABLES}.{field_}", None if known is None else known.type
            else:
                yield name, type_

    def _program(self, expression: str, results: tuple[Type, ...]) -> Program:
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


VARIABLES = "variables"
"""The object of a policy whose fields are its variables; it grows while the policy is compiled."""


def is_ordinary(given: Type | None) -> bool:
    """Say whether equal types are the same to a program: no list or map in it comes from a schema."""
    return (
        given is None
        or isinstance(given, ObjectType)
        or (given.special is None and all(map(is_ordinary, given.parameters)))
    )


@lru_cache(maxsize=LIMIT)
def references(expression: str, minor: int) -> tuple[frozenset[str], frozenset[str] | None]:
    """Return the names in an expression, and the fields of `variables` there; None where it is read as a whole."""
    names, fields, whole = set[str](), set[str](), 0
    for node in walk(parse(expression, minor)):
        if isinstance(node, Ident):
            names.add(node.name.removeprefix("."))
            whole += node.name == VARIABLES
        elif isinstance(node, Select) and isinstance(node.operand, Ident) and node.operand.name == VARIABLES:
            fields.add(node.field)
            whole -= 1
    return frozenset(names), None if whole else frozenset(fields)
