"""Makes of a manifest the object that a server judges: decoded, merged into what it updates, with all defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.upstream.apiserver import core, webhooks
from trainyard.upstream.apiserver.catalog import Kind
from trainyard.upstream.apiserver.core import defaults as core_defaults
from trainyard.upstream.apiserver.core import updates
from trainyard.upstream.apiserver.problems import Path, Problem
from trainyard.upstream.apiserver.schema import apply, defaults, nulls, structural

ENUM = "schema/enum"
"""The rule of a word outside a closed set."""
DUPLICATE = "schema/duplicate"
"""The rule of an element that is in a list twice."""

Object = dict[str, Any]
PREFIX, SUFFIX = 58, "x2x2x"
"""Letters that the server keeps of a prefix, and five that stand for those that it adds."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """An object as rules and policies see it, and what was wrong on the way there."""

    value: Object
    before: Object | None
    """The object that it updates, with its defaults; None on creation."""
    problems: tuple[Problem, ...]
    """What the types of a core kind, or the schema of a custom resource, refuse: rules pass over such fields."""
    doubled: tuple[Problem, ...] = ()
    """Elements given twice, which a merge takes together: rules look at what became of them."""
    generated: bool = False
    """Whether the server makes the name, of a prefix that is given: rules and validating webhooks see it made."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """Prepares objects of one kind, as a server does.

    A server is asked in two ways, to create an object and to apply it over one that exists, and each way has its own
    order of decoding, merging and defaulting. A core kind is decoded into Go types as it is written; only what can be
    decoded is merged, and a custom resource is merged first and held against its schema at the end. Merging comes
    before defaults, for it compares what people wrote, and defaults belong to nobody; so the result gets its defaults
    anew. Two kinds of mistakes do not stand where they are made: an element that is given twice is gone after the
    merge, so it is looked for before; and a word outside a closed set counts only in a field that is there in the end,
    for a server drops fields that its release does not know and keeps those that no update changes. Defaults in code
    and those of the operators' webhooks come last, however the object came to be.
    """

    kind: Kind
    kubernetes: str
    projects: Mapping[str, str]
    """Releases of what is installed."""
    around: webhooks.Around

    def created(self, given: Object) -> Prepared:
        """Return the object to judge for a manifest that creates it."""
        value = defaults.apply(given, self.kind)
        decoding = [*self._structure(value)] if self.kind.typed else []
        self._fill(value, given, None)
        problems = self._problems(value, given, decoding)
        return Prepared(value, None, problems, generated=name_it(value))

    def updated(self, given: Object, old: Object) -> Prepared:
        """Return the object to judge for a manifest that is applied after `old`."""
        before = defaults.apply(old, self.kind)
        self._fill(before, old, None)
        value = defaults.apply(given, self.kind)
        problems = [*self._structure(value)]
        doubled: tuple[Problem, ...] = ()
        if not self.kind.typed:
            doubled = tuple(problem for problem in problems if problem.rule == DUPLICATE)
            value = defaults.apply(apply.merge(before, old, given, self.kind.schema), self.kind)
        elif all(problem.rule == ENUM for problem in problems):
            merged = apply.merge(updates.stored_object(before), old, given, self.kind.schema)
            value = defaults.apply(merged, self.kind)
            updates.keep(value, before)
        self._fill(value, given, before)
        return Prepared(value, before, self._problems(value, given, problems), doubled)

    def _problems(self, value: Object, given: Object, decoding: list[Problem]) -> tuple[Problem, ...]:
        """Return the problems with an object: of a core kind, those problems of decoding that are still there."""
        if not self.kind.typed:
            return tuple(self._structure(value))
        return tuple(problem for problem in decoding if problem.rule != ENUM or is_there(value, given, problem.path))

    def _structure(self, value: Object) -> Iterator[Problem]:
        """Yield the problems of types and schemas; for kinds without restated rules, also of OpenAPI's `required`."""
        unrestated = self.kind.typed and (self.kind.group, self.kind.kind) not in core.CHECKS
        return structural.check(value, self.kind, kubernetes=self.kubernetes, required=unrestated)

    def _fill(self, value: Object, given: Object, old: Object | None) -> None:
        """Put Go's and the operators' defaults into an object that has its schema's, in place."""
        if self.kind.typed:
            nulls.put(value, self.kind.schema)
            if value.get("spec") is None and "spec" in self.kind.schema["properties"]:
                value["spec"] = {}
            core_defaults.apply(value, self.kubernetes)
        webhooks.default(value, kind=self.kind, projects=self.projects, old=old, given=given, around=self.around)


def name_it(value: Object) -> bool:
    """Give an object with a prefix of a name one as the server does, before it is validated; say whether it was given.

    Source: k8s.io/apiserver v0.35.4 pkg/registry/rest/create.go BeforeCreate, pkg/storage/names/generate.go.
    """
    metadata = value.get("metadata")
    if not isinstance(metadata, dict) or metadata.get("name") or not isinstance(metadata.get("generateName"), str):
        return False
    if made := metadata["generateName"][:PREFIX]:
        value["metadata"] = {**metadata, "name": made + SUFFIX}
    return bool(made)


def is_there(value: Any, given: Any, path: Path) -> bool:
    """Whether a field has in the end the value that is given: what was dropped or kept as it was may hold any word."""
    for part in path:
        try:
            value, given = value[part], given[part]
        except (KeyError, IndexError, TypeError):
            return False
    return bool(value == given)
