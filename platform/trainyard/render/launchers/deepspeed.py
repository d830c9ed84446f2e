"""deepspeed: a process a GPU as DeepSpeed's own launcher starts them, by torchrun's agents.

A rank has the argument and the variables that it has under `deepspeed`. The command itself is not used: it reaches
other nodes by ssh, or with --no_ssh is a parent that keeps SIGTERM from the ranks; what it starts on a node then tells
one rank after the other, and kills each after 30 seconds, so that ranks which save together never do
(docs/decisions/deepspeed.md).
Facts: DeepSpeed v0.19.8 deepspeed/launcher/runner.py, deepspeed/launcher/launch.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.render.launchers.base import bounds
from trainyard.render.launchers.torchrun import Torchrun
from trainyard.specs.run import Run

TOLD = (
    "export LOCAL_SIZE=$LOCAL_WORLD_SIZE CROSS_RANK=$GROUP_RANK CROSS_SIZE=$GROUP_WORLD_SIZE"
    '; start=$1; shift; exec python $start "$0" "--local_rank=$LOCAL_RANK" "$@"'
)
"""What stands before the program: the shell is replaced by it, so that signals reach it."""

SIZES = Rule(
    id="run/deepspeed-sizes",
    title="An elastic DeepSpeed job uses universal checkpoints.",
    why="ZeRO cannot load shards from another number of ranks, so the run fails whenever its size changes",
    fix="save and load universal checkpoints, then waive this; or remove minNodes",
    source="DeepSpeed v0.19.8 deepspeed/runtime/engine.py _load_zero_checkpoint",
    layer="run",
    severity=Severity.WARNING,
)


class DeepSpeed(Torchrun):
    """Start the program as `deepspeed` does, with `--local_rank`."""

    name = "deepspeed"

    @property
    def variables(self) -> frozenset[str]:
        """Variables that torchrun sets, and those that DeepSpeed's launcher sets beside."""
        return super().variables | {"LOCAL_SIZE", "CROSS_RANK", "CROSS_SIZE"}

    def rank(self, run: Run) -> tuple[str, ...]:
        """Return the program after its `--local_rank`; one that takes none is started by torchrun."""
        job = run.job
        what, start = (job.module, "-um") if job.module else (job.program or "", "-u")
        return ("--no-python", "sh", "-c", TOLD, what, start, *job.args)

    def check(self, run: Run) -> Iterator[Finding]:
        """Yield sizes that checkpoints of ZeRO do not bear, too."""
        yield from super().check(run)
        least, most = bounds(run.job)
        if least < most:
            message = (
                f"minNodes is {least} of {most}, but ZeRO cannot load checkpoints of another size; use universal "
                "checkpoints and waive this"
            )
            yield SIZES.at(run.source, ("minNodes",), message)


LAUNCHER = DeepSpeed()
