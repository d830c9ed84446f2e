"""Local disk and memory of empty folders are counted by quota, or bounded by what it counts."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from shipped import agreed
from tenant_crossings import SIDE
from tenants import found, rendered
from trainyard.render.kinds import kinds
from trainyard.upstream.workloads import carrier

DISK = "ephemeral-storage"
Folder = dict[str, Any]


def pod(value: dict[str, Any]) -> dict[str, Any]:
    """Return the pods of a Job."""
    found_: dict[str, Any] = value["spec"]["template"]["spec"]
    return found_


def job(limits: dict[str, str], requests: dict[str, str], *folders: Folder) -> list[dict[str, Any]]:
    """Return a Job whose trainer has such disk, and whose pods have empty folders more."""
    value = deepcopy(rendered("Job")[0])
    resources = pod(value)["containers"][0]["resources"]
    for key, said in (("limits", limits), ("requests", requests)):
        resources[key].pop(DISK)
        resources[key] |= said
    pod(value)["volumes"] += [{"name": f"v{index}", "emptyDir": folder} for index, folder in enumerate(folders)]
    return [value]


TEN = {DISK: "10Gi"}
CASES: dict[str, tuple[dict[str, str], dict[str, str], tuple[Folder, ...], bool]] = {
    "as much as is requested": (TEN, TEN, (), False),
    "the same in another unit": (TEN, {DISK: "10240Mi"}, (), False),
    "a limit alone, which is a request": (TEN, {}, (), False),
    "no limit": ({}, TEN, (), True),
    "neither": ({}, {}, (), True),
    "a limit of nothing": ({DISK: "0"}, {DISK: "0"}, (), True),
    "a limit above the request": ({DISK: "100Ti"}, TEN, (), True),
    "a request of nothing": (TEN, {DISK: "0"}, (), True),
    "a folder without a limit, which the pod's is for": (TEN, TEN, ({},), False),
    "a folder as large as the pod": (TEN, TEN, ({"sizeLimit": "10Gi"},), False),
    "a folder larger than the pod": (TEN, TEN, ({"sizeLimit": "11Gi"},), True),
    "a folder without end": (TEN, TEN, ({"sizeLimit": "100Ti"},), True),
    "memory within the pod's": (TEN, TEN, ({"medium": "Memory", "sizeLimit": "1Gi"},), False),
    "memory without a limit, which is the pod's": (TEN, TEN, ({"medium": "Memory"},), False),
    "memory without end": (TEN, TEN, ({"medium": "Memory", "sizeLimit": "100Ti"},), True),
}


@pytest.mark.parametrize("case", CASES)
def test_quota_counts_the_disk_of_pods(case: str) -> None:
    """A pod is evicted above the sum of its containers' limits, which are requests."""
    limits, requests, folders, wanted = CASES[case]
    assert agreed(job(limits, requests, *folders)) == wanted


def test_a_limit_of_one_container_is_the_pods() -> None:
    """What a sidecar writes counts against the trainer's limit, so that sidecars need none."""
    values = job(TEN, TEN)
    pod(values[0])["containers"].append(deepcopy(SIDE))
    assert not agreed(values)
    pod(values[0])["containers"][1]["resources"]["limits"][DISK] = "1Ti"
    pod(values[0])["containers"][1]["resources"]["requests"][DISK] = "1Gi"
    assert agreed(values)


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_pods_of_every_kind_have_a_limit(kind: str) -> None:
    """As they are rendered; without it they are refused."""
    for value in rendered(kind):
        row = carrier(value["apiVersion"].partition("/")[0], value["kind"])
        if row is None or not row.templates:
            continue
        made = deepcopy(value)
        without(made)
        assert "resources" in {breach.subject for breach in found([made])} or made == value


def without(value: Any) -> None:
    """Take the disk out of all resources in an object."""
    if isinstance(value, dict):
        value.pop(DISK, None)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        without(inner)
