"""Health of nodes: which are watched, and for which faults."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictBool, StrictStr

from trainyard.specs.models.base import (
    Count,
    Form,
    Image,
    Name,
    Spec,
    SubdomainName,
    Text,
    named_once,
    validation_error,
)
from trainyard.upstream.apiserver.patterns import NotRead, TooLarge, compile_pattern

Reason = Annotated[StrictStr, Form(r"[A-Z][A-Za-z0-9]*", "a word in CamelCase", 63)]


def expression(value: str) -> str:
    """Refuse what the detector, written in Go, does not read as an expression."""
    try:
        compile_pattern(value)
    except NotRead:
        raise validation_error("pattern", f"{value!r} is not an expression in RE2's syntax") from None
    except TooLarge:
        raise validation_error("pattern", "is too large; use a shorter expression") from None
    return value


class OwnFault(Spec):
    """A fault that the kernel's log of your nodes shows."""

    pattern: Annotated[Text, AfterValidator(expression)]
    """Expression in RE2's syntax that matches to the end of the line."""
    lasting: StrictBool = False
    """Whether the node needs a repair, so that it gets the condition `NodeFault`; default: an event of the node."""


class BurnIn(Spec):
    """A test of idle nodes at night: all their GPUs compute and sum, and their results are compared.

    Kueue admits it at the lowest priority and by quota that nobody uses, so that every run preempts it.
    """

    image: Image
    """Image by digest with `python3` and the torch of your GPUs, such as that of a job."""
    cohort: SubdomainName
    """Cohort whose unused quota it borrows."""
    pools: Annotated[tuple[Name, ...], AfterValidator(named_once)] = ()
    """Pools that are tested; default: all with whole GPUs, a fixed number of nodes and quota in the cohort."""
    schedule: Text = "0 1 * * *"
    """When it is queued, as a cron expression; default: every night at 01:00. What still runs or waits then ends."""
    time_zone: Text = "Etc/UTC"
    """IANA name of the schedule's time zone, such as `Europe/Berlin`."""
    minutes: Count = 10
    """Minutes that every GPU computes."""
    marker_image: Image | None = None
    """Image by digest with `python3` that marks nodes which failed, so that they get a taint; of your own, not of a
    team: it runs with rights on nodes. Default: a person cordons them."""


class Health(Spec):
    """Faults of hardware: node-problem-detector finds them, and node-readiness-controller taints the nodes."""

    pools: Annotated[tuple[Name, ...], AfterValidator(named_once)] = ()
    """Pools that are watched; default: all with GPUs."""
    effect: Literal["NoSchedule", "NoExecute"] = "NoSchedule"
    """`NoSchedule`: running pods stay until they end; `NoExecute`: they end at once, daemons that do not tolerate
    the taint included."""
    faults: dict[Reason, OwnFault] = Field(default={}, max_length=32)
    """Faults of your own, by the reason that condition and events name."""
    ignore: Annotated[tuple[Reason, ...], AfterValidator(named_once)] = ()
    """Known faults that are not watched."""
    burn_in: BurnIn | None = None
    """A test of idle nodes at night; default: none."""
