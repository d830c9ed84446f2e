"""Volcano's CronJob: its Jobs on a schedule (volcano v1.14.1)."""

from __future__ import annotations

from trainyard.upstream.workloads.base import Carrier
from trainyard.upstream.workloads.claims import owned
from trainyard.upstream.workloads.unread import MAKES
from trainyard.upstream.workloads.volcano import GROUP, LISTS, VARIABLES, VOLUMES, tasks

CARRIER = Carrier(
    GROUP,
    "CronJob",
    (tasks("spec", "jobTemplate", "spec"),),
    "volcano",
    lists=LISTS,
    makes=True,
    variables=VARIABLES,
    volumes=VOLUMES,
    loses=owned("spec", "jobTemplate", "spec", "volumes"),
    unread=MAKES,
)
