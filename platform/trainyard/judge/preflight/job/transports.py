"""Plugins of NCCL that a job's environment asks for, and that the transport of its fabric leaves out."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.judge.preflight.cluster.transports import LEFT_OUT, unused_plugins
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield variables of the job, or of a role, that ask for a plugin which its pods never use."""
    job = run.run.job
    for size in run.sizing.roles:
        role = job.roles.get(size.name)
        own = {**job.env, **(role.env if role else {})}
        if not own.keys() & {"NCCL_NET_PLUGIN", "NCCL_COLLNET_ENABLE"}:
            continue
        derived = {name: sized.value for name, sized in size.env.items()}
        for variable, problem in unused_plugins({**derived, **own}).items():
            if variable in own:
                path: Path = ("roles", size.name, "env") if role and variable in role.env else ("env",)
                yield LEFT_OUT.at(run.run.source, (*path, variable), problem)
