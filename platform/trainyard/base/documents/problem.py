"""What can be wrong with the text of a document, and the signals between the ways to read it."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.base.findings import Path


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem at a place of the file; line and column count from 1, the path is that of a field if one is meant."""

    rule: str
    message: str
    line: int
    column: int
    path: Path | None = None


class Unreadable(Exception):  # noqa: N818  # a signal, never an error of the program
    """The text of a document has no value, for the reason in `problem`."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class TooMany(Exception):  # noqa: N818  it is the text that has too many
    """A document has more values than any object of a cluster, whichever reader takes it."""


class Remarkable(Exception):  # noqa: N818  # a signal, never an error of the program
    """A fast reader met what only a slower one can judge; says nothing about right or wrong."""
