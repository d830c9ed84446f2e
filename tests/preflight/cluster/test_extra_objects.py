"""Objects of platform/extra leave jobs the machines and the order that the cluster's file gives them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from make import CLUSTER, TEAM, write_repository
from trainyard.base.documents import dump
from trainyard.judge import preflight

RULES = {"kq-overcommit", "spec/default-priority", "spec/extra-hardware", "spec/extra-namespace"}


def queue(name: str, flavor: str, **amounts: Any) -> dict[str, Any]:
    """Return a ClusterQueue with such quota of one flavor."""
    resources = [{"name": key.replace("gpu", "nvidia.com/gpu"), "nominalQuota": some} for key, some in amounts.items()]
    group = {"coveredResources": [item["name"] for item in resources]}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": name},
        "spec": {"resourceGroups": [{**group, "flavors": [{"name": flavor, "resources": resources}]}]},
    }


def priority(**fields: Any) -> dict[str, Any]:
    """Return a PriorityClass."""
    head = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "services"}}
    return {**head, "value": 1000, **fields}


def nodes(kind: str, group: str = "sriovnetwork.openshift.io") -> dict[str, Any]:
    """Return an object of an operator that looks after nodes."""
    return {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": "own", "namespace": "nodes"}, "spec": {}}


def found(root: Path, value: dict[str, Any], gpus: int = 32) -> list[str]:
    """Return what is said of a cluster with an object of its own, whose queue has some of its 32 GPUs."""
    queues = {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": gpus}, "cpu": {"nodes": 2}}}}
    write_repository(root, jobs={}, clusters={"test": {**CLUSTER, "queues": queues}})
    path = root / "platform/extra/test/platform/own.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(dump(value))
    findings = preflight.check_repository(root).findings
    return [f"{item.location.file} {item.message}" for item in findings if item.rule in RULES]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "GPUs that others have": (queue("debug", "gpu", gpu=8), "queues need 5 nodes of pool 'gpu', which has 4; lower it"),
    "too many in the place of the cluster's queue": (queue("research", "gpu", gpu=40), "queues need 5 nodes"),
    "memory alone": (queue("debug", "gpu", memory="3Ti"), "nodes of pool 'gpu', which has 4"),
    "what drains nodes": (nodes("SriovNetworkPoolConfig"), "a SriovNetworkPoolConfig drains or reboots nodes"),
    "a default for all pods": (priority(globalDefault=True), "new pods get priority 1000 by default"),
}


@pytest.mark.parametrize(("value", "said"), WRONG.values(), ids=WRONG)
def test_what_takes_from_jobs_is_told(tmp_path, value, said):
    """At the object's name."""
    (message,) = found(tmp_path, value)
    assert message.startswith("platform/extra/test/platform/own.yaml ")
    assert said in message


RIGHT: dict[str, tuple[dict[str, Any], int]] = {
    "GPUs that nobody has": (queue("debug", "gpu", gpu=8), 24),
    "the same as the cluster's queue, in its place": (queue("research", "gpu", gpu=32), 32),
    "CPUs beside memory of half a pool": (queue("debug", "cpu", cpu=2, memory="1Gi"), 32),
    "no quota of its own": (queue("debug", "gpu", gpu=0), 32),
    "a flavor that is no pool": (queue("debug", "other", gpu=64), 32),
    "what drains no node": (nodes("SriovNetwork"), 32),
    "a kind of another group": (nodes("ClusterPolicy", "kyverno.io"), 32),
    "a class that pods name": (priority(), 32),
    "a default that ends no pod": (priority(globalDefault=True, preemptionPolicy="Never"), 32),
    "a default below all": (priority(globalDefault=True, value=-10), 32),
}


@pytest.mark.parametrize(("value", "gpus"), RIGHT.values(), ids=RIGHT)
def test_what_takes_nothing_is_not_told(tmp_path, value, gpus):
    """Near cases of the above."""
    assert found(tmp_path, value, gpus) == []


@pytest.mark.parametrize(("space", "found"), [("ads", 1), ("nlp", 0), ("elsewhere", 0)])
def test_the_folder_of_a_team_has_nothing_of_another(tmp_path, space, found):
    """An object in another team's namespace is told; other namespaces are the platform's matter."""
    queues = {"research": {"teams": ["nlp", "ads"], "nominalQuota": {"gpu": {"gpus": 32}, "cpu": {"nodes": 2}}}}
    write_repository(
        tmp_path, jobs={}, clusters={"test": {**CLUSTER, "queues": queues}}, teams={"nlp": TEAM, "ads": TEAM}
    )
    path = tmp_path / "platform/extra/test/teams/nlp/own.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "own", "namespace": space}}))
    told = [item for item in preflight.check_repository(tmp_path).findings if item.rule == "spec/extra-namespace"]
    assert len(told) == found
