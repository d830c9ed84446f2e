"""Other values of fields of a job, as a person writes them into its file."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from trainyard.specs import Job
from trainyard.specs.run import written_fields

Path = tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """Values of fields, each by its path in the job's file."""

    values: tuple[tuple[Path, Any], ...]

    def __str__(self) -> str:
        """The fields as reports of machines have them."""
        return " with ".join(self.fields())

    def fields(self) -> list[str]:
        """Return the fields as a person writes them."""
        return [f"{'.'.join(path)}: {flow(value)}" for path, value in self.values]

    def of(self, job: Job) -> Job:
        """Return a job with these values; raises ValueError where it cannot be so."""
        fields = copy.deepcopy(written_fields(job))
        for path, value in self.values:
            place = fields
            for name in path[:-1]:
                place = place.setdefault(name, {})
            place[path[-1]] = value
        return Job.model_validate(fields)


def flow(value: Any) -> str:
    """Return a value as YAML writes it in one line."""
    return (
        "{" + ", ".join(f"{key}: {entry}" for key, entry in value.items()) + "}"
        if isinstance(value, dict)
        else str(value)
    )


def one(*path: str, value: Any) -> Change:
    """Return a change of one field."""
    return Change(((path, value),))
