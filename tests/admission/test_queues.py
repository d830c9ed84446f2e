"""Queues that take no job, for a while or for ever, and what Kueue is not asked about."""

from __future__ import annotations

import pytest

from command import call
from make import CLUSTER, JOB, REPOSITORY, fields, write_repository
from trainyard.base.documents import dump
from trainyard.judge.admission.rules import findings
from trainyard.judge.admission.verdicts import verdicts
from trainyard.judge.preflight import check_repository

KUEUE = "kueue.x-k8s.io/v1beta2"
QUEUE = CLUSTER["queues"]["research"]
CIRCLE = {"cohorts": {"x": {"parent": "y"}, "y": {"parent": "x"}}, "queues": {"research": {**QUEUE, "cohort": "x"}}}
LIMITS = {"type": "Container", "max": {"cpu": "1"}}


FLAVOR = {
    "apiVersion": KUEUE,
    "kind": "ResourceFlavor",
    "metadata": {"name": "gpu"},
    "spec": {"nodeLabels": {"trainyard.dev/pool": "gpu"}},
}


def cluster_queue(*flavors, checks=()):
    """A ClusterQueue in the place of ours, with nodes of these flavors."""
    names = ["cpu", "memory", "ephemeral-storage", "nvidia.com/gpu"]
    rows = [
        {"name": flavor, "resources": [{"name": name, "nominalQuota": "100Ti"} for name in names]} for flavor in flavors
    ]
    return {
        "apiVersion": KUEUE,
        "kind": "ClusterQueue",
        "metadata": {"name": "research"},
        "spec": {
            "namespaceSelector": {},
            "resourceGroups": [{"coveredResources": names, "flavors": rows}],
            **({"admissionChecksStrategy": {"admissionChecks": [{"name": name} for name in checks]}} if checks else {}),
        },
    }


def local_queue(cluster_queue="research", **spec):
    """A LocalQueue in the place of ours."""
    return {
        "apiVersion": KUEUE,
        "kind": "LocalQueue",
        "metadata": {"name": "research", "namespace": "nlp"},
        "spec": {"clusterQueue": cluster_queue, **spec},
    }


def limits():
    """A LimitRange that lets no container have more than one CPU."""
    metadata = {"name": "bounds", "namespace": "nlp"}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": {"limits": [LIMITS]}}


def checked(root, cluster, jobs, *extra):
    """A repository with these changes to the cluster, these jobs, and objects of its own."""
    jobs = {f"nlp/{name}": fields(JOB, job) for name, job in jobs.items()}
    write_repository(root, jobs=jobs, clusters={"test": fields(CLUSTER, cluster)}, repository=REPOSITORY)
    for value in extra:
        folder = "teams/nlp" if "namespace" in value["metadata"] else "platform"
        path = root / "platform/extra/test" / folder / f"{value['kind'].lower()}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dump(value), encoding="utf-8")
    return check_repository(root)


CASES = {
    "a flavor that is nowhere closes its queue for ever": (
        {},
        [cluster_queue("gpu", "b200")],
        ("never fits", "queue research references missing ResourceFlavor(s): b200"),
    ),
    "so does an AdmissionCheck": (
        {},
        [cluster_queue("gpu", checks=["budget"])],
        ("never fits", "queue research references missing AdmissionCheck(s): budget"),
    ),
    "so does a topology": (
        {},
        [{**FLAVOR, "spec": {**FLAVOR["spec"], "topologyName": "none"}}],
        ("never fits", 'queue research admits nothing: there is no Topology "none" for TAS flavor "gpu"'),
    ),
    "so does a circle of cohorts": (CIRCLE, [], ("never fits", "queue research admits nothing: cohort has a cycle")),
    "a LocalQueue may lead nowhere": (
        {},
        [local_queue("none")],
        ("never fits", "ClusterQueue none doesn't exist"),
    ),
    "a LocalQueue that is held is waited for": (
        {},
        [local_queue(stopPolicy="Hold")],
        ("waits for", "LocalQueue research of its team, which is stopped"),
    ),
    "a queue that is held is no comfort to a job that would not fit": (
        {"queues": {"research": {**QUEUE, "stopPolicy": "HoldAndDrain"}}},
        [limits()],
        ("never fits", "even if queue research admitted jobs: resources didn't satisfy LimitRange constraints: "),
    ),
    "one that lacks something as well is closed for ever": (
        {},
        [{**(held := cluster_queue("gpu", "b200")), "spec": {**held["spec"], "stopPolicy": "Hold"}}],
        ("never fits", "queue research references missing ResourceFlavor(s): b200"),
    ),
}


@pytest.mark.parametrize(("cluster", "extra", "expected"), CASES.values(), ids=CASES)
def test_what_a_closed_queue_means_to_its_jobs(tmp_path, cluster, extra, expected):
    """What somebody opens again is waited for; what nobody has declared never comes, and is told as an error."""
    (found,) = verdicts(checked(tmp_path, cluster, {"train": {}}, *extra))
    assert found.word == expected[0]
    assert found.detail.startswith(expected[1])
    told = [finding.rule for finding in findings([found], [])]
    assert told == (["kq-never-fits"] if found.word == "never fits" else [])


def test_the_command_fails_for_a_queue_that_never_works(tmp_path):
    """A job that waits for a flavor which nobody declares is an error, at its queue."""
    checked(tmp_path, {}, {"train": {}}, cluster_queue("gpu", "b200"))
    done = call(tmp_path, "admit")
    assert done.returncode == 1
    assert "jobs/nlp/train.yaml:" in done.stderr
    assert "missing ResourceFlavor(s): b200 [kq-never-fits]" in done.stderr


def test_a_strict_queue_stays_shut_behind_a_job_that_never_fits(tmp_path):
    """Who waits behind it is told that this does not end."""
    queues = {"research": {**QUEUE, "queueingStrategy": "StrictFIFO"}}
    jobs = {"first": {"nodes": 9, "priority": "high"}, "second": {}}
    found = {verdict.ask.file.name: verdict for verdict in verdicts(checked(tmp_path, {"queues": queues}, jobs))}
    assert found["first"].word == "never fits"
    assert (found["second"].word, found["second"].detail) == (
        "waits for",
        "nlp/first, which is first in queue research and never fits",
    )


CONFIG = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
INTEGRATIONS = "integrations: {frameworks: [batch/job, jobset.x-k8s.io/jobset]}\n"
UNLISTED = {"none are listed": "", "others are": "integrations: {frameworks: [batch/job]}\n"}


@pytest.mark.parametrize("listed", UNLISTED.values(), ids=UNLISTED)
def test_a_kind_that_kueue_does_not_look_at_is_not_judged(tmp_path, listed):
    """Where the cluster's own configuration leaves out JobSets they start past every quota, which is no fit."""
    values = {"managerConfig": {"controllerManagerConfigYaml": CONFIG + listed}}
    operators = {**CLUSTER["operators"], "kueue": {"version": "0.19.2", "values": values}}
    there = checked(tmp_path, {"operators": operators}, {"set": {}, "job": {"kind": "Job", "nodes": 1}})
    found = {verdict.ask.file.name: (verdict.word, verdict.detail) for verdict in verdicts(there)}
    why = "Kueue does not manage jobset.x-k8s.io/jobset here, so the job would start outside every quota"
    assert found["set"] == ("not judged", why)
    assert found["job"][0] == "fits"
    assert [finding.message for finding in there.findings if finding.rule == "kq-kind-enabled"] == [
        "Kueue's configuration leaves out jobset.x-k8s.io/jobset, so such jobs start outside of all quotas; add it"
    ]


def test_variants_of_concurrent_admission_are_not_judged(tmp_path):
    """With its gate on, Kueue admits one of several variants of a job; which one is not said."""
    queue = cluster_queue("gpu")
    queue["spec"]["concurrentAdmissionPolicy"] = {"migration": {"mode": "TryPreferredFlavors"}}
    found = {}
    for gate in ("ConcurrentAdmission", "PartialAdmission"):
        text = f"{CONFIG}{INTEGRATIONS}featureGates: {{{gate}: true}}\n"
        own = {"managerConfig": {"controllerManagerConfigYaml": text}}
        operators = {**CLUSTER["operators"], "kueue": {"version": "0.19.2", "values": own}}
        (found[gate],) = verdicts(checked(tmp_path / gate, {"operators": operators}, {"train": {}}, queue))
    assert found["ConcurrentAdmission"].word == "not judged"
    assert found["ConcurrentAdmission"].detail.startswith("queue research has a concurrentAdmissionPolicy; ")
    assert found["PartialAdmission"].word == "fits"


def test_daemons_are_pods_that_a_node_has_no_place_for_twice(tmp_path):
    """Kueue counts each of them, so that small pods go on to the next node before a kubelet refuses them."""
    pools = {**CLUSTER["pools"], "gpu": {"shape": "dgx-h100", "nodes": 2}}
    job = {"launcher": "python", "nodes": None, "gpusPerNode": None, "cpusPerNode": 1, "memoryPerNode": "1Gi"}
    queues = {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 16}}}}
    there = checked(
        tmp_path, {"pools": pools, "queues": queues}, {"train": {**job, "array": {"of": 300, "parallel": 106}}}
    )
    (found,) = verdicts(there)
    assert (found.word, found.detail) == ("fits", "106 pods in flavor gpu on 2 hosts of rack-0")


def test_a_fabric_without_room_for_its_rails_is_told_and_nothing_is_judged(tmp_path):
    """The range is a finding on the cluster; the command does not end in a traceback."""
    fabric = {"type": "roce", "attach": "sriov", "addresses": "10.56.0.0/28", "trafficClass": 106, "pools": ["gpu"]}
    operators = {name: {"version": text} for name, text in NETWORKS.items()}
    cluster = {"fabric": fabric, "operators": {**CLUSTER["operators"], **operators}}
    (found,) = verdicts(checked(tmp_path, cluster, {"train": {"fabric": "rdma"}}))
    assert (found.word, found.detail) == (
        "not judged",
        "its cluster cannot be rendered; run `trainyard check` for the reason",
    )
    done = call(tmp_path, "admit", "--svg", "pictures")
    assert done.returncode == 1
    assert (
        "no picture of cluster test: cluster 'test' cannot be rendered: 10.56.0.0/28 has no room for 8" in done.stderr
    )


NETWORKS = {"sriov-network-operator": "1.6.0", "multus": "4.3.0", "whereabouts": "0.9.4"}


def test_whole_nodes_are_whole_nodes_where_a_pool_tells_of_its_daemons(tmp_path):
    """What a job gets of a node unasked is there: no node in particular has a controller of which there is one."""
    daemons = [{"name": "storage-client", "cpus": 20, "memory": "200Gi"}]
    pools = {**CLUSTER["pools"], "gpu": {**CLUSTER["pools"]["gpu"], "daemons": daemons}}
    (found,) = verdicts(checked(tmp_path, {"pools": pools}, {"train": {}}))
    assert (found.word, found.detail) == ("fits", "2 pods in flavor gpu on 2 hosts of rack-0")


def test_what_is_kept_for_daemons_is_nobodys_where_kueue_looks_at_quota_alone(tmp_path):
    """Two jobs whose CPUs a node has, but not beside its daemons, are on two nodes."""
    half = {"nodes": 1, "gpusPerNode": 4, "cpusPerNode": 106, "memoryPerNode": "100Gi"}
    pools = {**CLUSTER["pools"], "gpu": {"shape": "dgx-h100", "nodes": 1}}
    queues = {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 16}}}}
    there = checked(tmp_path, {"topology": None, "pools": pools, "queues": queues}, {"first": half, "second": half})
    found = {verdict.ask.file.name: (verdict.word, verdict.detail) for verdict in verdicts(there)}
    lack = "a node for pods of worker: Insufficient cpu on 1 host"
    last = f"1 pod in flavor gpu on 1 host; if its pods are placed last, it waits for {lack}"
    assert found["first"] == ("fits", last)
    assert found["second"] == ("waits for", f"{lack}, used by nlp/first; unless its pods are placed first")
