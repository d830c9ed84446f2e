"""What pods cannot have, once everything is derived, is a finding at the job's field, in one short sentence."""

from __future__ import annotations

import pytest

from make import make_run
from trainyard.base.findings import Finding
from trainyard.judge.preflight.jobs import check_run
from trainyard.render.kinds import kinds
from two_sockets import PINNED, ROCE, cluster


def found(**job: object) -> list[Finding]:
    """Return everything that is wrong with a run."""
    return check_run(make_run(**job))[1]


def beside(cpu, *, memory="1Gi"):
    """A container of the job's own, of this size and a name by it."""
    return {"name": f"c{cpu}-{memory}".lower(), "resources": {"limits": {"cpu": cpu, "memory": memory}}}


BIG = {"containers": [{"name": "a", "resources": {"limits": {"cpu": 58, "memory": "480Gi"}}}]}
WRONG = {
    "a slice on a pool without GPUs": (
        {"pool": "cpu", "gpus_per_node": None, "nodes": 1, "gpu": {"profile": "1g.10gb"}},
        ["gpu requests part of a GPU, but pool 'cpu' has no GPUs; use another pool"],
    ),
    "a slice on a pool of whole GPUs": (
        {"gpus_per_node": None, "nodes": 1, "gpu": {"profile": "1g.10gb"}},
        ["gpu requests 'nvidia.com/mig-1g.10gb', but nodes of pool 'gpu' offer 'nvidia.com/gpu'; use one of these"],
    ),
    "a gang of slices": (
        {"gpus_per_node": None, "gpu": {"profile": "1g.10gb"}},
        ["gpu requests part of a GPU, but nodes is 2; use whole GPUs, or set nodes: 1"],
    ),
    "shared memory that leaves nothing": (
        {"shared_memory": "600Gi"},
        ["sharedMemory is 600Gi, but it must fit in the pod's memory of 480Gi; lower it, or raise memoryPerNode"],
    ),
    "more scratch than disk": (
        {"scratch": "3Ti"},
        ["scratch is 3Ti, but nodes of pool 'gpu' have 790Gi; lower it"],
    ),
    "containers that take all": (
        BIG,
        [
            "containers request 58 CPUs, but the whole pod has 58; lower them",
            "containers request 480Gi of memory, but the whole pod has 480Gi; lower them",
        ],
    ),
    "RDMA for a part of a node": (
        {"fabric": "rdma", "gpus_per_node": 4},
        ["fabric is 'rdma' with 4 of 8 GPUs: a second pod's NICs are far from its GPUs; use whole nodes"],
    ),
    "more processes than GPUs": (
        {"processes_per_node": 64},
        ["processesPerNode is 64, but a pod has 8 GPUs; remove it, or use 8"],
    ),
    "a volume for two checkpoints, where four are kept": (
        {"checkpoint": {"volume": "checkpoints", "size": "500Gi"}},
        ["volume 'checkpoints' of 1Ti is too small for keep + 1 = 4 checkpoints of 500Gi; lower keep"],
    ),
    "a sidecar that is to end": (
        {
            "containers": [{"name": "a", "restartPolicy": "Never"}, {"name": "b", "restartPolicy": "Always"}],
            "init_containers": [{"name": "c"}],
        },
        [
            (
                "restartPolicy is 'Never', but a sidecar runs until the job ends; remove it, or move the container to "
                "initContainers"
            )
        ],
    ),
    "names that the pod has": (
        {
            "containers": [{"name": "trainer"}, {"name": "a"}],
            "init_containers": [{"name": "a"}],
            "volumes": [{"name": "shared-memory"}, {"name": "claim-data"}, {"name": 5}, {"name": "mine"}],
        },
        [
            "containers[0].name is 'trainer', which the pod has already; use another name",
            "containers[1].name is 'a', which the pod has already; use another name",
            "volumes[0].name is 'shared-memory', which the pod has already; use another name",
            "volumes[1].name is 'claim-data', which the pod has already; use another name",
        ],
    ),
    "a variable of ours": (
        {"checkpoint": {"volume": "checkpoints", "size": "1Gi"}, "env": {"CHECKPOINT_DIR": "/x"}},
        ["env sets CHECKPOINT_DIR, which Trainyard sets itself; remove it"],
    ),
    "the name of the job without checkpoints": (
        {"env": {"JOB_NAME": "x", "CHECKPOINT_DIR": "/own"}},
        ["env sets JOB_NAME, which Trainyard sets itself; remove it"],
    ),
    "a secret for the team": (
        {"secrets": {"TEAM": "tokens/team"}},
        ["secrets sets TEAM, which Trainyard sets itself; remove it"],
    ),
    "nothing": ({}, []),
}


@pytest.mark.parametrize(("job", "messages"), WRONG.values(), ids=WRONG)
def test_what_pods_cannot_have(job, messages):
    """What does not work out once everything is derived is a finding at the job's field."""
    findings = found(cluster=cluster(fabric=ROCE), **{"fabric": "tcp", **job})
    assert [finding.message for finding in findings] == messages
    assert all(
        finding.location.file == "jobs/nlp/train.yaml" and len(finding.message.split()) <= 20 for finding in findings
    )


NUMA_WRONG = {
    "GPUs of two sockets on one": (
        {"topologyManagerPolicy": "single-numa-node"},
        {"gpus_per_node": 8},
        ["gpusPerNode is 8, but pool 'gpu' keeps a pod on one NUMA node, which has 4; use 4"],
    ),
    "half a core": (
        {**PINNED, "cpuManagerPolicyOptions": {"full-pcpus-only": "true"}},
        {"cpus_per_node": 7},
        ["cpusPerNode is 7, but pool 'gpu' gives whole cores of 2 CPUs; use 8"],
    ),
    "CPUs beyond the socket of the GPUs": (
        PINNED,
        {"gpus_per_node": 4, "cpus_per_node": 31},
        ["cpusPerNode is 31, but pool 'gpu' keeps a pod on its GPUs' NUMA nodes, which have 30; lower it"],
    ),
    "all CPUs of the socket of two GPUs": (PINNED, {"gpus_per_node": 2, "cpus_per_node": 30}, []),
    "CPUs of two sockets on one": (
        {**PINNED, "topologyManagerPolicy": "single-numa-node"},
        {"gpus_per_node": 0, "cpus_per_node": 31},
        ["cpusPerNode is 31, but pool 'gpu' keeps a pod on one NUMA node, which has 30; lower it"],
    ),
    "a sidecar with half a core": (
        {**PINNED, "cpuManagerPolicyOptions": {"full-pcpus-only": "true"}},
        {"init_containers": [beside(3)], "containers": [beside("1500m"), beside(2), beside(1)]},
        [
            "cpu is 3, but pool 'gpu' gives whole cores of 2 CPUs; ask for 4",
            "cpu is 1, but pool 'gpu' gives whole cores of 2 CPUs; ask for 2",
        ],
    ),
    "half a core where no kubelet minds": (PINNED, {"containers": [beside(1)]}, []),
    "a sidecar without a limit": (
        PINNED,
        {"containers": [beside(0), beside(1, memory=0)]},
        [
            "cpu is 0, so the pod gets no exclusive CPUs on pool 'gpu'; raise or remove it",
            "memory is 0, so the pod gets no exclusive CPUs on pool 'gpu'; raise or remove it",
        ],
    ),
    "one where nothing is pinned": ({}, {"containers": [beside(0)]}, []),
    "what is derived": ({**PINNED, "cpuManagerPolicyOptions": {"full-pcpus-only": "true"}}, {"gpus_per_node": 3}, []),
}


@pytest.mark.parametrize(("kubelet", "job", "messages"), NUMA_WRONG.values(), ids=NUMA_WRONG)
def test_what_a_kubelet_would_refuse(kubelet, job, messages):
    """Pods that every kubelet of the pool would refuse, again and again, are findings."""
    findings = found(cluster=cluster(kubelet=kubelet), **job)
    assert [finding.message for finding in findings] == messages
    assert all(len(finding.message.split()) <= 20 for finding in findings)


@pytest.mark.parametrize("field", ["scratch", "memory_per_node", "shared_memory"])
def test_an_amount_beyond_all_machines_is_a_finding(field):
    """The most that Kubernetes counts is worked out exactly, and never as a floating-point number."""
    assert found(cluster=cluster(), **{field: str(2**63 - 1)})


@pytest.mark.parametrize("kind", kinds())
def test_the_containers_name_is_the_kinds(kind):
    """Some operators insist on a name for the container that trains: there a second one of that name is refused."""
    names = {one_kind.container for one_kind in kinds().values()}
    about = {name: found(containers=[{"name": name}], kind=kind) for name in names}
    refused = {
        name for name, findings in about.items() if any("has already" in finding.message for finding in findings)
    }
    assert refused == {kinds()[kind].container}
