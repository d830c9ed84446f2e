"""Questions before a file is written: options answer them, a person at a terminal answers what options leave open."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import typer

from trainyard.faces.cli._out import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainyard.faces.drafts.questions import Question

NAME = "name"
"""The question that an argument answers; all others have an option."""


def is_watched() -> bool:
    """Whether somebody can type answers."""
    return sys.stdin is not None and sys.stdin.isatty()


class Draft(Protocol):
    """A file that is about to be written."""

    answers: dict[str, str]

    def questions(self) -> Iterator[Question]:
        """Yield the questions of a draft, each after the previous ones are answered."""


@dataclass
class Asker:
    """Who answers: options, and where a terminal is there a person."""

    given: dict[str, str]
    """What options say, by the name of the question."""
    terminal: bool = field(default_factory=is_watched)
    told: set[str] = field(default_factory=set)
    """Questions that an option or a person has answered."""
    before: dict[str, str] = field(default_factory=dict)
    """Answers that may have been right, to be offered where a person is asked again."""

    @classmethod
    def of(cls, given: Mapping[str, str | None]) -> Asker:
        """Return the asker for these options; options that were not given are None."""
        return cls({name: value for name, value in given.items() if value is not None})

    def fill(self, draft: Draft) -> None:
        """Answer every question of a draft that has no right answer yet; raises SpecError where nobody can."""
        from trainyard.base.errors import SpecError

        for question in draft.questions():
            known = draft.answers.get(question.name)
            if known is None or question.problem(known) is not None:
                draft.answers[question.name] = self.answer(question)
        if self.given:
            raise SpecError(f"--{min(self.given)} has no effect here; remove it")

    def answer(self, question: Question) -> str:
        """Return the answer to one question."""
        from trainyard.base.errors import SpecError

        answer = self.given.pop(question.name, None)
        if answer is not None:
            self.told.add(question.name)
        while True:
            if answer is None:
                answer = self.ask(question)
            problem = question.problem(answer)
            if problem is None:
                return answer
            if not self.terminal:
                raise SpecError(problem)
            say(f"  {problem}", error=True)
            answer = None

    def ask(self, question: Question) -> str:
        """Return the only choice, what is taken where nobody says, or what a person says."""
        from trainyard.base.errors import SpecError

        if not question.asked and question.default is not None and question.name not in self.told:
            return question.default
        if len(question.choices) == 1 and question.name not in self.told:
            return question.choices[0]
        if self.terminal:
            self.told.add(question.name)
            if (before := self.before.pop(question.name, None)) is not None:
                question = replace(question, proposed=before)
            return prompted(f"{question.prompt}: ") or question.offered or ""
        if question.default is not None:
            return question.default
        hint = f"; there are: {', '.join(question.choices)}" if question.choices else f": {question.words}"
        missing = "missing argument 'name'" if question.name == NAME else f"--{question.name} is missing"
        raise SpecError(missing + hint)

    def again(self, draft: Draft, names: Iterable[str]) -> bool:
        """Take answers back that turned out wrong, so that a person is asked again; say whether that is of any use.

        Where nobody gave what is wrong, as it follows from other answers, all of them but the name are asked once more.
        """
        wrong = {name for name in names if name in self.told}
        if not wrong:
            wrong, self.before = self.told - {NAME}, dict(draft.answers)
        for name in wrong:
            draft.answers.pop(name, None)
        return self.terminal and bool(wrong)


def prompted(prompt: str) -> str:
    """Return the line that a person types; raises Abort where nobody types any more."""
    say(prompt, end="", error=True)
    try:
        line = sys.stdin.readline()
    except UnicodeDecodeError:
        return "\N{REPLACEMENT CHARACTER}"
    if not line:
        say(error=True)
        raise typer.Abort
    return line.strip()
