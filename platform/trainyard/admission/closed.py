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


def closed(answer: Answer, mine: Sequence[Answer]) -> Closed | None:
    """Return why the queue of a job takes nothing, None where it works; `answer` is the whole one."""
    for each in mine:
        if held := LOCAL.match(each.get("message") or ""):
            return Closed(f"LocalQueue {held[1]} of its team", "is stopped", lasts=False)
        name = each.get("clusterQueue") or ""
        queue = answer.get("clusterQueues", {}).get(name)
        if queue is not None and not queue["active"]:
            return said(name, queue.get("message") or "", answer.get("faults", ()))
    return None


def said(name: str, message: str, faults: Sequence[Answer]) -> Closed:
    """Return what Kueue says of an inactive queue; of one in a circle of cohorts that is what it has logged."""
    if not message.startswith(PREFIX):
        found = [each["message"] for each in faults if each["object"] == f"ClusterQueue/{name}"]
        return Closed(f"queue {name}", f"takes nothing: {', '.join(found) or message}", lasts=True)
    text = message.removeprefix(PREFIX).removesuffix(".")
    reasons = [each for each in text.split(", ") if not each.startswith(FOR_NOW)]
    if reasons and not reasons[0].startswith(REFERENCES):
        return Closed(f"queue {name}", f"takes nothing: {', '.join(reasons)}", lasts=True)
    return Closed(f"queue {name}", ", ".join(reasons) or " and ".join(text.split(", ")), lasts=bool(reasons))
