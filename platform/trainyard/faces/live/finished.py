"""Asks a cluster which of the tree's active runs have ended there; it lists objects and changes nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from trainyard.base.documents import load
from trainyard.base.errors import SpecError, ToolError
from trainyard.base.labels import RUN
from trainyard.base.manifests import Identity, identity_of
from trainyard.base.system.repository import GENERATED
from trainyard.faces.live.server import Server
from trainyard.render.tree import layout
from trainyard.render.tree.disk import Disk
from trainyard.render.tree.ledgers import JobKey
from trainyard.render.tree.snapshot import Snapshot, from_disk
from trainyard.upstream.workloads import carrier_of

State = Literal["succeeded", "failed", "going on", "absent"]

PAGE = 250
"""Objects that are asked for at once; a JobSet of many roles has tens of kilobytes."""

NOT_FOUND = 404


@dataclass(frozen=True, slots=True)
class Workload:
    """The object that carries an active run, as the tree has it."""

    job: JobKey
    run: str
    api_version: str
    identity: Identity

    @property
    def kind(self) -> str:
        """Its kind."""
        return self.identity.kind


@dataclass(frozen=True, slots=True)
class Seen:
    """A run, and how the cluster has it."""

    workload: Workload
    state: State
    why: str = ""
    """What the object says of its end."""


def tree_at(root: Path) -> Snapshot:
    """Return the tree at hand, which is what a cluster syncs where it is the main branch's."""
    return from_disk(root / GENERATED, Disk(root).scan(GENERATED))


def workloads(tree: Snapshot, cluster: str) -> Iterator[Workload]:
    """Yield the active runs of a cluster; raises SpecError where the files of one are not in the tree."""
    for job, entry in sorted(tree.active.items()):
        if job[0] != cluster:
            continue
        folder = tree.folder(f"{cluster}/{layout.run_folder(job[1], entry.name)}")
        values = (value for data in tree.read(list(folder.values())) for value in plain(data))
        found = next((value for value in values if (row := carrier_of(value)) and row.trains), None)
        if found is None:
            raise SpecError(f"run {job[1]}/{entry.name} is not in generated/{cluster}/; run `trainyard synth`")
        yield Workload(job, entry.name, str(found["apiVersion"]), identity_of(found))


def plain(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file."""
    documents, _ = load(data, file="")
    yield from (document.value for document in documents if isinstance(document.value, dict))


def ask(server: Server, tree: Snapshot, cluster: str) -> list[Seen]:
    """Return how the cluster has each active run; raises ToolError where it cannot be reached, or does not tell."""
    wanted: dict[tuple[str, str, str], list[Workload]] = defaultdict(list)
    for workload in workloads(tree, cluster):
        wanted[workload.api_version, workload.kind, workload.identity.namespace].append(workload)
    found: list[Seen] = []
    for (api_version, kind, namespace), runs in wanted.items():
        live = {identity_of(value).name: value for value in list_objects(server, api_version, kind, namespace)}
        found += [observe(run, live.get(run.identity.name)) for run in runs]
    return sorted(found, key=lambda item: item.workload.job)


def observe(workload: Workload, live: Mapping[str, Any] | None) -> Seen:
    """Return how a run is by the object that carries it, None where there is none."""
    if live is None:
        return Seen(workload, "absent")
    row = carrier_of(live)
    end = row.ending.of(live) if row and row.ending else None
    return Seen(workload, end.result, end.why) if end else Seen(workload, "going on")


def list_objects(server: Server, api_version: str, kind: str, namespace: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a kind in a namespace that are of runs of ours; none where the cluster lacks the kind."""
    root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
    answer, body = server.request("GET", root)
    names = {
        resource["kind"]: resource["name"] for resource in body.get("resources", []) if "/" not in resource["name"]
    }
    if answer.code == NOT_FOUND or (answer.accepted and kind not in names):
        return
    if not answer.accepted:
        raise ToolError(f"the API server does not list its resources: {answer.message}")
    path, onward = f"{root}/namespaces/{quote(namespace, safe='')}/{names[kind]}", ""
    while True:
        query = [("labelSelector", RUN), ("limit", str(PAGE)), *([("continue", onward)] if onward else [])]
        answer, body = server.request("GET", path, query=query)
        if not answer.accepted:
            raise ToolError(f"the API server does not list {names[kind]} of namespace {namespace!r}: {answer.message}")
        for item in body["items"]:
            yield {"apiVersion": api_version, "kind": kind, **item}
        onward = body["metadata"].get("continue") or ""
        if not onward:
            return
