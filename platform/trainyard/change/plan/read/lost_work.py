"""What is lost when a run ends: the work since its last checkpoint, or all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trainyard.change.plan.effects import Lost
from trainyard.change.plan.read.shape import Shape
from trainyard.specs.models.job import Checkpoint

DEFAULT = Checkpoint.model_fields["every_minutes"].default
"""Minutes between two checkpoints where a job does not say."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What becomes of a run's work, in words, and how much of it has to be done again."""

    words: str
    lost: Lost = "nothing"
    gpu_hours: float | None = None
    """The most; None where nobody knows."""


NOTHING = Loss("it computed nothing", gpu_hours=0)
"""What is lost of a run on a rehearsal cluster."""


def when_stopped(old: Shape, job: Any) -> Loss:
    """Return the loss of a run that stops for good; `job` is its former file, or None."""
    if old.claim is None:
        return everything("it has no checkpoints, so all its work is lost", old)
    return since_last(f"its checkpoints stay in volume {old.claim}", "lost", old, job)


def when_resumed(old: Shape, job: Any, name: str) -> Loss:
    """Return the loss of a run that resumes from the checkpoints of another; `name` is the job's."""
    return since_last(f"it resumes from the checkpoints of {name} in volume {old.claim}", "repeated", old, job)


def when_preempted(old: Shape, job: Any) -> Loss:
    """Return the loss of a run that is preempted and resumes later; `job` is its file, or None."""
    if old.claim is None:
        return everything("it has no checkpoints and starts over", old)
    return since_last("it resumes from its checkpoints", "repeated", old, job)


def everything(words: str, old: Shape) -> Loss:
    """Return the loss of all work of a run; only its deadline limits the amount."""
    return Loss(words, "all", None if old.hours is None else old.gpus * old.hours)


def since_last(words: str, what: str, old: Shape, job: Any) -> Loss:
    """Return the loss of the work since the last checkpoint; the amount is unknown without an interval."""
    minutes = old.every if old.every is not None else interval(job)
    if minutes is None:
        return Loss(words, "some")
    spent = old.gpus * minutes / 60
    hours = f" ({spent:.0f} GPU-hours)" if spent >= 1 else ""
    return Loss(f"{words}; at most {minutes} minutes of work{hours} are {what}", "some", spent)


def interval(job: Any) -> int | None:
    """Return the minutes between two checkpoints that a job's file says; None where it says nothing of them."""
    checkpoint = job.get("checkpoint") if isinstance(job, dict) else None
    if not isinstance(checkpoint, dict):
        return None
    minutes = checkpoint.get("everyMinutes", DEFAULT)
    return minutes if isinstance(minutes, int) and not isinstance(minutes, bool) else None
