"""What a job that may change its size has to say, and which of its pods it cannot lose."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.render.launchers.base import bounds

BATCH = Rule(
    id="ft-elastic-batch",
    title="An elastic job sets its global batch size, not the batch per rank.",
    why="with fewer ranks the global batch would shrink, so the training changes after the loss of a node",
    fix="pass the global batch, such as --global-batch-size; waive this if the program adapts the batch itself",
    source="pytorch v2.9 docs/source/elastic/train_script.rst; docs/failures.md",
    layer="run",
    severity=Severity.WARNING,
)
FIRST = Rule(
    id="ft-spot-rank0",
    title="The one pod that an elastic job cannot lose is not on spot nodes.",
    why="the job survives the loss of a worker, but restarts if it loses the pod that starts or leads the others",
    fix="put this role on a pool without spot nodes",
    source="docs/failures.md",
    layer="run",
    severity=Severity.WARNING,
)

OF_A_RANK = re.compile(r"batch[-_]?size|micro[-_]?batch|per[-_](device|gpu|rank)[-_]\w*batch|^--?bs$|^-b$", re.I)
"""Options by which programs are told the batch of a rank."""

OF_ALL = re.compile(r"(global|total|effective).*batch", re.I)
"""Options that say that of all ranks."""


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield the findings on settings left open where the number of nodes changes; nothing for a run of fixed size."""
    least, most = bounds(run.run.job)
    if least < most:
        yield from check_batch(run, f"{least} to {most} nodes")
        yield from check_first(run)


def check_batch(run: Resolved, nodes: str) -> Iterator[Finding]:
    """Yield an option for the batch of a rank, where none says that of all of them."""
    options = {index: word.partition("=")[0] for index, word in enumerate(run.run.job.args) if word.startswith("-")}
    if any(map(OF_ALL.search, options.values())):
        return
    for index, option in options.items():
        if OF_A_RANK.search(option):
            message = f"{option} is the batch per rank, so the global batch changes with {nodes}; set the global batch"
            yield BATCH.at(run.run.source, ("args", index), message)


def check_first(run: Resolved) -> Iterator[Finding]:
    """Yield a role beside the workers that is on spot nodes, though its queue has others."""
    pools, queue = run.run.cluster.pools, run.run.cluster.queues.get(run.run.job.queue)
    stay = [name for name in (queue.nominal_quota if queue else ()) if name in pools and not pools[name].spot]
    for role in run.specs[1:]:
        if stay and role.pool.spot:
            message = (
                f"role {role.name!r} is on spot pool {role.pool_name!r}, and its loss stops all other pods; move it "
                f"to pool {stay[0]!r}"
            )
            yield FIRST.at(run.run.source, role.path or ("pool",), message)
