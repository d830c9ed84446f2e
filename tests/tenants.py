"""Runs of a team as they are rendered, with patches that try to cross its lines, and what is found of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from make import make_cluster, make_repository, make_resolved, make_run, make_team
from trainyard.render.kinds import build, kinds
from trainyard.render.launchers import launchers
from trainyard.render.tenancy import Allowance, breaches
from trainyard.render.tenancy.allowance import of
from trainyard.render.tenancy.shapes import Breach
from trainyard.specs import Cluster, Team

CLUSTER = make_cluster(topology=None)
TEAM = make_team(
    priorities=["low", "normal"], serviceAccounts=["reader"], secrets=["tokens"], podSecurity={"other": "privileged"}
)
ALLOWED = of(make_repository(), "test", CLUSTER, "nlp", TEAM)


DAEMON = f"registry.example.com/mirror/daemon:v1@sha256:{'a' * 64}"
FABRICS: dict[str, dict[str, Any]] = {
    "gpudirect-tcpx": {"networks": [f"vpc{index}" for index in range(1, 5)], "daemon": DAEMON},
    "gpudirect-tcpxo": {"networks": [f"vpc{index}" for index in range(1, 9)], "daemon": DAEMON},
}
"""Fabrics that bring a container of their own to every pod."""


def rendered(
    kind: str,
    *patches: dict[str, Any],
    name: str = "train",
    cluster: Cluster = CLUSTER,
    team: Team = TEAM,
    **job: Any,
) -> list[dict[str, Any]]:
    """Return the objects of a run of a kind, by the first launcher that it takes."""
    for launcher in ("torchrun", *launchers()):
        run = make_run(kind=kind, cluster=cluster, team=team, launcher=launcher, **job)
        roles = launchers()[launcher].roles(run)
        if kinds()[kind].can(launchers()[launcher].wants(run, roles), roles):
            said = [{"reason": "a test", **patch} for patch in patches]
            resolved = make_resolved(
                name, kind=kind, cluster=cluster, team=team, launcher=launcher, patches=said or None, **job
            )
            return [item.value() for item in build(resolved)]
    raise LookupError(kind)


def everything() -> Allowance:
    """Return what the team may use, with all kinds that there are."""
    known = frozenset({item for kind in kinds().values() for item in kind.objects})
    more = {
        "schedulers": (*ALLOWED.lists["schedulers"], "volcano"),
        "runtimes": ("ClusterTrainingRuntime/torch",),
        "claimtemplates": ("gpus",),
    }
    return Allowance("nlp", {**ALLOWED.lists, **more}, known)


def found(values: list[dict[str, Any]], allowed: Allowance | None = None) -> Iterator[Breach]:
    """Yield what of objects no run may be."""
    for value in values:
        yield from breaches(value, allowed or everything(), run=value["metadata"]["name"])


def target(kind: str) -> str:
    """Return what patches call a kind's workload."""
    return kinds()[kind].object_kind


def with_metadata(value: dict[str, Any], more_: dict[str, Any]) -> dict[str, Any]:
    """Return an object whose metadata says more; None takes away."""
    metadata = dict(value["metadata"])
    for key, said in more_.items():
        merged = {**metadata.get(key, {}), **said} if isinstance(said, dict) else said
        metadata[key] = (
            {name: text for name, text in merged.items() if text is not None} if isinstance(merged, dict) else merged
        )
    return {**value, "metadata": metadata}


def with_daemon(fabric: str) -> tuple[Cluster, Team, Allowance]:
    """Return a cluster with such a fabric, a team that may be on it, and what that may use there."""
    pools = {"gpu": {"shape": "gke-a3-megagpu-8g", "nodes": 4}, "cpu": {"shape": "cpu-64", "nodes": 2}}
    cluster = make_cluster(topology=None, pools=pools, fabric={"type": fabric, **FABRICS[fabric], "pools": ["gpu"]})
    team = make_team(secrets=["tokens"], serviceAccounts=["reader"], podSecurity={"test": "privileged"})
    allowed = of(make_repository(), "test", cluster, "nlp", team)
    return cluster, team, replace(allowed, lists={**allowed.lists, "claimtemplates": ("gpus",)})


def on_fabric(name: str, *merges: dict[str, Any], **job: Any) -> list[dict[str, Any]]:
    """Return a run on a fabric that brings a container of its own, its pods patched."""
    cluster, team, _ = with_daemon(name)
    said = [{"object": "Pod", "merge": merge} for merge in merges]
    return rendered("JobSet", *said, cluster=cluster, team=team, gpusPerNode=8, **{"fabric": "rdma", **job})
