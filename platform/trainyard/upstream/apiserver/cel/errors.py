"""What can go wrong with an expression: it does not compile, it fails, or its answer cannot be known here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Issue:
    """One reason why an expression does not compile; `offset` counts characters from the expression's start."""

    message: str
    offset: int = 0


class CompileError(Exception):
    """An expression is not valid: its syntax is wrong, or its types do not agree."""

    def __init__(self, expression: str, issues: list[Issue], masked: frozenset[int] = frozenset()) -> None:
        super().__init__("; ".join(issue.message for issue in issues))
        self.expression = expression
        self.issues = issues
        self.masked = masked
        """Offsets of fields of which nothing can be said, because what they are read from has an issue itself."""


class TooDeepError(CompileError):
    """The parser reads 32 levels, the server 250: whether the expression is valid cannot be told here."""


class CelError(Exception):
    """The evaluation failed, in the server's words: `no such key: gpu`, `index out of bounds: 3`."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Unknown(CelError):  # noqa: N818  CEL's own word: a result, not a failure
    """The answer depends on something that only a cluster knows; `message` says on what."""


def over_budget() -> CelError:
    """Work beyond what the server lets one evaluation cost."""
    return CelError("operation cancelled: actual cost limit exceeded")


def no_such_overload() -> CelError:
    """Values of types that no form of the function takes: only possible where types are known at run time alone."""
    return CelError("no such overload")
