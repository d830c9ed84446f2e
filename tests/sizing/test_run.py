"""What pods ask for follows from the job and the node, and every value says how."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, CPU_NODE, fields, make_cluster, make_resolved, make_sizing
from trainyard.base.labels import NETWORKS
from trainyard.render.sizing import pod_requests, resources
from trainyard.render.sizing.fabrics.devices import resource_prefix
from trainyard.render.sizing.machines import kubelet_allocatable
from trainyard.render.sizing.node import cpu_set, reserved_cpus
from two_sockets import GPU_NODE, NUMA, PINNED, ROCE, cluster

CPUS = {
    "a whole node": ({"gpus_per_node": 8}, None, 58, "58 = floor(58 for pods)"),
    "half a node": ({"gpus_per_node": 4}, None, 29, "29 = floor(58 for pods × 4/8 GPUs)"),
    "one GPU": ({"gpus_per_node": 1}, None, 7, "7 = floor(58 for pods × 1/8 GPUs)"),
    "whole cores where CPUs are pinned": ({"gpus_per_node": 4}, PINNED, 28, "in whole cores of 2"),
    "the GPUs' socket where the system sits on it": (
        {"gpus_per_node": 4},
        {**PINNED, "reservedSystemCPUs": "0-7,32-39"},
        16,
        "16 = floor(16 on the NUMA nodes of 4/8 GPUs)",
    ),
    "no GPUs on a node with GPUs": ({"gpus_per_node": 0}, None, 7, "1/8, one GPU's share"),
    "as the job says": ({"gpus_per_node": 8, "cpus_per_node": 10}, None, 10, "cpusPerNode of the job"),
    "less containers of the job": (
        {"gpus_per_node": 8, "containers": [{"name": "a", "resources": {"limits": {"cpu": 2}}}, {"name": "b"}]},
        None,
        55,
        "55 = floor(58 for pods) - 2.1 of containers of the job",
    ),
    "an init container takes nothing from it": ({"init_containers": [{"name": "a"}]}, None, 58, "floor(58 for pods)"),
    "a sidecar does": ({"init_containers": [{"name": "a", "restartPolicy": "Always"}]}, None, 57, "- 0.1 of"),
}


@pytest.mark.parametrize(("job", "kubelet", "expected", "why"), CPUS.values(), ids=CPUS)
def test_cpus(job, kubelet, expected, why):
    """CPUs are whole, the share of what the node has for pods, and on the GPUs' own NUMA nodes."""
    worker = make_sizing(cluster=cluster(kubelet=kubelet), **job).worker
    assert worker.cpus.value == expected
    assert why in worker.cpus.origin


MEMORY = {
    "a whole node": ({"gpus_per_node": 8}, "480Gi", "64Gi"),
    "one GPU": ({"gpus_per_node": 1}, "60Gi", "8Gi"),
    "CPUs alone": ({"gpus_per_node": 0, "pool": "cpu"}, "56Gi", "8Gi"),
    "a share by CPUs": ({"gpus_per_node": 0, "pool": "cpu", "cpus_per_node": 7}, "28Gi", "7Gi"),
    "as the job says": ({"memory_per_node": "20Gi"}, "20Gi", "5Gi"),
    "shared memory as the job says": ({"memory_per_node": "20Gi", "shared_memory": "12Gi"}, "20Gi", "12Gi"),
    "little memory": ({"memory_per_node": "100Mi", "pool": "cpu", "gpus_per_node": 0}, "100Mi", "25Mi"),
}


@pytest.mark.parametrize(("job", "memory", "shared"), MEMORY.values(), ids=MEMORY)
def test_memory_and_the_shared_part_of_it(job, memory, shared):
    """Memory is the share of the node's; `/dev/shm` is 8Gi a process and at most a quarter of it."""
    worker = make_sizing(cluster=cluster(), **job).worker
    assert (worker.memory.value, worker.shared_memory.value) == (memory, shared)


def test_memory_stays_on_the_socket_where_the_kubelet_pins_it():
    """With a static memory manager a pod gets no more than its GPUs' NUMA nodes have."""
    shape = fields(GPU_NODE, {"numa": [{**NUMA[0], "memory": "128Gi"}, NUMA[1]]})
    pinned = {**PINNED, "memoryManagerPolicy": "Static"}
    worker = make_sizing(cluster=cluster(shape=shape, kubelet=pinned), gpus_per_node=4).worker
    assert worker.memory.value == "120Gi"
    assert worker.memory.origin == "120Gi = 120Gi on the NUMA nodes of 4/8 GPUs, rounded down"


def test_a_pod_of_cpus_stays_on_one_socket_where_the_kubelet_says_so():
    """Under single-numa-node a whole node's CPUs would never be admitted; the default is one NUMA node's."""
    shape = fields(GPU_NODE, {"gpus": None, "nics": None, "numa": [{**item, "gpus": []} for item in NUMA]})
    pinned = {**PINNED, "topologyManagerPolicy": "single-numa-node", "memoryManagerPolicy": "Static"}
    worker = make_sizing(cluster=cluster(shape=shape, kubelet=pinned), gpus_per_node=0).worker
    assert (worker.cpus.value, worker.cpus.origin) == (30, "30 = floor(30 on one NUMA node)")
    assert worker.memory.value == "248Gi"


def test_a_whole_node_s_pod_stays_on_the_sockets_of_its_gpus():
    """Where GPUs hang on some NUMA nodes alone, the CPUs of the others would make the kubelet refuse the pod."""
    numa = [{**NUMA[0], "gpus": list(range(8))}, {**NUMA[1], "gpus": []}]
    node = cluster(shape=fields(GPU_NODE, {"numa": numa}), kubelet={**PINNED, "memoryManagerPolicy": "Static"})
    worker = make_sizing(cluster=node, gpus_per_node=8).worker
    assert (worker.cpus.value, worker.memory.value) == (30, "248Gi")


ASKED = {
    "the training container alone": ({}, (4, 8)),
    "containers beside it": ({"containers": [{"resources": {"limits": {"cpu": "1.5", "memory": "2Gi"}}}]}, (5.5, 10)),
    "one that asks for nothing": ({"containers": [{}]}, (4.1, 8.125)),
    "an init container that asks for less": ({"init_containers": [{"resources": {"requests": {"cpu": 3}}}]}, (4, 8)),
    "an init container that asks for more": ({"init_containers": [{"resources": {"requests": {"cpu": 9}}}]}, (9, 8)),
    "one that stays": (
        {"init_containers": [{"restartPolicy": "Always", "resources": {"limits": {"cpu": 3, "memory": "1Gi"}}}]},
        (7, 9),
    ),
    "one beside one that stays": (
        {
            "init_containers": [
                {"restartPolicy": "Always", "resources": {"limits": {"cpu": 3, "memory": "1Gi"}}},
                {"resources": {"limits": {"cpu": 9}}},
            ]
        },
        (12, 9),
    ),
    "what is no quantity": ({"containers": [{"resources": {"limits": {"cpu": "many", "memory": []}}}]}, (4, 8)),
}


@pytest.mark.parametrize(("own", "asked"), ASKED.values(), ids=ASKED)
def test_what_a_pod_asks_for(own, asked):
    """All its containers count, as the scheduler and Kueue count them."""
    job = {"gpus_per_node": 0, "cpus_per_node": 4, "memory_per_node": "8Gi", **own}
    run = make_resolved(cluster=cluster(), **job)
    found = pod_requests(run.run.job, run.sizing.worker)
    assert (float(found["cpu"]), float(found["memory"]) / 2**30) == asked


STORAGE = {
    "without scratch": ({}, "10Gi", "10Gi for logs, /tmp and the image's writable layer"),
    "scratch": ({"scratch": "300Gi"}, "310Gi", "310Gi = scratch of 300Gi + 10Gi for logs, /tmp and the image's layer"),
    "its size in a map": ({"scratch": {"size": "300Gi"}}, "310Gi", "310Gi = scratch of 300Gi"),
    "NVMe by a volume": (
        {"scratch": {"size": "3Ti", "medium": "nvme"}},
        "10Gi",
        "10Gi for logs and /tmp; scratch is a volume of storage 'local'",
    ),
    "NVMe under the kubelet": ({"pool": "cpu", "scratch": {"size": "3Ti", "medium": "nvme"}}, "3082Gi", "3082Gi = "),
}


@pytest.mark.parametrize(("job", "expected", "origin"), STORAGE.values(), ids=STORAGE)
def test_local_disk(job, expected, origin):
    """A pod asks for its scratch and a little for logs, whatever share of a node it has."""
    gpu = {"shape": GPU_NODE, "nodes": 4, "localDisks": {"size": "27Ti", "storage": "local"}}
    cpu = {"shape": CPU_NODE, "nodes": 4, "localDisks": {"size": "5Ti"}}
    storage = make_sizing(cluster=make_cluster(pools={"gpu": gpu, "cpu": cpu}), **job).worker.storage
    assert storage.value == expected
    assert storage.origin.startswith(origin)


def test_a_role_that_does_not_train_has_no_scratch():
    """Nothing is mounted there, so nothing is asked for."""
    sizing = make_sizing(kind="MPIJob", launcher="mpirun", cluster=cluster(), scratch="300Gi")
    assert {role.name: role.storage.value for role in sizing.roles} == {"worker": "310Gi", "launcher": "10Gi"}


DEVICES = {
    "whole GPUs": ({"gpus_per_node": 4}, {"nvidia.com/gpu": 4}),
    "a slice": ({"gpus_per_node": None, "gpu": {"profile": "1g.10gb"}}, {"nvidia.com/mig-1g.10gb": 1}),
    "a shared GPU": ({"gpus_per_node": None, "gpu": {"shared": True}}, {"nvidia.com/gpu.shared": 1}),
    "none": ({"gpus_per_node": 0}, {}),
}


@pytest.mark.parametrize(("job", "expected"), DEVICES.values(), ids=DEVICES)
def test_gpus_are_extended_resources(job, expected):
    """GPUs and parts of them are requested by the names that the device plugin advertises."""
    worker = make_sizing(cluster=cluster(), nodes=1, **job).worker
    assert {name: count.value for name, count in worker.devices.items()} == expected


def test_a_slice_of_a_gpu_has_its_share_of_the_node():
    """`3g.40gb` is three sevenths of a GPU, which is an eighth of the node."""
    worker = make_sizing(cluster=cluster(), nodes=1, gpus_per_node=None, gpu={"profile": "3g.40gb"}).worker
    assert worker.cpus.value == 3
    assert worker.cpus.origin == "3 = floor(58 for pods × 3/7 GPU as 3g.40gb)"


def test_rdma_gives_a_whole_node_one_nic_of_every_rail():
    """Networks and virtual functions are as many as rails, in the same order, and NCCL may not fall back to TCP."""
    worker = make_sizing(cluster=cluster(fabric=ROCE), fabric="rdma").worker
    assert worker.fabric.annotations == {NETWORKS: "rail-0,rail-1,rail-2,rail-3"}
    functions = [name for name in worker.devices if "rail" in name]
    assert functions == [f"openshift.io/rail_{rail}" for rail in range(4)]
    assert worker.requests()["openshift.io/rail_3"] == "1"
    assert worker.env["NCCL_NET"].value == "IB"
    assert "NCCL_IB_HCA" not in worker.env


RAILS = {
    "half a node has half the rails": ({"gpus_per_node": 4}, ROCE, ("rail-0", "rail-1")),
    "over TCP there are none": ({"fabric": "tcp"}, ROCE, ()),
    "a device that is shared needs no network": ({}, {**ROCE, "type": "infiniband", "attach": "rdma-shared"}, ()),
    "a pool off the fabric has none": ({}, {**ROCE, "pools": ["cpu"]}, ()),
}


@pytest.mark.parametrize(("job", "fabric", "expected"), RAILS.values(), ids=RAILS)
def test_networks(job, fabric, expected):
    """A pod gets the rails that its share of the node's GPUs stands for, where its pool is on the fabric."""
    worker = make_sizing(cluster=cluster(fabric=fabric), **{"fabric": "rdma", **job}).worker
    assert worker.fabric.annotations.get(NETWORKS, "") == ",".join(expected)


def test_shared_nics_are_named_to_nccl():
    """Where pods see all NICs of the node, NCCL is told the training ones, and no other name that begins so."""
    fabric, operators = {**ROCE, "attach": "macvlan"}, {"network-operator": {"version": "26.4.1"}}
    worker = make_sizing(cluster=cluster(fabric=fabric, operators=operators), fabric="rdma").worker
    assert worker.env["NCCL_IB_HCA"].value == "=mlx5_0,mlx5_1,mlx5_2,mlx5_3"
    assert worker.devices["rdma/rail_0"].value == 1


PREFIXES = {
    "the SR-IOV operator's own": ("sriov", {"sriov-network-operator": {"version": "1.6.0"}}, "openshift.io"),
    "a value of it": (
        "sriov",
        {"sriov-network-operator": {"version": "1.6.0", "values": {"operator": {"resourcePrefix": "corp.example"}}}},
        "corp.example",
    ),
    "the network operator's": ("hostdev", {"network-operator": {"version": "26.4.1"}}, "nvidia.com"),
    "the shared device plugin's": ("macvlan", {"network-operator": {"version": "26.4.1"}}, "rdma"),
}


@pytest.mark.parametrize(("attach", "operators", "expected"), PREFIXES.values(), ids=PREFIXES)
def test_prefix_of_virtual_functions(attach, operators, expected):
    """Virtual functions are requested under the prefix that their operator advertises them with."""
    found = cluster(fabric={**ROCE, "attach": attach}, operators=operators)
    assert resource_prefix(found) == expected


INTERFACES = {
    "one pod needs none": ({"nodes": 1}, None, None),
    "the cluster network": ({}, "eth0", "=eth0"),
    "no NCCL without GPUs": ({"pool": "cpu", "gpus_per_node": 0}, "eth0", None),
}


@pytest.mark.parametrize(("job", "gloo", "nccl"), INTERFACES.values(), ids=INTERFACES)
def test_interfaces_are_named(job, gloo, nccl):
    """Process groups start up over the cluster network, by its interface's exact name."""
    env = make_sizing(cluster=cluster(), **job).worker.env
    values = [env[name].value if name in env else None for name in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")]
    assert values == [gloo, nccl]


FAST = {"provisioner": "csi.example.com", "access": "ReadWriteMany", "throughput": "10Gi"}
SAVED = {"volume": "checkpoints", "size": "100Gi"}
GRACE = {
    "nothing to save": ({}, {}, 30, "default: no checkpoint to save"),
    "a share of the throughput": (
        {"checkpoint": SAVED},
        {"storage": {"shared": FAST}},
        110,
        "110 = 30 for a step + 2 × 100Gi / (10Gi/s × 2/8 nodes)",
    ),
    "throughput unknown": (
        {"checkpoint": {**SAVED, "size": "1Gi"}},
        {},
        112,
        "112 = 30 for a step + 2 × 1Gi / (100Mi/s, assumed, × 2/8 nodes), rounded up",
    ),
    "as the job says": ({"checkpoint": SAVED, "grace_seconds": 77}, {}, 77, "graceSeconds of the job"),
}


@pytest.mark.parametrize(("job", "changes", "expected", "why"), GRACE.values(), ids=GRACE)
def test_termination_grace_covers_a_checkpoint(job, changes, expected, why):
    """A run gets the time of a step and twice that of a save, at its share of the storage's throughput."""
    grace = make_sizing(cluster=cluster(**changes), **job).grace
    assert (grace.value, grace.origin) == (expected, why)


def test_grace_ends_with_a_spot_node():
    """On spot nodes a longer grace is never given."""
    pools = {"gpu": {"shape": GPU_NODE, "nodes": 4, "spot": True}}
    aws, google = ({"shape": name} for name in ("aws-p5-48xlarge", "gke-a2-highgpu-8g"))
    for given, notice in (({}, 30), ({"noticeSeconds": 120}, 120), (aws, 120), (google, 15)):
        cluster = make_cluster(pools={"gpu": {**pools["gpu"], **given}})
        grace = make_sizing(cluster=cluster, checkpoint={**SAVED, "size": "10Gi"}, spot=True).grace
        assert grace.value == notice
        assert grace.origin == f"{notice}: notice of nodes in pool 'gpu', shorter than the 440 needed"
    assert make_sizing(cluster=make_cluster(pools=pools), spot=True).grace.value == 30
    assert make_sizing(cluster=cluster, spot=True).grace.value == 15


RESTARTS: dict[str, tuple[dict[str, Any], dict[str, Any], int, str]] = {
    "as the job says": ({"restarts": 0}, {}, 0, "restarts of the job"),
    "a small job for a day loses nothing": (
        {"max_hours": 24},
        {},
        3,
        "3 = 3 + round(2 × 0.0087 expected node losses): 2 × 0.13 per month for 24 hours",
    ),
    "a month, where nobody says how long": (
        {"nodes": 4},
        {},
        4,
        "4 = 3 + round(2 × 0.52 expected node losses): 4 × 0.13 per month for 720 hours without maxHours",
    ),
    "a large one for long": (
        {"nodes": 128, "max_hours": 1440},
        {},
        70,
        "70 = 3 + round(2 × 33 expected node losses): 128 × 0.13 per month for 1440 hours",
    ),
    "nodes that are often drained": (
        {"nodes": 4, "max_hours": 720},
        {"lossesPerMonth": 1},
        11,
        "11 = 3 + round(2 × 4 expected node losses): 4 × 1 per month for 720 hours",
    ),
    "nodes that are never lost": (
        {"max_hours": 720},
        {"lossesPerMonth": 0},
        3,
        "3 = 3 + round(2 × 0 expected node losses): 2 × 0 per month for 720 hours",
    ),
    "spot nodes": (
        {"spot": True, "max_hours": 240},
        {"spot": True},
        7,
        "7 = 3 + round(2 × 2 expected node losses): 2 × 3 per month for 240 hours",
    ),
    "more than would ever help": (
        {"nodes": 1000, "max_hours": 100_000},
        {},
        1000,
        "1000 = min(1000, 3 + round(2 × 1.8e+04 expected node losses)): 1000 × 0.13 per month for 100000 hours",
    ),
}


@pytest.mark.parametrize(("job", "pool", "expected", "why"), RESTARTS.values(), ids=RESTARTS)
def test_a_gang_may_start_again_more_often_than_it_loses_nodes(job, pool, expected, why):
    """Its budget follows from nodes and hours, unless the job has a number of its own."""
    cluster = make_cluster(pools={"gpu": {"shape": GPU_NODE, "nodes": 4, **pool}})
    found = make_sizing(cluster=cluster, **job).restarts
    assert (found.value, found.origin) == (expected, why)


def test_pods_of_every_role_count():
    """A gang starts again whichever of its nodes is lost, each at its pool's own rate."""
    pools = {"gpu": {"shape": GPU_NODE, "nodes": 4}, "cpu": {"shape": "cpu-64", "nodes": 4, "lossesPerMonth": 1}}
    job = {"launcher": "tensorflow", "roles": {"ps": {"nodes": 2, "cpusPerNode": 4, "pool": "cpu"}}}
    found = make_sizing(cluster=make_cluster(pools=pools), max_hours=720, **job).restarts
    assert (
        found.origin
        == "8 = 3 + round(2 × 2.4 expected node losses): 2 × 0.13 + 2 × 1 + 1 × 0.13 per month for 720 hours"
    )


CLOSENESS = {
    "near together where there are racks": ({}, ("preferred", "example.com/rack")),
    "a single pod is near itself": ({"nodes": 1}, None),
    "a pod that starts it talks little": ({"nodes": 1, "launcher": "mpirun", "kind": "MPIJob"}, None),
    "a chief hands out the work": (
        {"nodes": 1, "launcher": "tensorflow", "roles": {"ps": {"pool": "cpu", "cpusPerNode": 2}}},
        ("preferred", "example.com/rack"),
    ),
    "as the job says": ({"topology": {"required": "rack"}}, ("required", "example.com/rack")),
    "down to one host": (
        {"topology": {"required": "hostname"}, "gpus_per_node": 4},
        ("required", "kubernetes.io/hostname"),
    ),
}


@pytest.mark.parametrize(("job", "expected"), CLOSENESS.values(), ids=CLOSENESS)
def test_closeness(job, expected):
    """Pods are placed near together where the cluster has levels: as the job says, or else as well as it goes."""
    found = make_sizing(cluster=cluster(), **job).topology
    assert (found and (found.value.mode, found.value.label)) == expected


def test_a_flat_cluster_has_no_closeness():
    """Without levels of its own a cluster's flavors have no topology, and asking for one would never be admitted."""
    assert make_sizing(cluster=cluster(topology=None)).topology is None


def test_roles_have_sizes_of_their_own():
    """A role without GPUs may stand on another pool, and its pods get that node's share."""
    sizing = make_sizing(cluster=cluster(), roles={"ps": {"nodes": 2, "pool": "cpu", "cpusPerNode": 4}})
    assert [(role.name, role.pool, role.nodes.value) for role in sizing.roles] == [
        ("worker", "gpu", 2),
        ("ps", "cpu", 2),
    ]
    assert sizing.role("ps").cpus.origin == "roles.ps.cpusPerNode of the job"
    assert sizing.pods == 4


def test_deadline_is_in_seconds():
    """MaxHours may be a fraction."""
    deadline = make_sizing(cluster=cluster(), max_hours=1.5).deadline
    assert deadline is not None
    assert deadline.value == 5400


def test_every_value_says_from_what_it_follows():
    """Explain has a sentence for each value, named by the role."""
    facts = dict(make_sizing(cluster=cluster(fabric=ROCE), fabric="rdma", max_hours=1, checkpoint=SAVED).facts())
    assert all(sized.origin for sized in facts.values())
    assert {"worker.cpus", "worker.openshift.io/rail_0", "worker.NCCL_NET", "deadline_seconds", "topology"} <= set(
        facts
    )


RESERVED = {
    "the first cores of every socket, with their threads": (None, {0, 16, 32, 48}),
    "as the pool says": ("0-1,32-33", {0, 1, 32, 33}),
}


@pytest.mark.parametrize(("stated", "expected"), RESERVED.values(), ids=RESERVED)
def test_reserved_cpus(stated, expected):
    """What the system keeps are whole cores, spread over the sockets unless the pool names them."""
    pool = cluster(kubelet={**PINNED, **({"reservedSystemCPUs": stated} if stated else {})}).pools["gpu"]
    assert reserved_cpus(pool) == frozenset(expected)
    assert kubelet_allocatable(pool)["cpu"] == 60


def test_cpu_lists():
    """CPU lists are read as Linux writes them."""
    assert cpu_set("0-2,8") == frozenset({0, 1, 2, 8})


def test_what_is_no_quantity_is_left_for_the_verdict():
    """A container's mistake takes nothing from the others, and stays to be named."""
    given = {"name": "a", "resources": {"limits": {"cpu": "many", "memory": True}}}
    assert make_sizing(cluster=cluster(), containers=[given]).worker.cpus.value == 58
    assert resources(given) == {"cpu": "many", "memory": True}


def test_workers_that_say_their_cpus_keep_their_share_of_the_disk():
    """The launcher's role has a share by its CPUs too, and shares by CPUs never meet."""
    job = {"launcher": "tensorflow", "pool": "cpu", "gpus_per_node": 0, "cpus_per_node": 4}
    alone = make_sizing(cluster=cluster(), **job)
    beside = make_sizing(cluster=cluster(), **job, roles={"ps": {"cpusPerNode": 4}, "chief": {"cpusPerNode": 4}})
    assert beside.worker.storage == alone.worker.storage


SLACK = {
    "none": ({}, {}, 208, "1934Gi"),
    "CPUs of each node": ({"cpus": 8}, {}, 200, "1934Gi"),
    "CPUs and memory, in shares": ({"cpus": 8, "memory": "64Gi"}, {"gpus_per_node": 1}, 25, "233Gi"),
    "what a job says itself": ({"cpus": 8}, {"cpus_per_node": 208}, 208, "1934Gi"),
    "more than there is": ({"cpus": 500}, {}, 1, "1934Gi"),
}


@pytest.mark.parametrize(("slack", "job", "cpus", "memory"), SLACK.values(), ids=SLACK)
def test_derived_sizes_leave_the_slack_of_a_node(slack, job, cpus, memory):
    """What a pool keeps for pods without GPUs is left by the shares of pods with GPUs."""
    pools = {**CLUSTER["pools"], "gpu": {**CLUSTER["pools"]["gpu"], **({"slack": slack} if slack else {})}}
    worker = make_sizing(cluster=make_cluster(pools=pools), **job).worker
    assert (worker.cpus.value, worker.memory.value) == (cpus, memory)
    assert ("of slack" in worker.cpus.origin) == (bool(slack) and "cpus_per_node" not in job)
