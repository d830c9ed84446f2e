"""Runs that attach their pods to a fabric, with and without what quota counts of it."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

from make import make_cluster, make_repository, make_team
from tenant_crossings import SIDE
from tenants import everything, rendered, with_daemon
from trainyard.render.tenancy import Allowance
from trainyard.render.tenancy.allowance import of

GPUS = "nvidia.com/gpu"
ROCE = {"type": "roce", "rails": 8, "attach": "sriov", "addresses": "10.56.0.0/16", "pools": ["gpu"]}
OPERATORS = {"sriov-network-operator": {"version": "1.6.0"}, "multus": {"version": "4.3.0"}}
VOID = {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}

SHARES = {"none": (0,), "half a node": (4,), "a whole node": (8,), "a whole node in two": (4, 4), "seven": (4, 3)}
RAIL = "openshift.io/rail_0"
NAMED = {
    "as many as it requests": ("rail-0", (1,), False),
    "none of its devices": ("rail-0", (0,), True),
    "one device for two": ("rail-0,rail-0", (1,), True),
    "two devices for two": ("rail-0,rail-0", (2,), False),
    "devices of two containers": ("rail-0,rail-0", (1, 1), False),
    "a network of another namespace": ("ads/rail-0", (1,), True),
    "devices without a network": ("", (1,), True),
}


def may(fabric: str, level: str) -> Allowance:
    """Return what a team at a Pod Security level may use on a cluster with a fabric of Google's."""
    cluster, _, _ = with_daemon(fabric)
    team = make_team(secrets=["tokens"], podSecurity=level)
    return with_all_kinds(of(make_repository(), "test", cluster, "nlp", team))


def with_all_kinds(allowed: Allowance) -> Allowance:
    """Return the same with all kinds that there are."""
    return replace(allowed, kinds=everything().kinds)


def body(value: dict[str, Any]) -> dict[str, Any]:
    """Return the template of a JobSet's pods."""
    found_: dict[str, Any] = value["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    return found_


def with_counts(values: list[dict[str, Any]], resource: str, *counts: int) -> list[dict[str, Any]]:
    """Return a run of which each container has so many of a resource: the first is the trainer."""
    made = deepcopy(values)
    containers = body(made[-1])["spec"]["containers"]
    containers += [deepcopy({**SIDE, "name": f"side-{index}"}) for index in range(1, len(counts))]
    for container, count in zip(containers, counts, strict=False):
        for said in container["resources"].values():
            said.pop(resource, None)
            said |= {resource: count} if count else {}
        if resource == GPUS and VOID not in container.get("env", []):
            container["env"] = [*container.get("env", []), VOID]
    return made


def with_notes(values: list[dict[str, Any]], notes: dict[str, str]) -> list[dict[str, Any]]:
    """Return a run whose pods have annotations more."""
    made = deepcopy(values)
    body(made[-1])["metadata"].setdefault("annotations", {}).update(notes)
    return made


def notes_of(fabric: str) -> dict[str, str]:
    """Return the annotations by which pods are on a fabric of Google's."""
    pairs = may(fabric, "privileged").lists["pairs"]
    return {key: text for key, _, text in (pair.partition("=") for pair in pairs)}


def on_rails(**job: Any) -> tuple[list[dict[str, Any]], Allowance]:
    """Return a run on rails of virtual functions, and what its team may use."""
    operators = {"kueue": {"version": "0.19.2"}, "jobset": {"version": "0.12.0"}, **OPERATORS}
    cluster = make_cluster(topology=None, fabric=ROCE, operators=operators)
    allowed = with_all_kinds(of(make_repository(), "test", cluster, "nlp", make_team()))
    return rendered("JobSet", cluster=cluster, gpusPerNode=8, **{"fabric": "rdma", **job}), allowed
