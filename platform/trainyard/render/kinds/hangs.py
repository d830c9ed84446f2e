"""How soon a run ends by itself when its ranks wait for one another for ever."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from trainyard.render.kinds.base import Resolved
from trainyard.render.parts import contract
from trainyard.render.sizing import RoleSize
from trainyard.render.sizing.base import Sized
from trainyard.specs.run import Run

MINUTES = 10
"""Longest collective of a process group on NCCL or RCCL (pytorch v2.9 ProcessGroupNCCL.hpp default timeout)."""

HANDLING = "TORCH_NCCL_ASYNC_ERROR_HANDLING"
"""Variable by which a rank does not end when a collective takes longer: 0 and 2 (the same file, ErrorHandlingMode)."""


LOOKS, EVERY, END = 3, 60, 30
"""Looks of the kubelet that find the program without a sign, the seconds between two, and those until SIGKILL."""

LOOK = """\
[ -e {file} ] || exit 0
at=$(stat -c %Y {file}) && now=$(date +%s) || exit 0
[ $((now - at)) -lt {seconds} ]
"""
"""Fails when the last sign is too old; a program that has given none yet is left alone, and an image without stat."""


def probe(run: Run, size: RoleSize) -> dict[str, Any]:
    """Return the probe that ends the container of a program without signs of life, by field; nothing without a bound.

    It has an end of its own, since a rank that hangs does not save (kubernetes v1.35 core/v1
    Probe.terminationGracePeriodSeconds).
    """
    minutes = run.job.hang_minutes
    if minutes is None or not size.trains or not size.ranks:
        return {}
    script = LOOK.format(file=contract.HEARTBEAT_PATH, seconds=minutes * 60)
    return {
        "livenessProbe": {
            "exec": {"command": ["sh", "-c", script]},
            "periodSeconds": EVERY,
            "timeoutSeconds": EVERY // 2,
            "failureThreshold": LOOKS,
            "terminationGracePeriodSeconds": END,
        }
    }


def bound(run: Run) -> int | None:
    """Return the minutes after the last sign of life in which a program that hangs has ended, or None."""
    minutes = run.job.hang_minutes
    return None if minutes is None else minutes + math.ceil((LOOKS * EVERY + END) / 60)


def facts(run: Resolved) -> Iterator[tuple[str, Sized[str]]]:
    """Yield the bound: that of signs of life, and of torchrun's ranks on GPUs; of others nobody knows it here."""
    own = bound(run.run)
    if own is not None:
        why = f"hangMinutes + {own - (run.run.job.hang_minutes or 0)} until the kubelet has ended the container"
        yield "hang", Sized(f"{own} minutes", f"{why}, from the last sign in {contract.HEARTBEAT_PATH}")
        return
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
