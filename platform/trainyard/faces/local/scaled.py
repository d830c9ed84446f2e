"""A job's own objects, as they would be rendered, or of a smaller job: fewer nodes, fewer processes on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trainyard.base.documents import load
from trainyard.base.limits import FILE_BYTES
from trainyard.base.manifests import expand
from trainyard.base.system.files import PIPED, STDIN, piped_bytes, read, walk
from trainyard.base.system.repository import GENERATED
from trainyard.faces.local.controllers.base import Object, RunError
from trainyard.render.kinds import Resolved, build, resolve

NEIGHBOURS = frozenset({"ConfigMap", "TrainingRuntime", "ClusterTrainingRuntime", "Service"})
"""Kinds of a cluster's other objects that pods may need."""


def smaller(run: Resolved, *, nodes: int | None, processes: int | None) -> tuple[Resolved, list[str]]:
    """Return the run with other numbers of nodes and of processes on each, and what that changes, in words.

    It is rendered anew: whatever follows from these numbers is that of such a job, and nothing else changes.
    """
    job, size = run.run.job, run.sizing.worker
    changed: dict[str, Any] = {}
    told = []
    if nodes is not None and nodes != job.nodes:
        changed["nodes"] = nodes
        told.append(f"nodes: {nodes} instead of {job.nodes}")
        for field, name in (("min_nodes", "minNodes"), ("max_nodes", "maxNodes")):
            said = getattr(job, field, None)
            bound = min if field == "min_nodes" else max
            if said is not None and bound(said, nodes) != said:
                changed[field] = bound(said, nodes)
                told.append(f"{name}: {changed[field]} instead of {said}")
    if processes is not None and processes != size.processes.value:
        changed["processes_per_node"] = processes
        told.append(f"processes per node: {processes} instead of {size.processes.value}")
    if not changed:
        return run, []
    other = resolve(replace(run.run, job=job.model_copy(update=changed)))
    if processes is not None and other.sizing.worker.processes.value != processes:
        raise RunError(f"launcher {run.launcher.name!r} starts one process per node; remove --processes")
    before, after = (role_size.nodes.value * role_size.processes.value for role_size in (size, other.sizing.worker))
    return other, [*told, f"ranks: {after} instead of {before}"]


def objects_of(run: Resolved, root: Path) -> list[Object]:
    """Return the objects of a run, and those of its cluster's tree that its pods may need."""
    return [*neighbours(run, root), *(resource.value() for resource in build(run))]


def neighbours(run: Resolved, root: Path) -> Iterator[Object]:
    """Yield objects of the cluster that are rendered already: runtimes, and what the team has."""
    there = root / GENERATED / run.run.cluster_name
    for folder in (there / "platform", there / "teams" / run.run.team_name):
        for file in walk(folder):
            if file.path.endswith(".yaml"):
                yield from (value for value in objects_in(folder / file.path) if value.get("kind") in NEIGHBOURS)


def objects_in(path: Path) -> list[Object]:
    """Return the objects of a file; raises RunError for one that cannot be read."""
    return objects_of_text(read(path) or b"", str(path))


def objects_of_text(data: bytes, name: str) -> list[Object]:
    """Return the objects of what stands in a file; raises RunError for what cannot be read."""
    documents, findings = load(data, file=name)
    manifests, more = expand(documents)
    for finding in (*findings, *more):
        raise RunError(f"{finding.location.file}:{finding.location.line}: {finding.message}")
    return [manifest.value for manifest in manifests]


def files_in(names: Sequence[str]) -> list[Object]:
    """Return the objects of files, of folders with all below them, and of standard input.

    Raises RunError where there is nothing.
    """
    found: list[Object] = []
    for name in names:
        path = Path(name)
        if name == STDIN:
            found += objects_of_text(piped_bytes(most=FILE_BYTES), PIPED)
            continue
        if path.is_dir():
            files = [path / file.path for file in walk(path) if file.path.endswith((".yaml", ".yml", ".json"))]
        else:
            files = [path]
        if not files:
            raise RunError(f"{path} has no manifests; name a file or folder with manifests")
        found += (value for file in files for value in objects_in(file))
    return found
