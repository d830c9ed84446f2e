"""JobTemplate: what a JobFlow of Volcano's makes Jobs of (volcano v1.14.1)."""

from __future__ import annotations

from trainyard.upstream.workloads.base import Carrier
from trainyard.upstream.workloads.unread import IDLE
from trainyard.upstream.workloads.volcano import LISTS, VARIABLES, VOLUMES, tasks

CARRIER = Carrier(
    "flow.volcano.sh",
    "JobTemplate",
    (tasks("spec"),),
    "volcano",
    lists=LISTS,
    makes=True,
    idle=True,
    variables=VARIABLES,
    volumes=VOLUMES,
    unread={**IDLE, "webhooks": "Volcano judges the Jobs that are made of it"},
)
