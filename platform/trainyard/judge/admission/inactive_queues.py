"""Queues that take no job: somebody holds them for a while, or they lack what nobody has declared."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LOCAL = re.compile(r"LocalQueue (\S+) is inactive")
"""What Kueue says of a Workload whose LocalQueue is held."""

PREFIX = "Can't admit new workloads: "
"""How Kueue begins to say why a queue takes nothing."""

FOR_NOW = ("is stopped", "references inactive AdmissionCheck(s)")
"""What ends without a change of what is declared: somebody opens the queue, a controller reports for duty."""

REFERENCES = "references "
"""How Kueue begins to say what a queue lacks; other reasons do not go on with the queue's name."""

Answer = Mapping[str, Any]


@dataclass(frozen=True)
class Closed:
    """Why a queue takes nothing."""

    whose: str
    """The queue."""
    why: str
    lasts: bool
    """Whether it is so until somebody declares something else."""

    @property
    def text(self) -> str:
        """The queue, and why it takes nothing."""
        return f"{self.whose} {self.why}" if self.lasts else f"{self.whose}, which {self.why}"


def closed_queue(answer: Answer, mine: Sequence[Answer]) -> Closed | None:
    """Return why the queue of a job takes nothing, None where it works; `answer` is the whole one."""
    for item in mine:
        if held := LOCAL.match(item.get("message") or ""):
            return Closed(f"LocalQueue {held[1]} of its team", "is stopped", lasts=False)
        name = item.get("clusterQueue") or ""
        queue = answer.get("clusterQueues", {}).get(name)
        if queue is not None and not queue["active"]:
            return explain(name, queue.get("message") or "", answer.get("faults", ()))
    return None


def explain(name: str, message: str, faults: Sequence[Answer]) -> Closed:
    """Return Kueue's reason for an inactive queue; for a circle of cohorts, its log message."""
    if not message.startswith(PREFIX):
        found = [fault["message"] for fault in faults if fault["object"] == f"ClusterQueue/{name}"]
        return Closed(f"queue {name}", f"admits nothing: {', '.join(found) or message}", lasts=True)
    text = message.removeprefix(PREFIX).removesuffix(".")
    reasons = [part for part in text.split(", ") if not part.startswith(FOR_NOW)]
    if reasons and not reasons[0].startswith(REFERENCES):
        return Closed(f"queue {name}", f"admits nothing: {', '.join(reasons)}", lasts=True)
    return Closed(f"queue {name}", ", ".join(reasons) or " and ".join(text.split(", ")), lasts=bool(reasons))
