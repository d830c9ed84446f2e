"""Limits of a team's namespace, which the API server holds beside the queues."""

from __future__ import annotations

from pydantic import StrictBool, model_validator

from trainyard.specs.models.base import Amount, Count, Room, Size, Spec, validation_error


class Resources(Spec):
    """An amount of CPUs and memory."""

    cpus: Size
    """Number of CPUs, such as `2` or `0.5`."""
    memory: Room
    """Bytes of memory."""


class Limits(Spec):
    """A ResourceQuota and a LimitRange of a team's namespace, on every cluster that admits the team."""

    queues: StrictBool = False
    """Whether all pods together get at most the CPUs, memory and GPUs that the team's queues can admit. Containers
    without requests are then refused, unless `defaults` has some."""
    beside: Resources | None = None
    """CPUs and memory for pods that wait in no queue, such as shells, in addition to those of the queues; needs
    `queues`."""
    pods: Count | None = None
    """Largest number of pods that have not ended; default: no limit."""
    claims: Amount | None = None
    """Largest number of PersistentVolumeClaims; default: no limit."""
    storage: Room | None = None
    """Bytes of all PersistentVolumeClaims together; default: no limit."""
    defaults: Resources | None = None
    """Requests of containers that have none, and their limit of memory; default: none, as all containers of jobs have
    requests."""

    @model_validator(mode="after")
    def some(self) -> Limits:
        """Refuse limits of nothing, and room beside the queues where their quota is no limit."""
        if not self.model_fields_set:
            raise validation_error("empty", "is empty; write at least one limit, or remove it")
        if self.beside is not None and not self.queues:
            raise validation_error("one-of", "has beside, which needs queues: true")
        return self
