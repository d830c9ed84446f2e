"""What a policy in Python looks at beside its world: nothing that was found out with it holds then.

A policy gets names of its own for importing and opening. By these it is known what it asks for, whenever it does.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

from trainyard.base.system import reads

T = TypeVar("T")

HARMLESS = frozenset(
    {
        *("__future__", "abc", "array", "base64", "binascii", "bisect", "cmath", "collections", "copy", "dataclasses"),
        *("decimal", "difflib", "enum", "fractions", "functools", "hashlib", "heapq", "html", "ipaddress", "itertools"),
        *("json", "keyword", "math", "numbers", "operator", "re", "statistics", "string", "textwrap", "types"),
        *("typing", "typing_extensions", "unicodedata"),
    }
)
"""Modules that answer the same whenever they are asked the same."""

OURS = "trainyard.checks"

OPENING = ("open", "eval", "exec", "compile", "input", "breakpoint")
"""Functions of Python by which a policy may get at something else."""


@dataclass(slots=True)
class Looks:
    """Whether a policy looks at more than its world, as far as it was run."""

    elsewhere: bool = False
    names: dict[str, Any] = field(default_factory=lambda: dict(vars(builtins)))
    """The names that every module of Python has, as the policy has them."""

    def __post_init__(self) -> None:
        self.names["__import__"] = self.importing
        self.names |= {name: self.telling(getattr(builtins, name)) for name in OPENING}

    def look(self) -> None:
        """Say that what is found out now follows from more than is written down."""
        self.elsewhere = True
        reads.forget()

    def importing(self, name: str, *rest: Any, **named: Any) -> Any:
        """Import a module for the policy."""
        if name != OURS and name.partition(".")[0] not in HARMLESS:
            self.look()
        return builtins.__import__(name, *rest, **named)

    def telling(self, function: Callable[..., T]) -> Callable[..., T]:
        """Return a function whose use counts as a look elsewhere."""

        @wraps(function)
        def told(*arguments: Any, **named: Any) -> T:
            self.look()
            return function(*arguments, **named)

        return told

    def asking(self, check: Callable[[Any], T]) -> Callable[[Any], T]:
        """Return a check that says of its answer whether it may be remembered."""

        @wraps(check)
        def asked(world: Any) -> T:
            if self.elsewhere:
                reads.forget()
            return check(world)

        return asked
