"""One thing that has to be known before a file is written: what is asked, which answers there are, what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from trainyard.base.findings import did_you_mean
from trainyard.specs.models.base import Spec
from trainyard.specs.reading import problems
from trainyard.specs.sources import Specs

NONE = "none"
"""The answer that leaves something out."""


def nothing_wrong(_answer: str) -> None:
    """Take every answer."""


FEW = 8
"""How many choices are listed beside the one that was meant."""


@dataclass(frozen=True, slots=True)
class Question:
    """One thing to know; `name` is the option that answers it, without dashes."""

    name: str
    words: str
    """What a person at a terminal is asked."""
    choices: tuple[str, ...] = ()
    """All answers there are; none where any text may be one."""
    default: str | None = None
    """What is taken where nobody says; None where somebody has to."""
    proposed: str | None = None
    """What a person at a terminal gets by an empty answer, where that is another than the default."""
    asked: bool = True
    """Whether a person at a terminal is asked; else the default is taken, unless an option says otherwise."""
    wrong: Callable[[str], str | None] = nothing_wrong
    """What is wrong with an answer, in a sentence that begins with what it is."""

    def problem(self, answer: str) -> str | None:
        """Return the problem of an answer, None where it is right."""
        if self.choices and answer not in self.choices:
            hint = self.alike(answer) or did_you_mean(answer, self.choices, limit=len(self.choices))
            lack = "is not supported" if self.name == "kubernetes" else "does not exist"
            return f"{self.name} {answer!r} {lack}; {hint}{self.choice_list(hint)}"
        return self.wrong(answer)

    def choice_list(self, hint: str) -> str:
        """Return the choices, as the end of a sentence whose hint names the nearest alone; nothing if they are many."""
        short = len(self.choices) <= FEW
        return f" there are: {', '.join(self.choices)}" if short and not hint.startswith("there ") else ""

    def alike(self, answer: str) -> str:
        """Ask whether a choice was meant that holds the answer, as `aws-p5en-48xlarge` does `p5en`; empty if none."""
        part = answer.lower().replace(".", "-").replace("_", "-")
        found = [choice for choice in self.choices if part and part in choice.lower()]
        return f"did you mean {' or '.join(map(repr, found))}?" if 0 < len(found) <= FEW else ""

    @property
    def offered(self) -> str | None:
        """What an empty answer at a terminal means."""
        return self.proposed or self.default

    @property
    def prompt(self) -> str:
        """The line that asks, choices and default included."""
        choices = f" ({', '.join(self.choices)})" if self.choices else ""
        return f"{self.words}{choices}" + (f" [{self.offered}]" if self.offered is not None else "")


@dataclass
class FileDraft:
    """A file of a repository's platform that is about to be written, as far as it is known."""

    specs: Specs
    taken: frozenset[str]
    """Names of its kind that have a file, readable or not."""
    answers: dict[str, str] = field(default_factory=dict)
    """By the name of the question."""


def split(answer: str) -> list[str]:
    """Return the parts of an answer between commas."""
    return [part.strip() for part in answer.split(",") if part.strip()]


def whole_number(name: str, *, least: int = 1, most: int | None = None, of: str = "") -> Callable[[str], str | None]:
    """Return a check for whole numbers; `of` names the thing that has no more than `most`."""

    def wrong(answer: str) -> str | None:
        if not answer.isascii() or not answer.isdecimal() or int(answer) < least:
            return f"{name} is {answer!r}, but must be a whole number, {least} or more"
        if most is not None and int(answer) > most:
            return f"{name} is {answer}, but {of}; use at most {most}"
        return None

    return wrong


def in_field(model: type[Spec], *path: str) -> Callable[[str], str | None]:
    """Return a check for answers that go into a field, with the messages of its file."""

    def wrong(answer: str) -> str | None:
        value: Any = answer
        for key in reversed(path):
            value = {key: value}
        try:
            model.model_validate(value, by_alias=True, by_name=False)
        except ValidationError as error:
            found = (
                one_error for one_error in error.errors(include_url=False) if one_error["loc"][: len(path)] == path
            )
            return next((problems.explain(item, model, value)[2] for item in found), None)
        return None

    return wrong


def unless_none(wrong: Callable[[str], str | None]) -> Callable[[str], str | None]:
    """Take `none`, and else what the other takes."""
    return lambda answer: None if answer == NONE else wrong(answer)
