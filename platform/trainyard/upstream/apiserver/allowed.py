"""Kinds that may be unknown, as somebody names them: a kind, a group with its kind, all of a group, all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from trainyard.base.errors import TrainyardError
from trainyard.base.findings import ObjectRef, did_you_mean


@dataclass(frozen=True, slots=True)
class Allowed:
    """Patterns such as `Widget`, `example.com/Widget`, `example.com/*` and `*`."""

    patterns: tuple[str, ...] = ()

    @classmethod
    def of(cls, patterns: Iterable[str]) -> Allowed:
        """Take patterns as they are given; raises TrainyardError for a group without its kinds."""
        given = tuple(patterns)
        for identity in given:
            if "/" not in identity and "." in identity:
                raise TrainyardError(
                    f"--allow-unknown {identity!r} is a group; write {identity + '/*'!r} for all its kinds"
                )
        return cls(given)

    def has(self, group: str, kind: str) -> bool:
        """Say whether a kind may be unknown."""
        return any(fnmatchcase(f"{group}/{kind}" if "/" in pattern else kind, pattern) for pattern in self.patterns)

    def require_used(self, unknown: Iterable[ObjectRef]) -> None:
        """Raise TrainyardError for a bare word that is the kind of no unknown object: it may be misspelt."""
        kinds = {reference.kind for reference in unknown}
        for pattern in self.patterns:
            if "/" not in pattern and "*" not in pattern and kinds and pattern not in kinds:
                hint = did_you_mean(pattern, kinds)
                raise TrainyardError(f"--allow-unknown {pattern!r} matches no unknown object; {hint}")
