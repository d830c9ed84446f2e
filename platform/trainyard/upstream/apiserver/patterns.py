"""Patterns of other people, compiled by RE2 within bounds: how long that takes grows with the square of their size."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from trainyard.base.limits import PATTERN_BYTES, PATTERN_LETTERS, PATTERN_STEPS


class NotRead(Exception):  # noqa: N818  it is the pattern that is not
    """RE2 cannot read a pattern, for the reason in its words."""


class TooLarge(Exception):  # noqa: N818  as above
    """A pattern is larger than what is compiled here; Go may still compile it."""


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str, *, captures: bool = False) -> Any:
    """Compile a pattern; raises NotRead or TooLarge. Only with `captures` may groups and ends be asked for.

    Without them RE2 searches in time linear in the text, whatever the pattern.
    """
    import re2

    if len(pattern) > PATTERN_LETTERS:
        raise TooLarge
    options = re2.Options()
    options.log_errors, options.never_capture, options.max_mem = False, not captures, PATTERN_BYTES
    try:
        return re2.compile(pattern, options=options)
    except re2.error as error:
        said = error.args[0]
        detail = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        if "too large" in detail:
            raise TooLarge from None
        raise NotRead(detail) from None


@dataclass(slots=True)
class Patterns:
    """The patterns of one schema that were compiled, and how many of RE2's steps the others may have together."""

    known: set[str] = field(default_factory=set)
    left: int = PATTERN_STEPS

    def read(self, pattern: str) -> Any:
        """Compile a pattern; raises NotRead or TooLarge."""
        if pattern not in self.known and self.left < 0:
            raise TooLarge
        found = compile_pattern(pattern)
        if pattern not in self.known:
            self.known.add(pattern)
            self.left -= found.programsize
        return found

    def too_large(self, pattern: str) -> str:
        """Return in words why a pattern is not compiled here."""
        if self.left < 0:
            return "the patterns of this CRD are too large together; shorten them"
        return f"pattern of {len(pattern):,} letters is too large to compile; shorten it"
