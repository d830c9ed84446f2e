"""Shapes of labels and annotations: by their keys, and by the groups that these are of."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.findings import Path
from trainyard.render.tenancy.shapes.base import YES, About, Breach, Shape, field_of

PLAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
"""Keys without a group that are words of people; those that controllers read mostly have dots or underscores."""

OBEYED = ("aadpodidbinding",)
"""Words that a controller reads all the same: AAD Pod Identity gives such a pod an identity (v1.8 docs/concepts)."""


@dataclass(frozen=True, slots=True)
class Pairs(Shape):
    """Labels or annotations: those that runs have, and people's own under groups that the repository lists."""

    known: Mapping[str, Shape]
    about: Mapping[str, str] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    exact: str | None = None
    """A list of the allowance with whole pairs that are right, as `key=value`."""

    def breaches(self, value: Any, path: Path, subject: str, about: About) -> Iterator[Breach]:
        """Refuse keys of others, and values that are not the run's."""
        if not isinstance(value, Mapping):
            yield Breach(subject, path, f"{field_of(path)} must be a map; change it")
            return
        for key, text in value.items():
            if self.exact and f"{key}={text}" in about.allowance.lists[self.exact]:
                continue
            if key in self.known:
                yield from self.known[key].breaches(text, (*path, key), self.about.get(key, subject), about)
            elif not is_own(str(key), about.allowance.lists["keys"]):
                message = f"{field_of(path)} have {str(key)[:63]!r}, but the team may not use this group; remove it"
                yield Breach(subject, (*path, key), message)
        for key in self.required:
            if key not in value:
                yield Breach(subject, path, f"label {key} is missing, but every object of a run needs it; add it")

    def cel(self, x: str, depth: int = 0) -> str:
        """Ask every key, and the values of those that are known."""
        key = f"k{depth}"
        names = ", ".join(json.dumps(name) for name in self.known)
        exact = f"{key} + '=' + {x}[{key}] in variables.{self.exact} || " if self.exact else ""
        obeyed = ", ".join(json.dumps(name) for name in OBEYED)
        own = (
            f"({key}.matches('^{PLAIN.pattern}$') && !({key} in [{obeyed}])) || {key} in variables.keys || "
            f"variables.keys.exists(g, {key}.startsWith(g + '/') || {key}.contains('.' + g + '/'))"
        )
        parts = [f"{x}.all({key}, {exact}{key} in [{names}] || {own})"]
        for name, shape in self.known.items():
            inner = shape.cel(f"{x}[{json.dumps(name)}]", depth + 1)
            if inner != YES:
                whole = f" || '{name}=' + {x}[{json.dumps(name)}] in variables.{self.exact}" if self.exact else ""
                parts.append(f"(!({json.dumps(name)} in {x}) || {inner}{whole})")
        parts += [f"{json.dumps(name)} in {x}" for name in self.required]
        return "(" + " && ".join(parts) + ")"


def is_own(key: str, groups: Sequence[str]) -> bool:
    """Whether a key is people's own: a plain word, one that is listed, or of a group that is listed or below it."""
    if key in groups or (PLAIN.fullmatch(key) and key not in OBEYED):
        return True
    return any(key.startswith(f"{group}/") or f".{group}/" in key for group in groups)
