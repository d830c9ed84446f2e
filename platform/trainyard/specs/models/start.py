"""What a pod starts: a program, a module or a command, each in the form that a job writes it."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field, StrictStr

from trainyard.specs.models.base import Form, Text, VariableValue, validation_error

LAUNCHERS = frozenset({"torchrun", "python", "python3", "mpirun", "deepspeed", "accelerate", "horovodrun"})
"""What the launcher puts in front, so that a program never does."""


def script(program: str) -> str:
    """Refuse a program that begins with a launcher or carries its arguments."""
    first, *rest = program.split() or [program]
    if first.split("/")[-1] in LAUNCHERS:
        raise validation_error("program", f"starts with {first!r}, which the launcher adds; write only the script")
    if program.startswith("-"):
        raise validation_error("program", f"is {program[:40]!r}, which looks like an option; write ./ before it")
    if rest:
        raise validation_error("program", "must be a path without spaces; put arguments into args")
    return program


BUILTINS = frozenset(("cd", "export", "source", ".", "set", "unset", "alias", "eval", "exec", "trap", "ulimit"))
"""What a shell does itself, so that no executable is called so."""


def importable(module: str) -> str:
    """Refuse a module that is a file: Python would look for a module `py` in it."""
    if module.endswith(".py"):
        raise validation_error("form", "must be a module such as llm.train, without '.py'")
    return module


def executable(command: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a command whose first word is none: it is no line of a shell."""
    first = command[0]
    if not first or len(first.split()) != 1:
        raise validation_error("command", f"starts with {first!r}, which is not one word; write each word as an entry")
    if re.match(r"[A-Za-z_]\w*=", first):
        raise validation_error("command", f"starts with {first[:40]!r}, which sets a variable; move it to env")
    if first in BUILTINS:
        raise validation_error("command", f"starts with {first!r}, a command of the shell; write [bash, -c, '…']")
    return command


Program = Annotated[Text, AfterValidator(script)]
"""Path of a script in the image."""

Module = Annotated[
    StrictStr,
    Form(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*", "a module such as llm.train, without '.py'"),
    AfterValidator(importable),
]
"""A Python module."""

Command = Annotated[tuple[VariableValue, ...], Field(min_length=1), AfterValidator(executable)]
"""An executable with its first arguments."""
