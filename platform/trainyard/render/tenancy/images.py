"""Images of runs, of containers and of volumes: from a registry that the repository lists, and by digest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.base import images
from trainyard.base.findings import Path
from trainyard.render.tenancy.shapes import About, Both, Breach, Condition, Shape
from trainyard.render.tenancy.shapes.base import show

REGISTRY = Condition(
    lambda value, about: (
        isinstance(value, str)
        and (
            not about.allowance.lists["registries"] or images.is_of_registry(value, about.allowance.lists["registries"])
        )
    ),
    "size(variables.registries) == 0 || variables.registries.exists(r, {x}.startsWith(r))",
    "image {name} is from a registry that is not allowed; push it to one that is",
    subject="image",
)


class Pinned(Shape):
    """An image by digest, in the form that container runtimes read."""

    def breaches(self, value: Any, path: Path, _subject: str, _about: About) -> Iterator[Breach]:
        """Refuse a name without a digest, and what is no name."""
        if (fault := images.fault(value)) is not None:
            yield Breach("digest", path, f"image {show(value)} {fault}")

    def cel(self, x: str, _depth: int = 0) -> str:
        """Ask the same by the same grammar."""
        return f"({images.condition(x)})"


IMAGE = Both(REGISTRY, Pinned())
