"""As which release of Kueue or Volcano a cluster's jobs are decided, where its own was never compared with ours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

from trainyard.base.versions import exact
from trainyard.render.operators.install import sites
from trainyard.specs import Cluster, Scheduler
from trainyard.specs.releases import foreign_hooks, releases


@dataclass(frozen=True)
class Decider:
    """The scheduler that admits jobs of a cluster, its release there, and the release as which we decide."""

    scheduler: Scheduler
    release: str
    decided_as: str

    @property
    def is_same(self) -> bool:
        """Whether the cluster's own release was compared."""
        return exact(self.release, self.decided_as)

    def __str__(self) -> str:
        """Return both releases in words, as in `Kueue 0.20.0 is decided as 0.19.2`."""
        return f"{self.scheduler.capitalize()} {self.release} is decided as {self.decided_as}"


def deciders(cluster: Cluster) -> Iterator[Decider]:
    """Yield the schedulers that have queues on a cluster."""
    for scheduler in get_args(Scheduler):
        choice = cluster.operators.get(scheduler)
        instead = releases()[scheduler].decided_as(choice.version) if choice else None
        if choice and instead and cluster.queues_of(scheduler):
            yield Decider(scheduler, choice.version, instead)


def stand_ins(cluster: Cluster) -> list[str]:
    """Return in words which releases on a cluster are decided as another, and whose webhooks are."""
    decided = [str(decider) for decider in deciders(cluster) if not decider.is_same]
    return [*decided, *foreign_hooks({site.name: site.version for site in sites(cluster)})]
