"""A pod as Pod Security looks at it, and what a check says against it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from trainyard.upstream.apiserver.core.shapes import Object, each, inner, text
from trainyard.upstream.apiserver.problems import Path

_LISTS = ("initContainers", "containers", "ephemeralContainers")


class Container(NamedTuple):
    """A container of any sort, and where it stands."""

    name: str
    value: Object
    path: Path

    @property
    def security(self) -> Object:
        """Its security context, or an empty one."""
        return inner(self.value, "securityContext")

    def at(self, *field: str | int) -> Path:
        """Return the path of a field of its security context."""
        return (*self.path, "securityContext", *field)


@dataclass(frozen=True)
class Pod:
    """A pod, or the template of one, and where it stands in its object."""

    value: Object
    path: Path = ()
    more: tuple[Container, ...] = ()
    """Containers that an operator adds."""

    @cached_property
    def spec(self) -> Object:
        """Its specification, or an empty one."""
        return inner(self.value, "spec")

    @cached_property
    def annotations(self) -> dict[str, str]:
        """Its annotations; null is the empty text."""
        found = inner(self.value, "metadata", "annotations")
        return {key: value if isinstance(value, str) else "" for key, value in found.items()}

    @cached_property
    def containers(self) -> tuple[Container, ...]:
        """Its containers as the server visits them: init, common, ephemeral."""
        written = (
            Container(text(value, "name"), value, self.at(field, index))
            for field in _LISTS
            for index, value in each(self.spec, field)
        )
        return (*written, *self.more)

    @property
    def security(self) -> Object:
        """The security context of the whole pod, or an empty one."""
        return inner(self.spec, "securityContext")

    @property
    def is_windows(self) -> bool:
        """Whether it says that it is for Windows."""
        return inner(self.spec, "os").get("name") == "windows"

    @property
    def has_user_namespace(self) -> bool:
        """Whether its users are not those of the node."""
        return self.spec.get("hostUsers") is False

    def at(self, *field: str | int) -> Path:
        """Return the path of a field of the specification."""
        return (*self.path, "spec", *field)

    def contexts(self) -> Iterator[tuple[Container | None, Object, Path]]:
        """Yield the pod's security context, with no container, and that of every container."""
        yield None, self.security, self.at("securityContext")
        for container in self.containers:
            yield container, container.security, container.at()


class Violation(NamedTuple):
    """What breaks a rule: in a word, in detail, and the first field that does."""

    reason: str
    detail: str
    place: Path


def plural(word: str, count: int) -> str:
    """Return a word, with an s unless there is one of what it names."""
    return word if count == 1 else f"{word}s"


def quote_words(words: Iterable[str]) -> str:
    """List words, each in quotes, which are not escaped."""
    return ", ".join(f'"{word}"' for word in words)


def name_some(word: str, names: Collection[str]) -> str:
    """Name some things of a sort."""
    return f"{plural(word, len(names))} {quote_words(names)}"


def setters(found: Iterable[Container | None]) -> str:
    """Name whose security contexts set something: the pod's, those of containers, or both."""
    owners = list(found)
    names = [owner.name for owner in owners if owner is not None]
    return " and ".join([*(["pod"] if None in owners else []), *([name_some("container", names)] if names else [])])


def annotation(key: str, value: str) -> str:
    """Spell an annotation."""
    return f"{key}={json.dumps(value, ensure_ascii=False)}"
