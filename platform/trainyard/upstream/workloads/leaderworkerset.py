"""LeaderWorkerSet: groups of a leader and its workers, until it is removed (lws v0.9.0)."""

from __future__ import annotations

from trainyard.upstream.workloads.base import Carrier, Exclusive
from trainyard.upstream.workloads.claims import kept_unless_said
from trainyard.upstream.workloads.lws import VARIABLES, group_of_lws

CARRIER = Carrier(
    "leaderworkerset.x-k8s.io",
    "LeaderWorkerSet",
    group_of_lws("spec"),
    "lws",
    "leaderworkerset.x-k8s.io/leaderworkerset",
    trains=True,
    exclusive=Exclusive("leaderworkerset.sigs.k8s.io/exclusive-topology", "leaderworkerset.sigs.k8s.io/group-key"),
    variables=VARIABLES,
    loses=kept_unless_said("spec", "leaderWorkerTemplate"),
)
