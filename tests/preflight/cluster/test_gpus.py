"""Layouts that no GPU has, and jobs that ask for what their pool does not offer, are findings at their field."""

from __future__ import annotations

import pytest

from make import make_cluster, make_run, make_source
from trainyard.judge.preflight.cluster import gpus
from trainyard.judge.preflight.jobs import check_run

CUT = {"layout": {"3g.40gb": 1, "1g.10gb": 4}}


def pools(**others):
    """Return pools of H100, each with its own words."""
    return {name: {"shape": "dgx-h100", "nodes": 4, **other} for name, other in others.items()}


PROFILES = "1g.10gb, 1g.20gb, 2g.20gb, 3g.40gb, 4g.40gb, 7g.80gb, 1g.10gb+me"


def of(shape, layout):
    """Return one pool of a shape, whose GPUs are cut."""
    return {"a": {"shape": shape, "nodes": 2, "mig": {"layout": layout}}}


CLUSTERS = {
    "a good layout": (pools(a={"mig": CUT}), None),
    "cut and shared, in pools of their own": (
        pools(a={"mig": CUT}, b={"sharing": {"by": "mps", "replicas": 2}}),
        None,
    ),
    "a profile of another model": (
        pools(a={"mig": {"layout": {"1g.5gb": 7}}}),
        "GPU 'NVIDIA-H100-80GB-HBM3' has no MIG profile '1g.5gb'; did you mean '1g.10gb'?",
    ),
    "a number of slices that no profile has": (
        pools(a={"mig": {"layout": {"5g.60gb": 1}}}),
        f"GPU 'NVIDIA-H100-80GB-HBM3' has no MIG profile '5g.60gb'; it has: {PROFILES}",
    ),
    "B300 as NVIDIA cuts it": (of("dgx-b300", {"1g.34gb": 2, "2g.67gb": 1, "3g.135gb": 1}), None),
    "B300 as B200 is cut": (
        of("dgx-b300", {"1g.23gb": 7}),
        "GPU 'NVIDIA-B300-SXM6-AC' has no MIG profile '1g.23gb'; did you mean '1g.34gb'?",
    ),
    "GB300 as B300 is cut": (
        of("gb300-nvl72", {"7g.269gb": 1}),
        "GPU 'NVIDIA-GB300' has no MIG profile '7g.269gb'; did you mean '7g.278gb'?",
    ),
    "L40S": (of("l40s-8x", {"1g.10gb": 1}), "GPU 'NVIDIA-L40S' has no MIG; remove mig, or use sharing"),
    "L4": (of("l4-8x", {"1g.10gb": 1}), "GPU 'NVIDIA-L4' has no MIG; remove mig, or use sharing"),
    "T4": (of("t4-8x", {"1g.10gb": 1}), "GPU 'Tesla-T4' has no MIG; remove mig, or use sharing"),
    "V100": (of("hgx-v100", {"1g.10gb": 1}), "GPU 'Tesla-V100-SXM2-32GB' has no MIG; remove mig, or use sharing"),
    "A10G": (of("aws-g5-12xlarge", {"1g.6gb": 1}), "GPU 'NVIDIA-A10G' has no MIG; remove mig, or use sharing"),
    "L40S that several share": (
        {"a": {"shape": "l40s-8x", "nodes": 2, "sharing": {"by": "mps", "replicas": 2}}},
        None,
    ),
    "more than one GPU holds": (
        pools(a={"mig": {"layout": {"3g.40gb": 2, "1g.10gb": 1}}}),
        "layout is 2 × 3g.40gb, 1 × 1g.10gb, which does not fit one NVIDIA-H100-80GB-HBM3; remove some devices",
    ),
    "a GPU that is not there": (
        pools(a={"mig": {**CUT, "gpus": [3, 8]}}),
        "gpus lists 8, but GPUs of a node are 0 to 7; remove it",
    ),
    "two strategies": (
        pools(a={"mig": CUT}, b={"mig": {"strategy": "single", "layout": {"1g.10gb": 7}}}),
        "strategy is 'single', but pool 'a' uses 'mixed'; a cluster has one strategy, so use mixed",
    ),
    "two profiles under single": (
        pools(a={"mig": {"strategy": "single", **CUT}}),
        "strategy single allows one profile on all GPUs, but layout has 2 profiles; set strategy: mixed",
    ),
    "GPUs of another vendor": (
        {"a": {"shape": "mi300x", "nodes": 2, "mig": CUT}},
        "mig divides NVIDIA GPUs, but pool 'a' has GPUs of amd; remove it",
    ),
    "no GPUs": (
        {"a": {"shape": "cpu-64", "nodes": 2, "sharing": {"by": "mps", "replicas": 2}}},
        "sharing divides NVIDIA GPUs, but pool 'a' has no GPUs; remove it",
    ),
}


@pytest.mark.parametrize(("pools", "message"), CLUSTERS.values(), ids=CLUSTERS)
def test_gpus_are_parted_as_they_can_be(pools, message):
    """What a GPU cannot be cut into is said at the pool, and nothing of what it can."""
    cluster = make_cluster(pools=pools, queues={})
    found = list(gpus.check(cluster, make_source("platform/clusters/test.yaml", {"pools": pools})))
    assert [item.message for item in found if item.rule != "gpu-operator"] == ([message] if message else [])


def test_a_model_that_nobody_knows_is_a_warning():
    """Profiles of another model cannot be judged, which is said."""
    card = {"count": 4, "vendor": "nvidia", "product": "NVIDIA-X1", "memory": "80Gi"}
    shape = {
        "cpus": 32,
        "memory": "256Gi",
        "ephemeralStorage": "1Ti",
        "gpus": card,
        "reserved": {"cpus": 1, "memory": "1Gi"},
        "daemons": {"cpus": 1, "memory": "1Gi"},
    }
    cluster = make_cluster(pools={"a": {"shape": shape, "nodes": 1, "mig": CUT}}, queues={})
    (found,) = gpus.check(cluster, make_source("platform/clusters/test.yaml", {"pools": {"a": {"mig": CUT}}}))
    assert found.message == (
        "MIG profiles of GPU 'NVIDIA-X1' are unknown; compare the layout with 'nvidia-smi mig -lgip'"
    )
    assert not found.is_error


NVIDIA, AMD, CPUS = ({"shape": shape, "nodes": 1} for shape in ("dgx-h100", "mi300x", "cpu-64"))
BY_US = {"gpu-operator": {"version": "26.7.0"}}
DRA = {"dra-driver-nvidia-gpu": {"version": "0.4.0"}}

OFFERED_BY = {
    "nobody": ({"a": NVIDIA, "b": NVIDIA}, {}, ["pools.a"]),
    "our operator": ({"a": NVIDIA}, BY_US, []),
    "the provider": ({"a": NVIDIA}, {"gpu-operator": {"version": "26.7.0", "managed": False}}, []),
    "the provider's plugin, beside the driver of DRA": (
        {"a": NVIDIA},
        {"dra-driver-nvidia-gpu": {"version": "0.4.0"}},
        [],
    ),
    "another vendor's": ({"a": CPUS, "b": AMD}, BY_US, ["pools.b"]),
    "one of two vendors": ({"a": NVIDIA, "b": AMD}, BY_US, ["pools.b"]),
    "nobody, for no GPUs": ({"a": CPUS}, {}, []),
}


@pytest.mark.parametrize(("pools", "by", "expected"), OFFERED_BY.values(), ids=OFFERED_BY)
def test_somebody_offers_the_gpus(pools, by, expected):
    """A pool whose GPUs no operator of the cluster offers is told, the first of each vendor."""
    cluster = make_cluster(pools=pools, operators=by, queues={})
    found = gpus.check_operator(cluster, make_source("platform/clusters/test.yaml", {"pools": pools}))
    assert [item.path for item in found] == expected


def test_values_do_not_say_otherwise_than_pools():
    """A strategy in the operator's own values would win over the pools', so it is refused."""
    operators = {"gpu-operator": {"version": "26.7.0", "values": {"mig": {"strategy": "single"}}}}
    for cut, count in ((CUT, 1), (None, 0)):
        pool = {"shape": "dgx-h100", "nodes": 1, **({"mig": cut} if cut else {})}
        cluster = make_cluster(pools={"a": pool}, operators=operators, queues={})
        found = list(gpus.check(cluster, make_source("x.yaml", {"operators": operators})))
        assert [item.message for item in found] == ["mig.strategy follows from the pools; remove it here"] * count


OFFERED = "but nodes of pool 'gpu' offer 'nvidia.com/mig-3g.40gb', 'nvidia.com/mig-1g.10gb'"

JOBS = {
    "a profile that is there": ({"gpu": {"profile": "1g.10gb"}, "gpus_per_node": None}, None),
    "another profile": (
        {"gpu": {"profile": "2g.20gb"}, "gpus_per_node": None},
        f"gpu requests 'nvidia.com/mig-2g.20gb', {OFFERED}; use one of these",
    ),
    "a shared one": (
        {"gpu": {"shared": True}, "gpus_per_node": None},
        f"gpu requests 'nvidia.com/gpu.shared', {OFFERED}; use one of these",
    ),
    "a whole GPU": (
        {"gpus_per_node": 1},
        "gpusPerNode is 1, but pool 'gpu' offers parts of GPUs; use gpu: {profile: 3g.40gb}",
    ),
    "several pods": (
        {"gpu": {"profile": "1g.10gb"}, "gpus_per_node": None, "nodes": 2},
        "gpu requests part of a GPU, but nodes is 2; use whole GPUs, or set nodes: 1",
    ),
    "RDMA": (
        {"gpu": {"profile": "1g.10gb"}, "gpus_per_node": None, "fabric": "rdma"},
        "fabric is 'rdma', but a job on part of a GPU has one pod; remove fabric",
    ),
}


@pytest.mark.parametrize(("job", "message"), JOBS.values(), ids=JOBS)
def test_a_job_asks_for_what_nodes_offer(job, message):
    """On GPUs that are cut, a job names a profile of theirs and trains alone."""
    cluster = make_cluster(pools=pools(gpu={"mig": CUT}), queues={"research": QUEUE})
    found = check_run(make_run(cluster=cluster, **{"nodes": 1, **job}))[1]
    assert [item.message for item in found if item.layer in {"run", "spec"}][:1] == ([message] if message else [])


QUEUE = {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 32}}}
