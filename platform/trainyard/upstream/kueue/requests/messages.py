"""Several messages as one, as Kubernetes writes lists of errors."""

from __future__ import annotations

from collections.abc import Iterable


def join_messages(messages: Iterable[str]) -> str:
    """Return messages as one, each once (apimachinery v0.36 ErrorList.ToAggregate)."""
    first, *more = dict.fromkeys(messages)
    return f"[{', '.join((first, *more))}]" if more else first
