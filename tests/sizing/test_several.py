"""What pods ask for that may run on any of several pools fits each of them."""

from __future__ import annotations

import pytest

from make import IMAGE, make_cluster, make_run
from trainyard.base.quantities import Quantity
from trainyard.render.kinds import build, resolve

PINNED = {"topologyManagerPolicy": "restricted", "cpuManagerPolicy": "static"}
POOLS = {
    "gpu": {"shape": "dgx-h100", "nodes": 4},
    "old": {"shape": "dgx-a100", "nodes": 4},
    "new": {"shape": "dgx-b200", "nodes": 4, "spot": True, "noticeSeconds": 20},
    "pinned": {"shape": "dgx-h100", "nodes": 4, "kubelet": PINNED},
    "partly": {"shape": "gke-a2-highgpu-8g", "nodes": 4},
}
CLUSTER = make_cluster(
    pools=POOLS, queues={"research": {"teams": ["nlp"], "nominalQuota": {name: {"nodes": 4} for name in POOLS}}}
)
AMOUNTS = ("cpus", "memory", "shared_memory", "storage")


def run(pool, **changes):
    """Return a run on these pools."""
    return make_run(cluster=CLUSTER, **{"pool": pool, "spot": True, **changes})


@pytest.mark.parametrize("gpus", [1, 2, 8])
@pytest.mark.parametrize("names", [["gpu", "old"], ["new", "pinned", "old"], ["partly", "gpu"], [*POOLS]], ids="+".join)
def test_no_pool_would_give_less(names, gpus):
    """Sizes are the least of those on each pool alone; a run gets the shortest grace, and the most restarts."""
    fit = resolve(run(names, gpus_per_node=gpus)).sizing
    alone = [resolve(run(name, gpus_per_node=gpus)).sizing for name in names]
    for amount in AMOUNTS:
        values = [Quantity.parse(str(getattr(sizing.worker, amount).value)).amount for sizing in alone]
        lost = min(values) - Quantity.parse(str(getattr(fit.worker, amount).value)).amount
        assert lost == 0 or (amount == "cpus" and lost == 1 and "pinned" in names), amount  # a thread, for whole cores
    assert fit.grace.value == min(sizing.grace.value for sizing in alone)
    assert fit.restarts.value == max(sizing.restarts.value for sizing in alone)


def test_the_same_pods_whichever_pool_they_are_looked_at_on():
    """A run on several pools has the same objects on each of them, and selects none of them alone."""
    runs = [resolve(each) for each in run(["new", "pinned", "old"]).on_each_pool()]
    assert [each.run.pool_name for each in runs] == ["old", "new", "pinned"]
    first, *others = ([resource.value() for resource in build(each)] for each in runs)
    assert others == [first, first]
    assert "'nodeSelector':" not in str(first)


def test_pools_stand_in_the_order_of_the_queue():
    """Kueue tries flavors in the order of the queue, whatever the job's."""
    assert run(["pinned", "gpu"]).pools == ("gpu", "pinned")
    assert run("pinned").pools == ("pinned",)
    assert "'nodeSelector':" in str([resource.value() for resource in build(resolve(run(["gpu"])))])


ALL = ("gpu", "old", "pinned")
MEMORY = {
    "all with as much": ({"gpu_memory": "80G"}, ("gpu", "old", "pinned")),
    "in Gi, of which an H100 has fewer": ({"gpu_memory": "80Gi"}, ("old",)),
    "spot nodes, where the job takes them": ({"gpu_memory": "100G", "spot": True}, ("new",)),
    "fewer nodes than asked for": ({"gpu_memory": "1G", "nodes": 5}, ()),
    "of an elastic job as many as it starts with": ({"gpu_memory": "80Gi", "nodes": 5, "min_nodes": 2}, ("old",)),
    "more GPUs than a node has": ({"gpu_memory": "1G", "gpus_per_node": 16}, ()),
    "those that the image is for": ({"gpu_memory": "80G", "image": {"name": IMAGE, "cuda": "12.8"}}, ALL),
    "none that the image is for": ({"gpu_memory": "80G", "image": {"name": IMAGE, "rocm": "7.0"}}, ()),
    "either, of an image for both": (
        {"gpu_memory": "80G", "image": {"name": IMAGE, "rocm": "7.0", "cuda": "12.8"}},
        ALL,
    ),
}


@pytest.mark.parametrize(("job", "expected"), MEMORY.values(), ids=MEMORY)
def test_pools_by_the_memory_of_their_gpus(job, expected):
    """`gpuMemory` chooses the pools of the queue that have it, and as many GPUs and nodes as the job asks for."""
    assert run(None, **{"spot": False, **job}).pools == expected


def test_pools_that_an_image_is_not_for_are_named():
    """`explain` says which pools `gpuMemory` leaves out, and why."""
    amd = {"shape": "mi300x", "nodes": 4, "deviceAccess": "open"}
    queues = {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"nodes": 4}, "amd": {"nodes": 4}}}}
    cluster = make_cluster(pools={"gpu": {"shape": "dgx-h100", "nodes": 4}, "amd": amd}, queues=queues)
    image = {"name": IMAGE, "cuda": "12.8"}
    facts = dict(resolve(make_run(cluster=cluster, pool=None, gpu_memory="80G", image=image)).facts())
    assert facts["pools"].value == "gpu"
    assert facts["pools"].origin == "gpuMemory of the job; not amd: the image is for GPUs of nvidia"
