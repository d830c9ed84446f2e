"""What a plan read and found out, of which more than its words is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trainyard.admission.bid import Bid
from trainyard.admission.changes import Decide
from trainyard.admission.site import Site
from trainyard.plan.decide.decisions import answered, called
from trainyard.plan.decide.workloads import Seen, bids, filled, models, runs_of, sites
from trainyard.plan.read.memory import Memory
from trainyard.plan.read.sides import Sides
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
        """Return what answers for Kueue, and remembers it."""
        return lambda site, case: answered(site, case, self.memory)

    def jobs(self, cluster: str) -> tuple[Jobs | None, Jobs | None]:
        """Return the jobs of a cluster before and after, None on a side where its file is not there or not right."""
        both = sites(self.sides, cluster, self.clusters, self.memory)
        found = []
        for side, model, where in zip(
            (self.sides.base, self.sides.now), models(self.sides, cluster, self.clusters), both, strict=True
        ):
            runs = {called(place): entry.name for place, entry in runs_of(side, cluster)}
            mine = tuple(bids(side, where, self.memory)) if where is not None else ()
            whole = tuple(filled(mine, where)) if where is not None else ()
            why = f"cluster {cluster!r} has no queues"
            others = () if where is not None else tuple(Bid(name, why=why) for name in runs)
            found.append(Jobs(model, where, mine, (*whole, *others), runs) if model is not None else None)
        return found[0], found[1]
