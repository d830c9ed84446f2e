"""How long a run waits for nodes that come and go, and what it holds meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.render.sizing.base import Sized
from trainyard.specs import Pool
from trainyard.specs.run import Run


def facts(run: Run, pools: frozenset[str]) -> Iterator[tuple[str, Sized[str]]]:
    """Yield for each of a run's pools that scales how its nodes come; nothing for the others."""
    for name in sorted(pools):
        pool = run.cluster.pools[name]
        if pool.scales:
            by = run.cluster.autoscaler_of(name)
            yield f"nodes_of.{name}", Sized(f"{pool.lasting_nodes} to {pool.nodes}", f"{hold(pool)}, by {by}")


def hold(pool: Pool) -> str:
    """Return how long a run holds its quota until its nodes are there.

    Quota is reserved before Kueue's check, so other jobs wait too (kueue v0.19.2 pkg/scheduler/scheduler.go admit).
    """
    if pool.provisioning is None:
        return f"admitted by quota; holds its quota while nodes start, {pool.start_minutes} minutes"
    return f"holds its quota until all its nodes are there, by a request of class {pool.provisioning}; retries free it"
