"""Patterns of other people, compiled by RE2 within bounds: how long that takes grows with the square of their size."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from trainyard.limits import PATTERN_BYTES, PATTERN_LETTERS


class NotRead(Exception):  # noqa: N818  it is the pattern that is not
    """RE2 cannot read a pattern, for the reason in its words."""


class TooLarge(Exception):  # noqa: N818  as above
    """A pattern is larger than what is compiled here; Go may still compile it."""


@lru_cache(maxsize=4096)
def compiled(pattern: str, *, captures: bool = False) -> Any:
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
