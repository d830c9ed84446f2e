"""The test of idle nodes: which nodes it takes, whom it would keep waiting, and what is rendered for it."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, IMAGE, make_cluster, make_source
from trainyard.judge.preflight.cluster.burn_in import check
from trainyard.render.clusters.burn_in import resources
from trainyard.render.operators.kueue import managed_namespaces
from trainyard.render.sizing import burn_in as sizing
from trainyard.upstream.kubelet import Admitted, Invalid, Kubelet
from trainyard.upstream.kubelet.cases import machine

TAKES = {
    "reclaimWithinCohort": "LowerPriority",
    "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": -1},
}
RESEARCH: dict[str, Any] = {**CLUSTER["queues"]["research"], "cohort": "all", "preemption": TAKES}
SAID: dict[str, Any] = {"image": IMAGE, "cohort": "all"}


def spec(said: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """Return the fields of a cluster whose idle nodes are tested."""
    burn_in = {"health": {"burnIn": {**SAID, **(said or {})}}}
    return {**CLUSTER, **burn_in, "queues": {"research": RESEARCH}, **changes}


def findings(value: dict[str, Any]) -> list[str]:
    """Return what is found of a cluster, with its rule and place."""
    source = make_source("platform/clusters/test.yaml", value)
    return [f"{item.rule} {item.path}: {item.message}" for item in check(make_cluster(**value), source)]


def queue(**changes: Any) -> dict[str, Any]:
    """Return queues of which one has other fields."""
    return {"queues": {"research": {**RESEARCH, **changes}}}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no such cohort": (spec({"cohort": "al"}), "cohort 'al' does not exist; did you mean 'all'?"),
    "no such pool": (spec({"pools": ["gpus"]}), "pool 'gpus' does not exist; did you mean 'gpu'?"),
    "a pool without GPUs": (spec({"pools": ["cpu"]}), "pool 'cpu' has no GPUs; remove it"),
    "a pool that scales": (
        spec({"pools": ["gpu"]}, pools={**CLUSTER["pools"], "gpu": {"shape": "dgx-h100", "nodes": {"max": 4}}}),
        "pool 'gpu' starts nodes for pods that wait, so the test would start all of them; remove it",
    ),
    "no pool with quota": (
        spec(queues={"research": {**RESEARCH, "nominalQuota": {"cpu": {"nodes": 4}}}}),
        "no pool of whole GPUs and fixed size has quota in cohort 'all'; remove burnIn",
    ),
    "no schedule": (spec({"schedule": "at night"}), "schedule is 'at night', but"),
    "no time zone": (spec({"timeZone": "Europe/Berlyn"}), "timeZone 'Europe/Berlyn' does not exist"),
    "its priority": (spec(priorities={"burn-in": 1}), "priority 'burn-in' has the name that the burn-in needs"),
    "no Kueue": (spec(operators={}), "burnIn needs Kueue, which admits the test; add kueue to operators"),
    "a queue that reclaims nothing": (
        spec(**queue(preemption={})),
        "runs of queue 'research' wait for the burn-in; set preemption.reclaimWithinCohort: LowerPriority",
    ),
    "a queue that borrows": (
        spec(**queue(preemption={"reclaimWithinCohort": "Any"})),
        "that borrow wait for the burn-in; set borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: -1}",
    ),
}


@pytest.mark.parametrize(("value", "message"), WRONG.values(), ids=WRONG)
def test_wrong(value: dict[str, Any], message: str) -> None:
    """Whatever keeps the test from nodes, or runs from their quota, is said."""
    (found,) = findings(value)
    assert message in found


NODE = {
    "threadsPerCore": 2,
    "numa": [{"copies": 2, "cores": 56, "memory": "1007Gi"}],
    "devices": {"nvidia.com/gpu": [{"count": 4, "numa": 0}, {"count": 4, "numa": 1}]},
}

RIGHT: dict[str, dict[str, Any]] = {
    "a queue that takes everything back": spec(),
    "a queue that cannot borrow": spec(
        **queue(
            preemption={"reclaimWithinCohort": "Any"},
            borrowingLimit={"gpu": {"gpus": 0}, "cpu": {"nodes": 0}},
        )
    ),
    "fair sharing": spec(**queue(preemption={"reclaimWithinCohort": "Any"}, fairWeight=2)),
    "a queue of another cohort": spec(
        queues={"research": RESEARCH, "other": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 8}}}}
    ),
    "no test": {**CLUSTER, "health": {}},
}


@pytest.mark.parametrize("value", RIGHT.values(), ids=RIGHT)
def test_right(value: dict[str, Any]) -> None:
    """Nothing is said where every run takes its quota back."""
    assert findings(value) == []


def test_rendered() -> None:
    """The queue has nothing of its own, the priority is below all, and a Job takes one node or more."""
    cluster = make_cluster(**spec())
    found = {resource.kind: resource.value() for resource in resources(cluster)}
    assert sizing.tested_pools(cluster) == ["gpu"]
    assert found["WorkloadPriorityClass"]["value"] == -1
    quotas = found["ClusterQueue"]["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
    assert {quota["nominalQuota"] for quota in quotas} == {"0"}
    template = found["CronJob"]["spec"]["jobTemplate"]
    assert template["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] == "1"
    assert (template["spec"]["completions"], template["spec"]["parallelism"]) == (4, 4)
    assert managed_namespaces(cluster)["values"] == ["burn-in", "nlp"]
    assert managed_namespaces(make_cluster())["operator"] == "Exists"
    assert list(resources(make_cluster())) == []


def test_kubelet_takes_it() -> None:
    """A kubelet that aligns GPUs takes the pod, since it is not Guaranteed."""
    pod = next(item.value() for item in resources(make_cluster(**spec())) if item.kind == "CronJob")
    template = pod["spec"]["jobTemplate"]["spec"]["template"]
    fields = {
        "topologyManagerPolicy": "restricted",
        "topologyManagerScope": "pod",
        "cpuManagerPolicy": "static",
        "reservedSystemCPUs": "0,56,112,168",
    }
    kubelet = Kubelet.start(machine(NODE), fields)
    assert not isinstance(kubelet, Invalid)
    own = {key: value for key, value in template["spec"].items() if key != "nodeSelector"}
    decision = kubelet.admit({"metadata": {"name": "burn-in"}, "spec": own})
    assert isinstance(decision.outcome, Admitted)
    assert decision.qos == "Burstable"


def marker_objects(**changes: Any) -> dict[str, dict[str, Any]]:
    """Return the objects of a cluster whose failed nodes are marked, by kind and namespace."""
    cluster = make_cluster(**spec({"markerImage": IMAGE}, **changes))
    return {f"{one.kind} {one.namespace or ''}".strip(): dict(one.fields) for one in resources(cluster)}


def test_the_marker_has_few_rights() -> None:
    """Its account reads pods of the test and nodes, writes their status, and a policy holds it to one condition."""
    made = marker_objects()
    assert made["Role burn-in"]["rules"] == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]
    written = [rule for rule in made["ClusterRole"]["rules"] if set(rule["verbs"]) - {"get", "list", "watch"}]
    assert written == [{"apiGroups": [""], "resources": ["nodes/status"], "verbs": ["patch"]}]
    (checked,) = made["ValidatingAdmissionPolicy"]["spec"]["validations"]
    assert all(f".?{name} ==" in checked["expression"] for name in ("capacity", "labels", "annotations"))
    assert made["ValidatingAdmissionPolicyBinding"]["spec"]["validationActions"] == ["Deny"]


def test_the_test_itself_has_no_token() -> None:
    """The image of the test, which may be a team's, gets no account; it tolerates the taint of its own mark alone."""
    pod = marker_objects()["CronJob burn-in"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert (pod["automountServiceAccountToken"], "serviceAccountName" in pod) == (False, False)
    assert pod["tolerations"][-1] == {"key": "readiness.k8s.io/BurnInFailed", "operator": "Exists"}


def test_without_a_marker_a_person_cordons() -> None:
    """Without its image nothing of the marker is there, and the test tolerates no taint of it."""
    made = [one for one in resources(make_cluster(**spec())) if "marker" in one.name]
    assert made == []
    assert sizing.most_marks(make_cluster(**spec())) == 1
