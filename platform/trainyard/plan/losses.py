"""What is lost when a run ends: the work since its last checkpoint, or all of it."""

from __future__ import annotations

from typing import Any

from trainyard.plan.shape import Shape
from trainyard.specs.models.job import Checkpoint

DEFAULT = Checkpoint.model_fields["every_minutes"].default
"""Minutes between two checkpoints where a job does not say."""


def stopped(old: Shape, job: Any) -> str:
    """Return what becomes of the work of a run that ends for good; `job` is its file as it was, or None."""
    if old.claim is None:
        return "it has no checkpoints, so all its work is lost"
    again = since_last(old, job)
    return f"its checkpoints stay in volume {old.claim}" + (f"; {again} lost" if again else "")


def resumed(old: Shape, job: Any, name: str) -> str:
    """Return what a run does that goes on from the checkpoints of another; `name` is the job's."""
    again = since_last(old, job)
    return f"it resumes from the checkpoints of {name} in volume {old.claim}" + (f"; {again} repeated" if again else "")


def since_last(old: Shape, job: Any) -> str:
    """Return how much work lies at most between two checkpoints; nothing where no file says how often they come."""
    checkpoint = job.get("checkpoint") if isinstance(job, dict) else None
    if not isinstance(checkpoint, dict):
        return ""
    minutes = checkpoint.get("everyMinutes", DEFAULT)
    if not isinstance(minutes, int) or isinstance(minutes, bool):
        return ""
    hours = f" ({old.gpus * minutes / 60:.0f} GPU-hours)" if old.gpus * minutes >= 60 else ""
    return f"at most {minutes} minutes of work{hours} are"
