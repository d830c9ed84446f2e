"""What nodes offer of GPUs that are cut or shared, and what a job that asks for a part gets."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from make import make_cluster, make_job, make_pool, make_run, make_sizing
from trainyard.base.quantities import Quantity
from trainyard.render.kinds import resolve
from trainyard.render.sizing import gpus
from trainyard.render.sizing.machines import machine
from trainyard.render.sizing.quota import amounts
from trainyard.render.sizing.starts import document
from trainyard.specs import Quota
from trainyard.specs.shapes import names, preset

CUT = {"layout": {"3g.40gb": 1, "1g.10gb": 4}}
POOLS = {
    "whole GPUs": ({}, {"nvidia.com/gpu": 8}),
    "all cut alike": ({"mig": {"layout": {"1g.10gb": 7}}}, {"nvidia.com/mig-1g.10gb": 56}),
    "all cut, in two sizes": ({"mig": CUT}, {"nvidia.com/mig-3g.40gb": 8, "nvidia.com/mig-1g.10gb": 32}),
    "two of eight cut": ({"mig": {**CUT, "gpus": [0, 7]}}, {"nvidia.com/gpu": 6, "nvidia.com/mig-3g.40gb": 2}),
    "one strategy": ({"mig": {"strategy": "single", "layout": {"2g.20gb": 3}}}, {"nvidia.com/gpu": 24}),
    "with media engines": ({"mig": {"layout": {"1g.10gb+me": 1}}}, {"nvidia.com/mig-1g.10gb.me": 8}),
    "shared": ({"sharing": {"by": "timeSlicing", "replicas": 4}}, {"nvidia.com/gpu.shared": 32}),
    "shared by MPS": ({"sharing": {"by": "mps", "replicas": 3}}, {"nvidia.com/gpu.shared": 24}),
}


@pytest.mark.parametrize(("pool", "offered"), POOLS.values(), ids=POOLS)
def test_nodes_offer_what_their_gpus_are_made_into(pool, offered):
    """Each sort of device has a resource of its own, as the device plugin names it, and queues count it."""
    found = gpus.per_node(make_pool(**pool))
    assert offered.items() <= found.items()
    cluster = make_cluster(pools={"gpu": {"shape": "dgx-h100", "nodes": 4, **pool}})
    counted = {
        name: int(amount) for name, amount in machine(cluster, "gpu").for_jobs.items() if name.startswith("nvidia")
    }
    assert counted == found
    half = amounts(cluster, "gpu", Quota(gpus=4))
    assert {name: int(half[name]) for name in found} == {name: count // 2 for name, count in found.items()}


JOBS = {
    "three sevenths": ({"mig": CUT}, {"profile": "3g.40gb"}, "nvidia.com/mig-3g.40gb", Fraction(3, 56)),
    "a seventh": ({"mig": CUT}, {"profile": "1g.10gb"}, "nvidia.com/mig-1g.10gb", Fraction(1, 56)),
    "a seventh under single": (
        {"mig": {"strategy": "single", "layout": {"1g.10gb": 7}}},
        {"profile": "1g.10gb"},
        "nvidia.com/gpu",
        Fraction(1, 56),
    ),
    "a place on a shared one": (
        {"sharing": {"by": "mps", "replicas": 4}},
        {"shared": True},
        "nvidia.com/gpu.shared",
        Fraction(1, 32),
    ),
}


@pytest.mark.parametrize(("pool", "gpu", "resource", "part"), JOBS.values(), ids=JOBS)
def test_a_job_gets_one_device_and_its_share_of_the_node(pool, gpu, resource, part):
    """A part of a GPU is one device, with as large a part of the node's CPUs."""
    cluster = make_cluster(pools={"gpu": {"shape": "dgx-h100", "nodes": 4, **pool}})
    worker = make_sizing(cluster=cluster, nodes=1, gpus_per_node=None, gpu=gpu).worker
    assert {name: sized.value for name, sized in worker.devices.items()} == {resource: 1}
    assert worker.cpus.value == int(208 * part)


def test_a_role_of_whole_gpus_beside_a_part_asks_for_whole_ones():
    """The job's `gpu` speaks of its workers alone."""
    pool = {"shape": "dgx-h100", "nodes": 4, "mig": {**CUT, "gpus": [0]}}
    run = make_run(
        cluster=make_cluster(pools={"gpu": pool}),
        launcher="tensorflow",
        nodes=1,
        gpus_per_node=None,
        gpu={"profile": "1g.10gb"},
        roles={"evaluator": {"gpusPerNode": 1}},
    )
    found = {role.name: next(iter(role.size.devices)) for role in resolve(run).roles}
    assert found == {"worker": "nvidia.com/mig-1g.10gb", "evaluator": "nvidia.com/gpu"}


def brute(layout, known):
    """Whether any choice of first slices keeps all devices apart: every combination is tried."""
    places = [known[profile] for profile, count in layout.items() for _ in range(count)]
    if sum(place.compute for place in places) > 7:
        return False
    for starts in product(*(place.starts for place in places)):
        taken = [
            slot for place, start in zip(places, starts, strict=True) for slot in range(start, start + place.memory)
        ]
        if len(taken) == len(set(taken)):
            return True
    return False


HELD = {
    "seven of the smallest": {"1g.10gb": 7},
    "four of double memory": {"1g.20gb": 4},
    "three of two slices, and one": {"2g.20gb": 3, "1g.10gb": 1},
    "a half and four": {"3g.40gb": 1, "1g.10gb": 4},
    "four and three": {"4g.40gb": 1, "3g.40gb": 1},
    "balanced": {"3g.40gb": 1, "2g.20gb": 1, "1g.10gb": 2},
    "all of it": {"7g.80gb": 1},
}
NOT_HELD = {
    "eight": {"1g.10gb": 8},
    "two of four": {"4g.40gb": 2},
    "two halves and one": {"3g.40gb": 2, "1g.10gb": 1},
    "four of two slices": {"2g.20gb": 4},
    "all of it and one": {"7g.80gb": 1, "1g.10gb": 1},
    "media engines twice": {"1g.10gb+me": 2},
}


def test_one_gpu_holds_what_finds_slices():
    """The known layouts of NVIDIA's guide fit, what overlaps does not, and a search of all places says the same."""
    h100 = "NVIDIA-H100-80GB-HBM3"
    known = gpus.profiles(h100)
    assert all(gpus.fits(layout, h100) for layout in HELD.values())
    assert not any(gpus.fits(layout, h100) for layout in NOT_HELD.values())
    names = ["1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb"]
    for counts in product(range(4), range(4), range(3), range(2)):
        layout = {name: count for name, count in zip(names, counts, strict=True) if count}
        assert not layout or gpus.fits(layout, h100) == brute(layout, known), layout


MOST = {
    "NVIDIA-A30": {"1g.6gb": 4, "2g.12gb": 2, "4g.24gb": 1, "1g.6gb+me": 1, "2g.12gb+me": 1},
    "NVIDIA-A100-SXM4-40GB": {"1g.5gb": 7, "1g.10gb": 4, "2g.10gb": 3, "3g.20gb": 2, "4g.20gb": 1, "7g.40gb": 1},
    "NVIDIA-A100-80GB-PCIe": {"1g.10gb": 7, "1g.20gb": 4, "2g.20gb": 3, "3g.40gb": 2, "4g.40gb": 1, "7g.80gb": 1},
    "NVIDIA-H100-PCIe": {"1g.10gb": 7, "1g.10gb+me": 1, "1g.20gb": 4, "2g.20gb": 3, "3g.40gb": 2, "7g.80gb": 1},
    "NVIDIA-H100-NVL": {"1g.12gb": 7, "1g.24gb": 4, "2g.24gb": 3, "3g.47gb": 2, "4g.47gb": 1, "7g.94gb": 1},
    "NVIDIA-GH200-480GB": {"1g.12gb": 7, "1g.24gb": 4, "2g.24gb": 3, "3g.48gb": 2, "4g.48gb": 1, "7g.96gb": 1},
    "NVIDIA-GH200-144G-HBM3e": {"1g.18gb": 7, "1g.36gb": 4, "2g.36gb": 3, "3g.72gb": 2, "4g.72gb": 1, "7g.144gb": 1},
    "NVIDIA-H200": {"1g.18gb": 7, "1g.35gb": 4, "2g.35gb": 3, "3g.71gb": 2, "4g.71gb": 1, "7g.141gb": 1},
    "NVIDIA-B200": {"1g.23gb": 7, "1g.45gb": 4, "2g.45gb": 3, "3g.90gb": 2, "4g.90gb": 1, "7g.180gb": 1},
    "NVIDIA-GB200": {"1g.23gb": 7, "1g.47gb": 4, "2g.47gb": 3, "3g.93gb": 2, "4g.93gb": 1, "7g.186gb": 1},
    "NVIDIA-B300-SXM6-AC": {"1g.34gb": 7, "1g.67gb": 4, "2g.67gb": 3, "3g.135gb": 2, "4g.135gb": 1, "7g.269gb": 1},
    "NVIDIA-GB300": {"1g.35gb": 7, "1g.70gb": 4, "2g.70gb": 3, "3g.139gb": 2, "4g.139gb": 1, "7g.278gb": 1},
    "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition": {
        "1g.24gb": 4,
        "2g.48gb": 2,
        "4g.96gb": 1,
        "1g.24gb+me": 1,
        "1g.24gb+gfx": 4,
        "1g.24gb+me.all": 1,
        "1g.24gb-me": 4,
        "2g.48gb+gfx": 2,
        "2g.48gb+me.all": 1,
        "2g.48gb-me": 2,
        "4g.96gb+gfx": 1,
    },
}
"""How many devices of a profile one GPU holds: NVIDIA/mig-parted v0.15.0 config-default.yaml and builder_test.go."""


@pytest.mark.parametrize(("gpu", "most"), MOST.items(), ids=MOST)
def test_one_gpu_holds_as_many_devices_as_nvidia_says(gpu, most):
    """What MIG manager's own configurations cut fits, and one device more does not."""
    assert set(most) <= set(gpus.profiles(gpu))
    for profile, count in most.items():
        assert gpus.fits({profile: count}, gpu), profile
        assert not gpus.fits({profile: count + 1}, gpu), profile


RTX = {
    "all engines in one device, none in the rest": ({"1g.24gb+me.all": 1, "1g.24gb-me": 3}, True),
    "all engines in one device, and some in another": ({"1g.24gb+me.all": 1, "1g.24gb": 1}, False),
    "the one set twice": ({"1g.24gb+me": 1, "2g.48gb+me.all": 1}, False),
    "graphics beside computing": ({"1g.24gb+gfx": 2, "2g.48gb": 1}, True),
}


@pytest.mark.parametrize(("layout", "held"), RTX.values(), ids=RTX)
def test_media_engines_are_there_once(layout, held):
    """A device with all engines leaves none to the others."""
    assert gpus.fits(layout, "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition") == held


def test_a_device_is_a_part_of_its_own_model():
    """A30 has four compute slices, the others seven; unknown models count as the others."""
    assert [gpus.slices(name) for name in ("NVIDIA-A30", "NVIDIA-H200", "NVIDIA-X1")] == [4, 7, 7]


@pytest.mark.parametrize(
    "shape", [name for name in names() if (node := preset(name).gpus) and gpus.profiles(node.product)]
)
def test_profiles_of_every_shape_are_known(shape):
    """A full device of each model has about as much memory as the GPU itself."""
    node = make_pool(shape=shape).node
    known = gpus.profiles(node.gpus.product)
    whole = max(known, key=lambda name: known[name].memory)
    gigabytes = int(whole.removesuffix("gb").partition(".")[2])
    assert abs(gigabytes - Quantity.parse(node.gpus.memory).value() / 2**30) < 12


def test_devices_hang_where_their_gpu_does():
    """The kubelet hears of devices of cut GPUs by the NUMA node of the GPU (k8s-device-plugin internal/rm)."""
    cluster = make_cluster(pools={"gpu": {"shape": "dgx-h100", "nodes": 4, "mig": {**CUT, "gpus": [0, 1, 7]}}})
    case = document(cluster, "gpu")["node"]
    assert case["devices"]["nvidia.com/mig-1g.10gb"] == [{"count": 8, "numa": 0}, {"count": 4, "numa": 1}]
    assert case["devices"]["nvidia.com/gpu"] == [{"count": 2, "numa": 0}, {"count": 3, "numa": 1}]
    assert case["labels"]["nvidia.com/mig.config"] == "gpu"


def test_single_strategy_changes_the_product_label():
    """GPU feature discovery adds the profile to the product where all devices of a node are alike."""
    pool = make_pool(mig={"strategy": "single", "layout": {"1g.10gb": 7}})
    assert gpus.labels("gpu", pool)["nvidia.com/gpu.product"] == "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"
    assert gpus.labels("gpu", make_pool(mig=CUT))["nvidia.com/gpu.product"] == "NVIDIA-H100-80GB-HBM3"


def test_what_nodes_do_not_offer_is_named_all_the_same():
    """A profile that no node has keeps its own resource, so that a message can name it."""
    job = make_job(nodes=1, gpus_per_node=None, gpu={"profile": "2g.20gb"})
    assert gpus.asked_offer(job, make_pool(mig=CUT)) is None
    assert gpus.gpu_resource(job, make_pool(mig=CUT)) == "nvidia.com/mig-2g.20gb"
