"""Whether a bound on hangs can hold, and leaves a program the time in which it saves."""

from __future__ import annotations

import math
from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.render.sizing.saving import STEP, save

BOUND = Rule(
    id="run/hang",
    title="A bound on hangs is longer than a checkpoint takes, and of a launcher whose pods run the program.",
    why="the kubelet ends a container whose program gives no sign, also while it saves; Ray has probes of its own",
    fix="raise hangMinutes, or remove it",
    source="kubernetes v1.35 core/v1 Probe; docs/failures.md",
    layer="run",
)


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield a bound that is shorter than a save on storage of a stated speed, and one that nobody keeps."""
    job = run.run.job
    if job.hang_minutes is None:
        return
    if job.launcher == "ray" or job.runtime is not None:
        whose = "launcher 'ray', which has probes of its own" if job.launcher == "ray" else "runtime"
        yield BOUND.at(run.run.source, ("hangMinutes",), f"hangMinutes does not work with {whose}; remove it")
    elif job.checkpoint is not None:
        took = save(run.run, job.checkpoint, pods=sum(role.pods for role in run.roles if role.size.ranks))
        least = math.ceil((STEP + 2 * (took.seconds - took.flush)) / 60)
        if took.stated and job.hang_minutes < least:
            message = f"hangMinutes is {job.hang_minutes}, but a checkpoint may take {least} minutes; raise it"
            yield BOUND.at(run.run.source, ("hangMinutes",), message)
