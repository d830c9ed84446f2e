"""Reads the values of options that are plain words, without pydantic: to import it takes as long as a small command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

PLAIN = (str, Path)
"""Types of which a word of the command line is the value."""


@dataclass(frozen=True, slots=True)
class Words:
    """How the values of a parameter are read: words as they are, everything else as typer does."""

    parameter: Any

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of a word, of several words, or of a parameter that is not given."""
        annotation = self.parameter.type_descriptor.annotation
        is_multiple = self.parameter.multiple or self.parameter.nargs == -1
        if value is None:
            return () if is_multiple else None
        if annotation in PLAIN and isinstance(value, (str, annotation)):
            return annotation(value)
        if (
            annotation == list[str]
            and isinstance(value, (list, tuple))
            and all(isinstance(item, str) for item in value)
        ):
            return list(value)
        from typer._coercion import build_runtime_param

        return build_runtime_param(self.parameter.type_descriptor).coerce(value, param=param, ctx=ctx)


def take_words(command: Any) -> None:
    """Have a command, and those below it, read plain words so; of a typer that reads them otherwise nothing changes."""
    help_of = command.get_help_option
    command.get_help_option = lambda context: with_words(help_of(context))
    for parameter in command.params:
        with_words(parameter)
    for below in getattr(command, "commands", {}).values():
        take_words(below)


def with_words(parameter: Any) -> Any:
    """Return a parameter, whose plain words are read so from now on."""
    if getattr(parameter, "_runtime_param", parameter) is None and hasattr(parameter, "type_descriptor"):
        parameter._runtime_param = Words(parameter)
    return parameter
