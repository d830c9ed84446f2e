"""GPUs that are not handed out whole: what a pool makes of each of its own."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictInt, StrictStr, model_validator

from trainyard.specs.models.base import Amount, Form, Spec, validation_error

MOST_REPLICAS = 48
"""Programs that may share one GPU by MPS (NVIDIA Multi-Process Service documentation, limitations, R580)."""

Profile = Annotated[
    StrictStr,
    Form(r"[1-7]g\.[1-9][0-9]*gb(?:\+me(?:\.all)?|\+gfx|-me)?", "a MIG profile such as 1g.10gb"),
]
"""A part of a GPU as NVIDIA names it: slices of its compute units, memory, and more or less than the usual engines."""

Instances = Annotated[StrictInt, Field(ge=1, le=7)]


class Mig(Spec):
    """GPUs that MIG splits into devices, each with its own memory and compute units."""

    strategy: Literal["single", "mixed"] = "mixed"
    """`mixed`: one extended resource per profile; `single`: all devices under the resource of whole GPUs. One
    strategy per cluster."""
    layout: Annotated[dict[Profile, Instances], Field(min_length=1)]
    """Number of devices of each profile on one GPU."""
    gpus: tuple[Amount, ...] = ()
    """Indices of the GPUs to split; default: all GPUs of a node."""


class Sharing(Spec):
    """GPUs that several programs use at the same time."""

    by: Literal["timeSlicing", "mps"]
    """`timeSlicing`: programs take turns, and nothing divides the memory; `mps`: they run together, each with its
    part."""
    replicas: Annotated[StrictInt, Field(ge=2)]
    """Number of pods that share one GPU."""

    @model_validator(mode="after")
    def few(self) -> Sharing:
        """Refuse more programs than MPS takes."""
        if self.by == "mps" and self.replicas > MOST_REPLICAS:
            raise validation_error(
                "replicas", f"has replicas: {self.replicas}, but MPS allows at most {MOST_REPLICAS}; lower replicas"
            )
        return self


PARTS = {"SPX": 1, "DPX": 2, "QPX": 4, "CPX": 8}
"""GPUs that one card with eight compute dies becomes, by compute mode (AMD GPU driver documentation, partitioning)."""


class Partition(Spec):
    """Mode of AMD GPUs, in which each card shows itself as several GPUs."""

    compute: Literal["SPX", "DPX", "QPX", "CPX"]
    """`SPX`: a card is one GPU; `DPX`, `QPX`, `CPX`: two, four, eight."""
    memory: Literal["NPS1", "NPS2", "NPS4"] = "NPS1"
    """`NPS1`: all parts use the whole memory of the card; `NPS2`, `NPS4`: it is split into two or four ranges."""

    @property
    def parts(self) -> int:
        """GPUs that a card becomes."""
        return PARTS[self.compute]

    @property
    def mode(self) -> str:
        """The pair of modes as AMD writes it, such as `CPX/NPS4`."""
        return f"{self.compute}/{self.memory}"
