"""What Argo CD installs operators from, and what texts in such objects say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from trainyard.apiserver.core.shapes import Object, each, inner
from trainyard.documents import load

Containers = tuple[Object, ...]


def agreed(answers: Iterable[Containers | None]) -> Containers | None:
    """Return what all answers are; None where there is none, or not one."""
    found = list(answers)
    told = [each for each in found if each is not None]
    same = len({json.dumps(each, sort_keys=True, default=str) for each in told}) == 1
    return told[0] if same and len(told) == len(found) else None


def sources(value: Object) -> Iterator[Object]:
    """Yield what an Application of Argo CD installs from."""
    if value.get("kind") == "Application":
        spec = inner(value, "spec")
        yield inner(spec, "source")
        yield from (source for _, source in each(spec, "sources"))


def containers(value: object) -> Containers | None:
    """Return what is a list of containers; None where it is something else."""
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        return None
    return tuple(value)


def read(written: str) -> list[Object]:
    """Return the documents of a text in another object."""
    found = (document.value for document in load(written.encode(), file="")[0])
    return [value for value in found if isinstance(value, dict)]
