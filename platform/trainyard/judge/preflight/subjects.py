"""What checks look at, and what each is given of it: a module declares its check by one, and nobody lists it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.judge.preflight.declared import Subject
from trainyard.judge.preflight.names import present
from trainyard.render.kinds import Kind, Resolved, all_roles, kinds
from trainyard.render.launchers import Launcher, launchers
from trainyard.render.sizing import RoleSpec
from trainyard.specs import Cluster, Team
from trainyard.specs.run import Run
from trainyard.specs.sources import JobFile, Source, Specs

if TYPE_CHECKING:
    from trainyard.specs.load import Loaded


@dataclass(frozen=True)
class OneJob:
    """A job's file beside all specs."""

    specs: Specs
    file: JobFile
    run: Run | None
    """Its run; None where it names a cluster, pool or shape that does not exist."""
    broken: frozenset[str] = frozenset()
    """Keys of specs that are there but could not be read."""

    @property
    def team(self) -> Team | None:
        """Its team, None where that has no file."""
        return self.specs.teams.get(self.file.team)

    @property
    def cluster(self) -> Cluster | None:
        """Its cluster, None where that has no file."""
        return self.specs.clusters.get(self.file.job.cluster)


@dataclass(frozen=True)
class Planned:
    """A run whose kind and launcher exist, before sizes and command lines are derived."""

    run: Run
    kind: Kind
    launcher: Launcher
    roles: tuple[RoleSpec, ...]

    @classmethod
    def of(cls, run: Run) -> Planned:
        """Return a run with its kind and its launcher; raises KeyError for others."""
        return cls(run, kinds()[run.kind], launchers()[run.job.launcher], all_roles(run))


@dataclass(frozen=True)
class OneCluster:
    """A cluster's file beside all specs."""

    loaded: Loaded
    name: str
    schemas: Path
    """The folder of API types and of the defaults of charts."""

    @property
    def cluster(self) -> Cluster:
        """What its file says."""
        return self.loaded.specs.clusters[self.name]

    @property
    def source(self) -> Source:
        """Where its file says it."""
        return self.loaded.specs.sources[f"cluster/{self.name}"]

    @property
    def teams(self) -> set[str]:
        """The names of all teams that have a file, readable or not."""
        return present("team", self.loaded.specs.teams, self.loaded.broken)


@dataclass(frozen=True)
class OneTeam:
    """A team's file beside all specs."""

    specs: Specs
    name: str
    broken: frozenset[str] = frozenset()
    """Keys of specs that are there but could not be read."""

    @property
    def team(self) -> Team:
        """What its file says."""
        return self.specs.teams[self.name]

    @property
    def source(self) -> Source:
        """Where its file says it."""
        return self.specs.sources[f"team/{self.name}"]


NAMED: Subject[[OneJob]] = Subject("job")
"""What a job names: asked of jobs of which a field is broken, too."""

JOB: Subject[[OneJob]] = Subject("job")
"""What a job's file says, wherever it runs."""

PLACED: Subject[[OneJob, Team, Cluster]] = Subject("job")
"""A job whose team and cluster have files."""

RUN: Subject[[Planned]] = Subject("job", after=("kind.check_names",))
"""A job's run before anything is derived of it."""

RESOLVED: Subject[[Resolved]] = Subject("job", after=("size.check_counts", "patches.check_shapes"))
"""A job's run with everything that follows from it."""

CLUSTER: Subject[[Cluster, Source]] = Subject("cluster")
"""What a cluster's file says."""

CLUSTER_BESIDE: Subject[[OneCluster]] = Subject("cluster")
"""What a cluster's file says in view of other files."""

TEAM: Subject[[OneTeam]] = Subject("team")
"""What a team's file says in view of other files."""

BETWEEN: Subject[[Loaded]] = Subject("between")
"""What files say of each other."""
