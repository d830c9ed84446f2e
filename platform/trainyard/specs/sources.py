"""What loading makes of files: every spec with the place of its fields, and the jobs with the small files they name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.documents import Document, Path
from trainyard.base.findings import Location
from trainyard.base.system.repository import JOBS
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.job import Job
from trainyard.specs.models.repository import Repository
from trainyard.specs.models.team import Team
from trainyard.specs.tracked import look


@dataclass(frozen=True, slots=True)
class Source:
    """The file a spec was read from; `document` is None for a job made by Python, whose `line` yields it."""

    file: str
    document: Document | None = None
    line: int = 1
    job: str = ""
    """Name of the job, where a program makes many and the file alone does not say which."""

    @property
    def prefix(self) -> str:
        """What a sentence about the spec begins with."""
        return f"in job {self.job!r}, " if self.job else ""

    def location(self, path: Path = (), *, key: bool = False) -> Location:
        """Return where the field `path` stands, or the line that made the spec."""
        if self.document is None:
            return Location(self.file, self.line, 1)
        return self.document.location(path, key=key)


def prefix_of(message: str) -> str:
    """Return the prefix with which a sentence about one of a program's jobs begins, an empty one for others."""
    found = re.match(r"in job '[^']*', ", message)
    return found[0] if found else ""


@dataclass(frozen=True, slots=True)
class JobFile:
    """A job as loaded: whose it is, what it says, and the small files beside it that it names."""

    team: str
    name: str
    job: Job
    source: Source
    contents: Mapping[str, str] = field(default_factory=dict)
    """Text of each `files[].source`."""
    guessed: frozenset[str] = frozenset()
    """Fields that are missing or wrong, of what is left of a broken job."""

    @property
    def small_files(self) -> list[str]:
        """The small files that the job names."""
        return [f"{JOBS}/{self.team}/{file.source}" for file in self.job.files]


@dataclass(frozen=True, slots=True)
class Printed:
    """What a program that makes jobs prints."""

    file: str
    text: str


@dataclass(frozen=True, slots=True)
class ExtraFile:
    """A plain object of one's own: `platform/extra/<cluster>/{platform,teams/<team>}/<name>.yaml`."""

    cluster: str
    folder: str
    """`platform` or `teams/<team>`."""
    source: Source


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """A cdk8s program of one's own: `platform/extra/<cluster>/{platform,teams/<team>}/<name>.py`."""

    cluster: str
    folder: str
    """`platform` or `teams/<team>`."""
    file: str


@dataclass(frozen=True, slots=True)
class Specs:
    """Everything that people wrote in one repository, checked for shape and for references between files."""

    repository: Repository
    clusters: Mapping[str, Cluster]
    teams: Mapping[str, Team]
    jobs: tuple[JobFile, ...]
    extra: tuple[ExtraFile, ...] = ()
    programs: tuple[ProgramFile, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    """By key `repository`, `cluster/<name>`, `team/<name>`."""

    def __getattribute__(self, name: str) -> Any:
        """Return a part; whoever looks at the repository's settings is taken to read their file."""
        if name == "repository":
            look(object.__getattribute__(self, "sources"), "repository")
        return object.__getattribute__(self, name)
