"""What Kueue gives quota still needs nodes: a verdict names those that take the pods, or what keeps them away."""

from __future__ import annotations

import json

import pytest

from command import call
from conftest import ROOT
from make import CLUSTER, JOB, REPOSITORY, fields, write_repository
from trainyard.judge.admission.inventory import per_host, together
from trainyard.judge.admission.rules import findings
from trainyard.judge.admission.verdicts import verdicts
from trainyard.judge.preflight import check_repository

ALIGNED = {
    "topologyManagerPolicy": "restricted",
    "topologyManagerScope": "pod",
    "cpuManagerPolicy": "static",
    "memoryManagerPolicy": "Static",
}
FLAT = {"topology": None, "pools": {"gpu": {"shape": "dgx-h100", "nodes": 4}}}
ONE = {
    "pools": {"gpu": {"shape": "dgx-h100", "nodes": 1, "kubelet": ALIGNED}},
    "topology": None,
    "queues": {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 8}}}},
}
QUEUES = {"queues": {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 32}}}}}
APART = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {
                    "topologyKey": "kubernetes.io/hostname",
                    "labelSelector": {"matchLabels": {"trainyard.dev/job": "train"}},
                }
            ]
        }
    }
}
PERHAPS = "pods that take a little of a whole node leave none for those that need it all, unless they are on one"
SMALL = {"nodes": 1, "gpusPerNode": 1}


RACK = {"alpha.jobset.sigs.k8s.io/exclusive-topology": "example.com/rack"}


def patch(merge, kind="Pod"):
    """A change to the pods of a job, or to its object."""
    return {"patches": [{"object": kind, "merge": merge, "reason": "a test"}]}


CASES = {
    "GPUs that are free here and there are no node": (
        {**FLAT, **QUEUES},
        {
            **{name: {"nodes": 1, "gpusPerNode": 5, "priority": "high"} for name in "abc"},
            "train": {},
        },
        {
            "a": ("fits", "1 pod in flavor gpu on 1 host"),
            "train": (
                "waits for",
                "a node for 1 pod of worker: Insufficient nvidia.com/gpu on 4 hosts",
                "used by nlp/a",
            ),
        },
    ),
    "pods that must be apart need a node each": (
        {**FLAT, **QUEUES},
        {"train": {"nodes": 6, "gpusPerNode": 1, **patch({"spec": APART})}},
        {
            "train": (
                "never fits",
                "even on an empty cluster it waits for a node for 2 pods of worker: ",
                "node(s) didn't match pod anti-affinity rules on 4 hosts; it would fit with nodes: 4",
            )
        },
    ),
    "Kueue opens its own gates": (
        QUEUES,
        {"train": {**SMALL, **patch({"spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/topology"}]}})}},
        {"train": ("fits", "1 pod in flavor gpu on 1 host")},
    ),
    PERHAPS: (
        {**FLAT, **QUEUES},
        {"train": {"launcher": "tensorflow", "nodes": 3, "roles": {"ps": {"nodes": 2, "cpusPerNode": 16}}}},
        {
            "train": (
                "may fit",
                "6 pods in flavor gpu on 4 hosts",
                "if the scheduler picks other nodes, it waits for a node for 1 pod of worker: Insufficient cpu",
            )
        },
    ),
    "what is free on two NUMA nodes is refused by a kubelet that aligns": (
        ONE,
        {
            **{name: {"nodes": 1, "gpusPerNode": 3, "priority": "high"} for name in "ab"},
            "train": {"nodes": 1, "gpusPerNode": 2},
        },
        {
            "a": ("fits", "1 pod in flavor gpu on 1 host (NUMA 0)"),
            "b": ("fits", "1 pod in flavor gpu on 1 host (NUMA 1)"),
            "train": (
                "waits for",
                "the kubelet refuses the pod (TopologyAffinityError) on 1 host, used by nlp/a, nlp/b",
            ),
        },
    ),
    "a rack of one's own is no other job's": (
        QUEUES,
        {name: {**SMALL, **patch({"metadata": {"annotations": RACK}}, "JobSet")} for name in "ab"},
        {
            "a": ("fits", "1 pod in flavor gpu on 1 host of rack-0"),
            "b": ("waits for", "host gpu-000 for pods of worker: node(s) didn't match pod anti-affinity rules"),
        },
    ),
    "a flavor's toleration and labels lead to its nodes": (
        {**QUEUES, "pools": {"gpu": {**CLUSTER["pools"]["gpu"], "taints": [{"key": "gpu"}]}}},
        {"train": SMALL},
        {"train": ("fits", "1 pod in flavor gpu on 1 host")},
    ),
    "groups that have quota hold nodes while another one of their job waits": (
        {
            **FLAT,
            "operators": {**CLUSTER["operators"], "lws": {"version": "0.10.0"}},
            "queues": {
                "research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 32}}},
                "second": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 16}}},
            },
            "waive": {"kq-overcommit": "a test"},
        },
        {
            "first": {"nodes": 1, "priority": "high"},
            "serve": {
                "kind": "LeaderWorkerSet",
                "nodes": 1,
                "waive": {"lws-no-end": "a test"},
                **patch({"spec": {"replicas": 4}}, "LeaderWorkerSet"),
            },
            "train": {"queue": "second"},
        },
        {
            "serve": ("waits for",),
            "train": ("fits", "if its pods are placed last, it waits for a node for pods of worker: Insufficient"),
        },
    ),
}


def checked(folder, cluster, jobs):
    """A repository with these changes to the cluster, and these jobs."""
    values = {f"nlp/{name}": fields(JOB, job) for name, job in jobs.items()}
    own = {**REPOSITORY, "labels": ["alpha.jobset.sigs.k8s.io"]}
    clusters = {"test": fields(CLUSTER, cluster)}
    return check_repository(write_repository(folder, jobs=values, clusters=clusters, repository=own))


@pytest.mark.parametrize(("cluster", "jobs", "expected"), CASES.values(), ids=CASES)
def test_verdicts(tmp_path, cluster, jobs, expected):
    """A job gets the word, and the detail says what is asked for."""
    there = checked(tmp_path, cluster, jobs)
    assert not [finding for finding in there.findings if finding.is_error]
    found = {verdict.ask.file.name: verdict for verdict in verdicts(there)}
    for name, (word, *details) in expected.items():
        assert found[name].word == word, found[name].detail
        assert all(detail in found[name].detail for detail in details), found[name].detail


def test_a_job_without_a_node_is_a_finding_of_its_own_rule(tmp_path):
    """It says that no node takes the pods, not that Kueue has no quota."""
    there = checked(tmp_path, {**FLAT, **QUEUES}, {"train": {"nodes": 6, "gpusPerNode": 1, **patch({"spec": APART})}})
    (found,) = findings(verdicts(there), there.findings)
    assert (found.rule, found.location.file) == ("node/never-fits", "jobs/nlp/train.yaml")


def test_a_job_that_may_find_no_node_is_a_warning(tmp_path):
    """It is told of both: where the pods go, and what else may come of them."""
    cluster, jobs, _ = CASES[PERHAPS]
    there = checked(tmp_path, cluster, jobs)
    (verdict,) = verdicts(there)
    assert (len(verdict.machines["alone"].missing), len(verdict.machines["alone"].otherwise.missing)) == (0, 1)
    (found,) = findings([verdict], there.findings)
    assert (found.rule, found.is_error) == ("node/may-not-fit", False)
    assert "picks other nodes, it waits for a node for 1 pod of worker: Insufficient cpu" in found.message
    (said,) = json.loads(call(tmp_path, "admit", "-o", "json").stdout)
    assert len(said["machines"]["alone"]["otherwise"]["missing"]) == 1


def test_a_job_that_waits_for_others_may_find_no_node_without_them_either(tmp_path):
    """The verdict tells who is there now, the finding what may come when they are gone."""
    cluster, jobs, _ = CASES[PERHAPS]
    there = checked(tmp_path, cluster, {**jobs, "other": {"nodes": 2, "priority": "high"}})
    found = {verdict.ask.file.name: verdict for verdict in verdicts(there)}
    assert (found["train"].word, found["other"].word) == ("waits for", "fits")
    assert [finding.rule for finding in findings(found.values(), there.findings)] == ["node/may-not-fit"]


def test_the_machines_of_a_job_are_there_for_people_and_programs(tmp_path):
    """`-v` has a line for all pods that are alike, JSON what each container got, and what keeps pods from nodes."""
    checked(
        tmp_path, ONE, {"a": {"nodes": 1, "gpusPerNode": 3, "priority": "high"}, "b": {"nodes": 1, "gpusPerNode": 6}}
    )
    lines = call(tmp_path, "admit", "nlp/a", "-v").stdout
    assert "    worker × 1 on gpu-000: NUMA 0\n" in lines
    a, b = json.loads(call(tmp_path, "admit", "-o", "json").stdout)
    (pod,) = a["machines"]["together"]["pods"]
    assert (pod["podSet"], pod["host"]) == ("worker", "gpu-000")
    assert pod["containers"][0]["devices"]["nvidia.com/gpu"] == ["gpu-0", "gpu-1", "gpu-2"]
    assert (b["verdict"], "together" in b["machines"], len(b["machines"]["alone"]["pods"])) == ("waits for", False, 1)


def test_the_text_is_the_reviewed_one(tmp_path, golden):
    """Jobs that fit, wait for quota, wait for a node, and never fit, with the arithmetic."""
    jobs = {
        **{name: {"nodes": 1, "gpusPerNode": 3, "priority": "high"} for name in "ab"},
        "train": {"nodes": 6, "gpusPerNode": 1, "priority": "low", **patch({"spec": APART})},
        "large": {"nodes": 2, "priority": "low"},
        "two": {"nodes": 1, "gpusPerNode": 2},
    }
    checked(tmp_path, ONE, jobs)
    golden("golden/admit.txt", call(tmp_path, "admit", "-v").stdout)


def test_addresses_are_counted_where_a_range_is_shared_and_where_nodes_have_blocks():
    """Whereabouts gives addresses of one range to all pods, nv-ipam each node a block; NVLink has a channel a node."""
    clusters = check_repository(ROOT).specs.clusters
    assert set(together(clusters["atlas"]).values()) == {8192 - 3}
    assert per_host(clusters["atlas"], "h100") == {}
    assert set(per_host(clusters["borealis"], "a100").values()) == {8}
    assert per_host(clusters["zephyr"], "gb200") == {"nvidia.com/nvlink-channel": 1}
