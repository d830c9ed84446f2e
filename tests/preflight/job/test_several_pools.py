"""A job of several pools is refused where one pod cannot run on all of them."""

from __future__ import annotations

import pytest

from make import (
    CLUSTER,
    CPU_NODE,
    IMAGE,
    JOB,
    fields,
    make_cluster,
    make_job_file,
    make_specs,
    make_team,
    write_repository,
)
from trainyard.judge.preflight import check_repository
from trainyard.judge.preflight.jobs import check

POOLS = {
    "gpu": {"shape": "dgx-h100", "nodes": 4},
    "old": {"shape": "dgx-a100", "nodes": 4},
    "small": {"shape": "dgx-h100", "nodes": 1},
    "half": {"shape": "gb200-nvl72", "nodes": 4},
    "amd": {"shape": "mi300x", "nodes": 4, "deviceAccess": "open"},
    "spot": {"shape": "dgx-h100", "nodes": 4, "spot": True},
    "pinned": {"shape": "dgx-h100", "nodes": 4, "kubelet": {"memoryManagerPolicy": "Static"}},
    "local": {"shape": "dgx-h100", "nodes": 4, "localDisks": {"size": "10Ti", "storage": "local"}},
    "cpu": {"shape": CPU_NODE, "nodes": 4},
}
QUOTA = {name: {"nodes": pool["nodes"]} for name, pool in POOLS.items()}
OPERATORS = {
    "kueue": {"version": "0.19.2"},
    "jobset": {"version": "0.12.0"},
    "training-operator": {"version": "1.9.4"},
    "volcano": {"version": "1.14.1"},
    "trainer": {"version": "2.3.0"},
    "gpu-operator": {"version": "26.7.0", "managed": False},
}
IB = {
    "type": "infiniband",
    "attach": "rdma-shared",
    "resources": ["rdma/shared_ib"],
    "memlock": "provided",
    "subnetManager": "OpenSM",
    "pools": ["gpu", "spot"],
}


def found(job, **changes):
    """Return the rules of the findings about several pools, and their messages."""
    queues = {
        "research": {"teams": ["nlp"], "nominalQuota": QUOTA},
        "amd": {"teams": ["nlp"], "nominalQuota": {"amd": {"nodes": 4}}},
    }
    cluster = make_cluster(**{"pools": POOLS, "queues": queues, "operators": OPERATORS, **changes})
    file = make_job_file(**job)
    specs = make_specs(file, clusters={"test": cluster}, teams={"nlp": make_team()})
    return [(finding.rule, finding.message) for finding in check(specs, file)[1]]


DIFFER, APART = "run/pools-differ", "run/pools-apart"
WRONG = {
    "memory that GPUs of two vendors have": (
        {"pool": None, "gpuMemory": "80G"},
        "run/gpu-vendors",
        "gpuMemory chooses pools 'gpu' (nvidia) and 'amd' (amd); say cuda or rocm of the image, or name pools",
    ),
    "memory that only GPUs have that the image is not for": (
        {"pool": None, "gpuMemory": "160G", "image": {"name": IMAGE, "cuda": "12.8"}, "queue": "amd"},
        "spec/gpu-memory",
        "image has software for nvidia, but pool 'amd' has other GPUs",
    ),
    "GPUs of two vendors": (
        {"pool": ["gpu", "amd"]},
        DIFFER,
        "pods need resource nvidia.com/gpu 8 on pool 'gpu', but none on 'amd'; name pools that agree",
    ),
    "fewer GPUs on a node": ({"pool": ["gpu", "half"]}, "spec/gpus-per-node", "nodes of pool 'half' have 4"),
    "a pool that is too small": ({"pool": ["gpu", "small"]}, "spec/nodes", "pool 'small' has 1 node"),
    "spot nodes that nobody expects": ({"pool": ["gpu", "spot"]}, "spec/spot-pool", "pool 'spot' has spot nodes"),
    "a pool that is not there": ({"pool": ["gpu", "gpus"]}, "spec/unknown-pool", "pool 'gpus' does not exist"),
    "local disks by a claim on one of them": (
        {"pool": ["gpu", "local"], "scratch": {"size": "1Ti", "medium": "nvme"}},
        "spec/scratch-medium",
        "",
    ),
    "memory that is pinned on one of them, beside pods without GPUs": (
        {"pool": ["gpu", "pinned"], "launcher": "tensorflow", "roles": {"ps": {"cpusPerNode": 2}}},
        DIFFER,
        "on pool 'gpu', but",
    ),
    "ranks in two pod sets": (
        {"pool": ["gpu", "old"], "kind": "PyTorchJob"},
        APART,
        "kind PyTorchJob has GPUs in pod sets master and worker, whose pools may differ; name one pool",
    ),
    "memory of GPUs that none has": (
        {"pool": None, "gpu_memory": "300G"},
        "spec/gpu-memory",
        "no pool of queue 'research' has 2 nodes with 8 GPUs of 300G; ",
    ),
    "memory that a pool misses narrowly": (
        {"pool": None, "gpu_memory": "80Gi"},
        "spec/gpu-memory-near",
        "gpuMemory is 80Gi, but GPUs of pool 'gpu' have 81559Mi; write 80G",
    ),
}


@pytest.mark.parametrize(("job", "rule", "said"), WRONG.values(), ids=WRONG)
def test_pools_that_no_pod_suits(job, rule, said):
    """What one of the pools lacks is an error that names it, and what differs between two names both."""
    messages = [message for name, message in found(job) if name == rule]
    assert any(said in message for message in messages), found(job)


@pytest.mark.parametrize("software", [{"cuda": "12.8"}, {"rocm": "7.0"}])
def test_the_image_says_of_which_vendor_gpus_are(software):
    """Pools whose GPUs it is not for are left out in silence."""
    job = {"pool": None, "gpuMemory": "80G", "image": {"name": IMAGE, **software}, "nodes": 1}
    assert not {rule for rule, _ in found(job)} & {"run/gpu-vendors", "run/image-vendor", "spec/gpu-memory"}


def test_a_pool_off_the_fabric():
    """A job over RDMA may name only pools of the fabric."""
    job = {"pool": ["gpu", "old"], "fabric": "rdma"}
    assert ("spec/no-rdma", "fabric is 'rdma', but pool 'old' is not on the fabric; use tcp or another pool") in found(
        job, fabric=IB
    )


CHECKPOINT = {"volume": "checkpoints", "size": "10Gi"}
RIGHT = {
    "two generations": {"pool": ["gpu", "old"]},
    "on demand and spot": {"pool": ["gpu", "spot"], "spot": True, "checkpoint": CHECKPOINT},
    "parts of nodes": {"pool": ["gpu", "half"], "gpus_per_node": 4, "nodes": 1},
    "a runtime of its own": {"pool": ["gpu", "old"], "kind": "TrainJob"},
    "one pool in a list": {"pool": ["gpu"]},
    "by memory, of which one pool is too small": {
        "pool": None,
        "gpu_memory": "80G",
        "nodes": 4,
        "spot": True,
        "checkpoint": CHECKPOINT,
    },
    "a role on a pool of its own": {
        "pool": ["gpu", "old"],
        "launcher": "tensorflow",
        "roles": {"ps": {"pool": "cpu", "cpusPerNode": 2}},
    },
}


@pytest.mark.parametrize("job", RIGHT.values(), ids=RIGHT)
def test_pools_that_one_pod_suits(job):
    """Nothing is said of pools that differ in what sizes absorb."""
    pools = {name: POOLS[name] for name in POOLS if name != "amd"}
    quota = {"research": {"teams": ["nlp"], "nominalQuota": {name: QUOTA[name] for name in pools}}}
    assert not found(job, pools=pools, queues=quota)


@pytest.mark.parametrize("pools", [["amd", "more"], ["cpu", "more"]], ids=" and ".join)
def test_pools_without_gpus_of_nvidia_beside_others_with(tmp_path, pools):
    """Pods that select no pool see no GPUs of NVIDIA where the cluster has some, as its policies demand."""
    first = POOLS[pools[0]]
    gpus = {} if "shape" in first and first["shape"] == "mi300x" else {"gpusPerNode": None, "cpusPerNode": 2}
    there = {"gpu": POOLS["gpu"], pools[0]: first, "more": first}
    queues = {"research": {"teams": ["nlp"], "nominalQuota": {name: {"nodes": 4} for name in there}}}
    operators = {"amd-gpu-operator": {"version": "1.5.1", "managed": False}, "cert-manager": {"version": "1.21.1"}}
    cluster = fields(CLUSTER, {"pools": there, "queues": queues, "operators": {**OPERATORS, **operators}})
    job = fields(JOB, {"pool": pools, "nodes": 1, **gpus})
    checked = check_repository(write_repository(tmp_path, jobs={"nlp/train": job}, clusters={"test": cluster}))
    assert not [finding for finding in checked.findings if finding.location.file.startswith("jobs/")]


def test_volcano_takes_no_pool():
    """A queue of Volcano's has no flavors, so a job there names one pool."""
    queue = {"teams": ["nlp"], "scheduler": "volcano", "nominalQuota": {"gpu": {"nodes": 4}, "old": {"nodes": 4}}}
    job = {"pool": ["gpu", "old"], "kind": "VolcanoJob", "topology": None, "priority": None}
    assert "run/pools-scheduler" in {rule for rule, _ in found(job, queues={"research": queue})}


def test_a_job_says_its_pool_or_the_memory_of_its_gpus():
    """Both would contradict each other, and the memory of GPUs is of whole ones."""
    for job in ({"gpu_memory": "80G"}, {"pool": None, "gpu_memory": "80G", "gpus_per_node": None}):
        with pytest.raises(ValueError, match="gpuMemory"):
            make_job_file(**job)
