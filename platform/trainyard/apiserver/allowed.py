"""Kinds that may be unknown, as somebody names them: a kind, a group with its kind, all of a group, all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from trainyard.errors import TrainyardError
from trainyard.findings import ObjectRef, did_you_mean


@dataclass(frozen=True, slots=True)
class Allowed:
    """Patterns such as `Widget`, `example.com/Widget`, `example.com/*` and `*`."""

    patterns: tuple[str, ...] = ()

    @classmethod
    def of(cls, patterns: Iterable[str]) -> Allowed:
        """Take patterns as they are given; raises TrainyardError for a group without its kinds."""
        given = tuple(patterns)
        for each in given:
            if "/" not in each and "." in each:
                raise TrainyardError(f"--allow-unknown {each!r} is a group; write {each + '/*'!r} for all its kinds")
        return cls(given)

    def has(self, group: str, kind: str) -> bool:
        """Say whether a kind may be unknown."""
        return any(fnmatchcase(f"{group}/{kind}" if "/" in each else kind, each) for each in self.patterns)

    def require_used(self, unknown: Iterable[ObjectRef]) -> None:
        """Raise TrainyardError for a bare word that is the kind of no unknown object: it may be misspelt."""
        kinds = {each.kind for each in unknown}
        for each in self.patterns:
            if "/" not in each and "*" not in each and kinds and each not in kinds:
                hint = did_you_mean(each, kinds)
                raise TrainyardError(f"--allow-unknown {each!r} is the kind of no unknown object; {hint}")
