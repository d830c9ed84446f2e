"""GPUs that are not handed out whole: what a pool makes of each of its own."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictInt, StrictStr, model_validator

from trainyard.specs.models.base import Amount, Form, Spec, validation_error

MOST_REPLICAS = 48
"""Programs that may share one GPU by MPS (NVIDIA Multi-Process Service documentation, limitations, R580)."""

Profile = Annotated[StrictStr, Form(r"[1-7]g\.[1-9][0-9]*gb(?:\+me)?", "a MIG profile such as 1g.10gb")]
"""A part of a GPU as NVIDIA names it: sevenths of its compute units, and memory."""

Instances = Annotated[StrictInt, Field(ge=1, le=7)]


class Mig(Spec):
    """GPUs cut by MIG into devices of their own, each with its memory and compute units."""

    strategy: Literal["single", "mixed"] = "mixed"
    """How nodes offer them: `mixed`, a resource for each profile; `single`, all as whole GPUs are; one on a cluster."""
    layout: Annotated[dict[Profile, Instances], Field(min_length=1)]
    """How many devices of which profile each GPU is cut into."""
    gpus: tuple[Amount, ...] = ()
    """Indices of the GPUs that are cut; default: all of a node."""


class Sharing(Spec):
    """GPUs that several programs use at once."""

    by: Literal["timeSlicing", "mps"]
    """`timeSlicing`: one after the other, with nothing between their memory; `mps`: together, each with its part."""
    replicas: Annotated[StrictInt, Field(ge=2)]
    """How many pods share one GPU."""

    @model_validator(mode="after")
    def few(self) -> Sharing:
        """Refuse more programs than MPS takes."""
        if self.by == "mps" and self.replicas > MOST_REPLICAS:
            raise validation_error(
                "replicas", f"has replicas: {self.replicas}, but MPS takes {MOST_REPLICAS}; lower them"
            )
        return self
