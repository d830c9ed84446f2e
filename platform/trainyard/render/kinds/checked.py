"""The check of the network before training: it comes before the launcher in the workers' container.

There it has what training will have and nothing of its own: the GPUs, NICs and locked memory of the container, its
variables, the names and the ports by which the ranks meet. An init container would need all of it twice, and its pod
is not ready meanwhile, so that kinds whose Services leave such pods out never let them meet (docs/decisions/check.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal

from trainyard.render.launchers import Launch, Role, Wiring
from trainyard.render.parts.programs import program_text
from trainyard.render.parts.storage import LAUNCH_FOLDER
from trainyard.render.sizing import Sized, checking
from trainyard.render.sizing.node import size
from trainyard.specs.run import Run

FILE = "check.py"
"""Name of the program in every pod."""

PORT = 29400
"""Where the first worker keeps the check's store: beside the port of the ranks, which some open while others leave."""


def gate(run: Run, launch: Launch, wiring: Wiring) -> Launch:
    """Return how a run starts with its check before it; the same where its job asks for none."""
    worker, least = launch.roles[0], checking.floor(run)
    if least is None:
        return launch
    fields = {**worker.fields, checking.NODE: "spec.nodeName"}
    first = replace(worker, command=(*command(run, worker, wiring, least), *worker.command), fields=fields)
    return replace(launch, roles=(first, *launch.roles[1:]), files={**launch.files, FILE: program_text("check")})


def command(run: Run, worker: Role, wiring: Wiring, least: Sized[Decimal]) -> tuple[str, ...]:
    """Return the command line up to the launcher's."""
    check, nodes = checking.nccl_of(run), worker.size.nodes.value
    if check is None:
        return ()
    return (
        "python3",
        f"{LAUNCH_FOLDER}/{FILE}",
        f"--nodes={nodes}",
        f"--node=$({wiring.rank})" if nodes > 1 else "--node=0",
        f"--gpus={worker.size.gpus.value}",
        f"--leader={wiring.master if nodes > 1 else 'localhost'}",
        f"--port={PORT}",
        f"--floor={float(least.value):.4g}",
        f"--bytes={size(check.size)}",
        f"--wait={checking.WAIT}",
        f"--limit={check.minutes * 60}",
        f"--name=$({checking.NODE})",
        "--",
    )


def ports(run: Run) -> Mapping[int, str]:
    """Return the port on which the check listens before training, if there is one."""
    return {PORT: "the check of the network listens"} if checking.nccl_of(run) else {}


def facts(run: Run) -> Iterator[tuple[str, Sized[str]]]:
    """Yield the floor of the check and what it costs, for `explain` and `plan`."""
    check, least = checking.nccl_of(run), checking.floor(run)
    if check is None or least is None:
        return
    yield "check.nccl.floor", Sized(f"{float(least.value):.4g} GB/s", least.origin)
    minutes = f"about {checking.USUAL} minutes, at most {check.minutes}, at each start"
    gpus = run.job.nodes * run.job.gpus_per_node
    hours = f"{gpus * checking.USUAL / 60:.3g} GPU-hours"
    why = f"{hours} of {gpus} GPUs, after up to {checking.WAIT // 60} minutes in which nodes wait for each other"
    yield "check.nccl.cost", Sized(minutes, why)
