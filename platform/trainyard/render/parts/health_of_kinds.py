"""Health scripts of kinds whose controllers are others', from facts in a table: how each kind says that it is well."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from trainyard.render.parts.health import by_rows, by_words, still

Verdict = Literal["Healthy", "Progressing", "Suspended", "Degraded", "Missing", "Unknown"]
"""What a health script of Argo CD may say."""

Row = tuple[str, Literal["True", "False", "Unknown"], Verdict] | tuple[str, Literal["True", "False"], Verdict, str]
"""Type and status of a condition and what follows, at times only for some reasons, with spaces between them."""


class Health(BaseModel):
    """How objects of one kind say that they are well; exactly one of `still`, `words` and `conditions` is there."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    still: str | None = None
    """Why it is Healthy at once: its controller writes nothing from which health could be told."""
    words: Mapping[str, str | list[str]] = Field(default_factory=dict)
    """`of` is a dotted path in the status, and each verdict has the words of it that say so."""
    conditions: list[Row] = Field(default_factory=list)
    """The first row that holds decides."""
    tells: str | None = None
    """A dotted path in the status with the reason, where it is not Healthy."""
    waits: str = "Waiting for the controller"
    """What is shown until the controller has written a status."""
    source: str
    """Where upstream says so: project, release and file."""
    assumed: bool = False
    """Whether the words are those of a schema or of a sister kind, and the controller's source was not read."""

    @model_validator(mode="after")
    def _is_one_of_three(self) -> Health:
        if sum(map(bool, (self.still, self.words, self.conditions))) != 1:
            raise ValueError("say one of still, words and conditions")
        return self

    def script(self) -> str:
        """Return the script in Lua."""
        if self.still:
            return still()
        if self.conditions:
            return by_rows([(*row[:3], row[3] if len(row) > 3 else "") for row in self.conditions], waits=self.waits)
        verdicts = {word: verdict for verdict, words in self.words.items() if verdict != "of" for word in words}
        return by_words(str(self.words["of"]), verdicts, waits=self.waits, tells=self.tells)


@cache
def known_health() -> dict[str, Health]:
    """Return how each kind of the table says that it is well, by `<group>/<kind>`."""
    file = resources.files(__package__) / "health_of_kinds.yaml"
    rows = yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader)
    return {kind: Health.model_validate(row) for kind, row in rows.items()}
