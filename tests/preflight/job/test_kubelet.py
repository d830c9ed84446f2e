"""Every pod of a job is put to the kubelet of its pool's nodes, with the daemons that are there."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from make import CLUSTER, make_cluster, make_resolved
from trainyard.judge.preflight.job import kubelet
from trainyard.render.kinds.starts import complete_pod, facts
from trainyard.render.sizing.starts import document, node
from trainyard.upstream.kubelet import Invalid

PINNED = {
    "topologyManagerPolicy": "restricted",
    "topologyManagerScope": "pod",
    "cpuManagerPolicy": "static",
    "memoryManagerPolicy": "Static",
}
H100 = {"shape": "dgx-h100", "nodes": 4, "kubelet": PINNED}
CPU = {"shape": "cpu-64", "nodes": 2}


def cluster(**pool: Any) -> Any:
    """Return a cluster whose pool `gpu` has such nodes."""
    operators = {name: CLUSTER["operators"][name] for name in ("kueue", "jobset")}  # whose daemons keep off GPU nodes
    return make_cluster(pools={"gpu": {**H100, **pool}, "cpu": CPU}, operators=operators)


def refusals(pool: dict[str, Any], **job: Any) -> list[tuple[str, str | None, str]]:
    """Return rule, field and message of each finding about a job on such a pool."""
    run = make_resolved(cluster=cluster(**pool), **job)
    return [(item.rule, item.path, item.message) for item in kubelet.check(run)]


JOBS = {
    "a whole node": ({}, {"gpus_per_node": 8}, None),
    "half a node": ({}, {"gpus_per_node": 4}, None),
    "five GPUs with their share": ({}, {"gpus_per_node": 5}, None),
    "all GPUs with the CPUs of one NUMA node": (
        {},
        {"gpus_per_node": 8, "cpus_per_node": 112},
        ("numa-policy-fit", "cpusPerNode", "use 113 CPUs, or remove the sizes: the defaults follow from the GPUs"),
    ),
    "all GPUs with one CPU more": ({}, {"gpus_per_node": 8, "cpus_per_node": 113}, None),
    "all GPUs with the memory of one NUMA node": (
        {},
        {"gpus_per_node": 8, "memory_per_node": "900Gi"},
        (
            "numa-policy-fit",
            "memoryPerNode",
            "use 1008Gi of memory, or remove the sizes: the defaults follow from the GPUs",
        ),
    ),
    "few CPUs, where memory is not pinned and nothing aligned": (
        {"kubelet": {"cpuManagerPolicy": "static"}},
        {"gpus_per_node": 8, "cpus_per_node": 8},
        None,
    ),
    "half a core": (
        {"kubelet": {**PINNED, "cpuManagerPolicyOptions": {"full-pcpus-only": "true"}}},
        {"gpus_per_node": 1, "cpus_per_node": 7},
        ("numa-full-pcpus", "cpusPerNode", "use 8 CPUs, or remove the sizes: the defaults follow from the GPUs"),
    ),
    "more than one NUMA node has": (
        {"kubelet": {**PINNED, "topologyManagerPolicy": "single-numa-node"}},
        {"gpus_per_node": 8},
        ("numa-policy-fit", "gpusPerNode", "use 4 GPUs and their share of the node"),
    ),
}


@pytest.mark.parametrize(("pool", "job", "expected"), JOBS.values(), ids=JOBS)
def test_a_pod_that_no_kubelet_takes_is_refused_with_what_it_would_take(pool, job, expected):
    """Rule, field and nearest change are those of the kubelet's own decision."""
    found = refusals(pool, **job)
    if expected is None:
        assert found == []
        return
    ((rule, path, message),) = found
    assert (rule, path) == expected[:2]
    assert message.endswith(expected[2])


def test_the_nearest_change_starts():
    """What the message names is taken by the same kubelet."""
    assert refusals({}, gpus_per_node=8, cpus_per_node=113) == refusals({}, gpus_per_node=8, cpus_per_node=114) == []


def test_a_guaranteed_daemon_takes_a_numa_node_from_wide_pods():
    """Memory that is pinned to one NUMA node by a daemon is not there for a pod that needs both."""
    daemons = [{"name": "agent", "cpus": 1, "memory": "1Gi", "guaranteed": True}]
    (found,) = refusals({"daemons": daemons}, gpus_per_node=8)
    assert found[0] == "numa-starts"
    assert "UnexpectedAdmissionError" in found[2]
    assert refusals({"daemons": [{**daemons[0], "guaranteed": False}]}, gpus_per_node=8) == []


def patched(cpus: int) -> list[dict[str, Any]]:
    """Return a patch of the whole JobSet that gives the training container other CPUs."""
    amounts = {"requests": {"cpu": cpus}, "limits": {"cpu": cpus}}
    pods = {"spec": {"template": {"spec": {"containers": [{"name": "trainer", "resources": amounts}]}}}}
    merge = {"spec": {"replicatedJobs": [{"name": "worker", "template": pods}]}}
    return [{"object": "JobSet", "merge": merge, "reason": "other CPUs"}]


@pytest.mark.parametrize(("cpus", "expected"), [(100, ["numa-policy-fit"]), (200, [])])
def test_a_patch_of_the_object_counts_as_one_of_its_pods(cpus, expected):
    """The kubelet is asked about the pods that the object carries, whichever object was patched."""
    operators = {"jobset": {"version": "0.12.0"}}
    site = make_cluster(pools={"gpu": H100, "cpu": CPU}, operators=operators)
    run = make_resolved(cluster=site, kind="JobSet", gpus_per_node=8, nodes=2, patches=patched(cpus))
    found = list(kubelet.check(run))
    assert [item.rule for item in found] == expected
    assert all(item.path == "patches[0].merge" for item in found)


BESIDE = {8: "alone on a node", 4: "with 1 more on its node", 1: "with 7 more on its node"}


@pytest.mark.parametrize(("gpus", "said"), BESIDE.items())
def test_explain_says_how_many_start_on_a_node(gpus, said):
    """Pods of one kind are taken until the kubelet refuses, or the scheduler would not send another."""
    ((name, sized),) = facts(make_resolved(cluster=cluster(), gpus_per_node=gpus))
    assert (name, sized.value) == ("worker.starts", said)


def test_pods_that_differ_for_the_kubelet_are_decided_apart():
    """What it looks at beside containers tells pods apart too: a node of another name, an affinity, a port."""
    here = node(cluster(), "gpu")
    assert not isinstance(here, Invalid)
    container = {"name": "c", "resources": {"limits": {"cpu": "8", "memory": "8Gi"}}}
    pods = [
        {"metadata": {"name": "a"}, "spec": {"containers": [container]}},
        {"metadata": {"name": "a"}, "spec": {"containers": [container], "nodeName": "elsewhere"}},
        {
            "metadata": {"name": "a"},
            "spec": {"containers": [{**container, "ports": [{"hostPort": 1, "containerPort": 1}]}]},
        },
    ]
    anywhere, elsewhere, port = (here.verdict(pod) for pod in pods)
    assert (anywhere.beside > 0, bool(elsewhere.decision.unschedulable), port.beside) == (True, True, 0)


def test_nodes_are_described_as_the_command_reads_them():
    """The description of a node names its NUMA nodes, and every device that jobs can ask for."""
    found = document(cluster(), "gpu")
    assert found["node"]["devices"] == {"nvidia.com/gpu": [{"count": 4, "numa": 0}, {"count": 4, "numa": 1}]}
    assert [item["cpus"] for item in found["node"]["numa"]] == ["0-55,112-167", "56-111,168-223"]
    assert not isinstance(node(cluster(), "gpu"), Invalid)


def test_a_pod_that_arrives_leaves_its_template_as_it_is() -> None:
    """What the kubelet does not look at is left out of the pod alone, which shares the rest with the object."""
    run = make_resolved(cluster=cluster())
    claimed = {"name": "a", "resources": {"claims": [{"name": "c"}], "limits": {"cpu": "1"}}}
    carried = {"containers": [claimed, {"name": "b"}], "resourceClaims": [{"name": "c"}]}
    before = deepcopy(carried)
    found = complete_pod(run.kind, run.kind.called(run.roles[0].name), carried)
    assert found == {"containers": [{"name": "a", "resources": {"limits": {"cpu": "1"}}}, {"name": "b"}]}
    assert carried == before
