"""What Argo CD installs operators from, and what texts in such objects say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from trainyard.base.documents import load
from trainyard.upstream.apiserver.core.shapes import Object, each, inner

Containers = tuple[Object, ...]


def common_answer(answers: Iterable[Containers | None]) -> Containers | None:
    """Return the containers that all answers agree on; None where there are none, or where answers differ."""
    found = list(answers)
    told = [answer for answer in found if answer is not None]
    same = len({json.dumps(answer, sort_keys=True, default=str) for answer in told}) == 1
    return told[0] if same and len(told) == len(found) else None


def sources(value: Object) -> Iterator[Object]:
    """Yield the sources from which an Application of Argo CD installs."""
    if value.get("kind") == "Application":
        spec = inner(value, "spec")
        yield inner(spec, "source")
        yield from (source for _, source in each(spec, "sources"))


def containers(value: object) -> Containers | None:
    """Return a value that is a list of containers as a tuple; None for any other value."""
    if not isinstance(value, list) or not all(isinstance(container, dict) for container in value):
        return None
    return tuple(value)


def read(written: str) -> list[Object]:
    """Return the documents of a text in another object."""
    found = (document.value for document in load(written.encode(), file="")[0])
    return [value for value in found if isinstance(value, dict)]
