"""The end of each `--help`: examples that work as written, and the exit codes."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

CODES = "Exit codes: 0 clean, 1 findings, 2 could not finish."


def examples_of(module: ModuleType, words: str = "") -> tuple[str, ...]:
    """Return the examples of a command's module, or of its sub-command of that name, as its `EXAMPLES` says them."""
    found = getattr(module, "EXAMPLES", ())
    return tuple(found.get(words, ()) if isinstance(found, dict) else found)


def epilog(examples: Iterable[str]) -> str:
    """Return the epilog of a command's help; the mark keeps its lines as they are."""
    shown = "\n".join(f"  {line}" for line in examples)
    return f"\b\nExamples:\n{shown}\n\n{CODES}" if shown else CODES
