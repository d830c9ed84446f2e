"""DisaggregatedSet: LeaderWorkerSets by role (lws v0.9.0)."""

from __future__ import annotations

from trainyard.base.manifests import ANY
from trainyard.upstream.workloads.base import Carrier
from trainyard.upstream.workloads.claims import kept_unless_said
from trainyard.upstream.workloads.lws import VARIABLES, group_of_lws
from trainyard.upstream.workloads.unread import SERVES

CARRIER = Carrier(
    "disaggregatedset.x-k8s.io",
    "DisaggregatedSet",
    group_of_lws("spec", "roles", ANY, "spec"),
    "lws",
    variables=VARIABLES,
    loses=kept_unless_said("spec", "roles", ANY, "spec", "leaderWorkerTemplate"),
    unread={**SERVES, "queueing": "Kueue looks at the LeaderWorkerSets that it makes"},
)
