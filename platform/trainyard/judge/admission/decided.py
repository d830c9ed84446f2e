"""As which release of Kueue, Volcano or Kubernetes a cluster's jobs are decided, where its own was never compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from trainyard.base.versions import exact, line
from trainyard.render.operators.install import sites
from trainyard.specs import Cluster, Scheduler
from trainyard.specs.releases import foreign_hooks, releases
from trainyard.upstream.scheduler.releases import MEASURED, decided_as

PLACER: Literal["kube-scheduler"] = "kube-scheduler"
"""Who places the pods of admitted jobs; its release is that of Kubernetes."""


@dataclass(frozen=True)
class Decider:
    """A scheduler that decides on jobs of a cluster, its release there, and the release as which we decide."""

    scheduler: Scheduler | Literal["kube-scheduler"]
    release: str
    decided_as: str

    @property
    def is_same(self) -> bool:
        """Whether the cluster's own release was compared; of Kubernetes one patch stands for all of its minor."""
        alike = line if self.scheduler == PLACER else str
        return exact(alike(self.release), alike(self.decided_as))

    def __str__(self) -> str:
        """Return both releases in words, as in `Kueue 0.20.0 is decided as 0.19.2`."""
        name = self.scheduler if self.scheduler == PLACER else self.scheduler.capitalize()
        return f"{name} {self.release} is decided as {self.decided_as}"


def deciders(cluster: Cluster) -> Iterator[Decider]:
    """Yield the schedulers that have queues on a cluster, and the one that places pods."""
    for scheduler in get_args(Scheduler):
        choice = cluster.operators.get(scheduler)
        instead = releases()[scheduler].decided_as(choice.version) if choice else None
        if choice and instead and cluster.queues_of(scheduler):
            yield Decider(scheduler, choice.version, instead)
    yield Decider(PLACER, cluster.kubernetes, MEASURED[decided_as(cluster.kubernetes)])


def stand_ins(cluster: Cluster) -> list[str]:
    """Return in words which releases on a cluster are decided as another, and whose webhooks are."""
    decided = [str(decider) for decider in deciders(cluster) if not decider.is_same]
    return [*decided, *foreign_hooks({site.name: site.version for site in sites(cluster)})]
