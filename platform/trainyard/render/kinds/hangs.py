"""How soon a run ends by itself when its ranks wait for one another for ever."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.render.kinds.base import Resolved
from trainyard.render.sizing.base import Sized

MINUTES = 10
"""Longest collective of a process group on NCCL or RCCL (pytorch v2.9 ProcessGroupNCCL.hpp default timeout)."""

HANDLING = "TORCH_NCCL_ASYNC_ERROR_HANDLING"
"""Variable by which a rank does not end when a collective takes longer: 0 and 2 (the same file, ErrorHandlingMode)."""


def facts(run: Resolved) -> Iterator[tuple[str, Sized[str]]]:
    """Yield the bound for runs of torchrun with several ranks on GPUs; of other programs nobody knows it here."""
    ranks = sum(role.pods * role.processes for role in run.roles if role.size.ranks)
    gpus = sum(role.pods * role.size.gpus.value for role in run.roles)
    if run.launcher.name != "torchrun" or ranks < 2 or not gpus or run.run.job.array is not None:
        return
    hours = run.run.job.max_hours
    last = f"{hours:g} hours" if hours else "none"
    until = "maxHours of the job" if hours else "the job has no maxHours"
    if run.run.job.env.get(HANDLING) in {"0", "2"}:
        yield "hang", Sized(last, f"{until}; {HANDLING} turns PyTorch's watchdog off")
        return
    yield (
        "hang",
        Sized(
            f"{MINUTES} minutes",
            "PyTorch's watchdog ends ranks in a longer collective, unless the program sets another timeout; "
            f"bound of a program that hangs in no collective: {last}",
        ),
    )
