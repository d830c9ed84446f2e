"""What a plan read and found out, of which more than its words is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trainyard.base.memory import Memory
from trainyard.change.plan.decide.decisions import job_name, remembered_answer
from trainyard.change.plan.decide.workloads import Seen, bids, complete_bids, models, runs_of, sites
from trainyard.change.plan.read.two_sides import Sides
from trainyard.judge.admission.changes import Decide
from trainyard.judge.admission.job_workloads import Bid
from trainyard.judge.admission.site import Site
from trainyard.specs.models.cluster import Cluster


@dataclass(frozen=True)
class Jobs:
    """A cluster on one side of a change, and the jobs with runs there."""

    cluster: Cluster
    where: Site | None
    """None where it has no queues."""
    bids: tuple[Seen, ...] = ()
    """What they ask of Kueue."""
    whole: tuple[Bid, ...] = ()
    """The same with all by which nodes decide; of others the reason why nobody is asked."""
    runs: Mapping[str, str] = field(default_factory=dict)
    """The names of their runs."""


@dataclass(frozen=True)
class Known:
    """Both trees, the clusters at hand, and what is remembered."""

    sides: Sides
    clusters: Mapping[str, Cluster]
    """Those that were read before."""
    names: tuple[str, ...]
    """All of them."""
    memory: Memory

    def decide(self) -> Decide:
        """Return the function that answers for Kueue and remembers its answers."""
        return lambda site, case: remembered_answer(site, case, self.memory)

    def jobs(self, cluster: str) -> tuple[Jobs | None, Jobs | None]:
        """Return the jobs of a cluster before and after, None on a side where its file is not there or not right."""
        both = sites(self.sides, cluster, self.clusters, self.memory)
        found = []
        for side, model, where in zip(
            (self.sides.base, self.sides.now), models(self.sides, cluster, self.clusters), both, strict=True
        ):
            runs = {job_name(place): entry.name for place, entry in runs_of(side, cluster)}
            mine = tuple(bids(side, where, self.memory)) if where is not None else ()
            whole = tuple(complete_bids(mine, where)) if where is not None else ()
            why = f"cluster {cluster!r} has no queues"
            others = () if where is not None else tuple(Bid(name, why=why) for name in runs)
            found.append(Jobs(model, where, mine, (*whole, *others), runs) if model is not None else None)
        return found[0], found[1]
