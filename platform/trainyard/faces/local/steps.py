"""How far training has come, by lines that say `step=N`, and what a kill has cost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from trainyard.faces.local.controllers.base import RunError
from trainyard.faces.local.kubelet import Resolved
from trainyard.faces.local.saves import Saves

STEP = re.compile(r"^(?!\s*(?:saved|saving|resumed|resuming|loaded)\b).*?\bstep=(\d+)\b")
"""In a line that tells a step; one that begins with another word is about a checkpoint."""

LOSS = re.compile(r"\bloss[=:]\s*([-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|nan|inf))", re.IGNORECASE)

SERVES = frozenset({"ps", "launcher", "head", "submitter", "evaluator"})
"""Roles that have no rank."""

LEADS = ("master", "chief")
PROCESSES = re.compile(r"^--nproc[-_]per[-_]node=(\d+)$")


@dataclass
class Target:
    """A pod to kill, and at which step."""

    pod: str
    step: int
    done: bool = False


def target(text: str, pods: Sequence[Resolved]) -> Target:
    """Read `RANK@STEP` or `ROLE-INDEX@STEP`; raises RunError where there is no such pod."""
    who, at, step = text.rpartition("@")
    if not at or not step.isdigit():
        raise RunError(f"--kill {text} must be RANK@STEP or ROLE-INDEX@STEP, as in 1@30")
    ranked = [pod for pod in pods if pod.pod.role not in SERVES]
    ranked.sort(key=lambda item: (item.pod.role not in LEADS, item.pod.role == "worker" and 1, item.pod.index))
    if who.isdigit():
        value = max(1, processes(ranked[0])) if ranked else 1
        if int(who) >= value * len(ranked):
            raise RunError(f"--kill {text} names rank {who}, but ranks are 0 to {value * len(ranked) - 1}")
        return Target(ranked[int(who) // value].pod.name, int(step))
    found = next((pod for pod in pods if f"{pod.pod.role}-{pod.pod.index}" == who), None)
    if found is None:
        there = ", ".join(f"{pod.pod.role}-{pod.pod.index}" for pod in pods)
        raise RunError(f"--kill {text} names {who!r}, but the pods are {there}")
    return Target(found.pod.name, int(step))


def processes(pod: Resolved) -> int:
    """Return how many ranks a pod has, as its command line or its variables say; 1 where they do not."""
    words = pod.main.command
    for word, after in pairwise((*words, "")):
        if match := PROCESSES.match(word):
            return int(match[1])
        if word in {"--nproc-per-node", "--nproc_per_node"} and after.isdigit():
            return int(after)
    said = pod.main.env.get("PET_NPROC_PER_NODE", "")
    return int(said) if said.isdigit() else 1


@dataclass
class Steps:
    """The steps that were seen, and when."""

    last: int | None = None
    loss: str = ""
    """That of the last step, as it was told."""
    saves: Saves = field(default_factory=Saves)
    seen: dict[int, float] = field(default_factory=dict)
    struck_at: float | None = None
    before: int = 0
    begun: bool = False
    """Whether anything has started again since the kill."""
    teller: str = ""
    """The pod whose lines count: the first that tells a step, until something starts again."""

    def again(self) -> None:
        """Something starts again; rank 0 may be elsewhere now."""
        self.begun, self.teller = self.struck_at is not None, ""

    def struck(self, now: float) -> None:
        """Somebody was killed."""
        self.struck_at, self.before, self.begun = now, self.last or 0, False

    def see(self, text: str, pod: str, now: float) -> list[str]:
        """Take a line of a pod, and return what it says of the cost of a kill."""
        match = STEP.match(text)
        if self.saves.see(text) or match is None or self.teller not in {"", pod}:
            return []
        self.teller = pod
        step, told = int(match[1]), []
        if self.saves.first is None:
            self.saves.first = step - 1
        if loss := LOSS.search(text):
            self.loss = loss[1]
        if self.struck_at is not None:
            reached = self.last or 0
            if step < reached or (step <= reached + 1 and self.begun):
                told.append(self.cost(step, reached, now))
                self.struck_at = None
        self.last = step
        self.seen[step] = now
        return told

    def cost(self, step: int, reached: int, now: float) -> str:
        """Return the cost of the kill in steps and seconds."""
        again = max(0, reached - step + 1)
        work = self.seen.get(reached, now) - self.seen.get(step, self.seen.get(reached, now)) if again else 0.0
        waited = now - (self.struck_at or now)
        steps = "no step" if again == 0 else "1 step" if again == 1 else f"{again} steps"
        lost = f"{steps} repeated, {work:.1f} s of work; {self.saves}"
        return f"resumed at step {step} after {waited:.1f} s: {lost}"
