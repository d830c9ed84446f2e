"""Volcano's Job: tasks that Volcano starts together (volcano v1.14.1)."""

from __future__ import annotations

from trainyard.upstream.workloads.base import Carrier
from trainyard.upstream.workloads.claims import owned
from trainyard.upstream.workloads.ends import Ending
from trainyard.upstream.workloads.volcano import GROUP, LISTS, VARIABLES, VOLUMES, tasks

CARRIER = Carrier(
    GROUP,
    "Job",
    (tasks("spec"),),
    "volcano",
    lists=LISTS,
    trains=True,
    variables=VARIABLES,
    volumes=VOLUMES,
    loses=owned("spec", "volumes"),
    unread={"queueing": "Volcano starts it, not Kueue"},
    ending=Ending(
        "Completed",
        ("Failed", "Terminated", "Aborted"),
        word=("status", "state", "phase"),
        reason=("status", "state", "message"),
    ),
)
