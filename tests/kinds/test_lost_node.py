"""What a lost node costs a run follows from its GPUs, its checkpoints, and the nodes that are kept free."""

from __future__ import annotations

import pytest

from make import CLUSTER, fields, make_cluster, make_run
from trainyard.render.kinds import lost_node, resolve

CHECKPOINT = {"volume": "checkpoints", "everyMinutes": 15, "size": "100Gi"}


def costs(cluster=None, kind="JobSet", forced=True, **changes):
    """Return value and origin by name."""
    run = make_run(kind=kind, cluster=make_cluster(**(cluster or {})), **changes)
    return {name: (sized.value, sized.origin) for name, sized in lost_node.facts(resolve(run), forced=forced)}


def test_work_since_the_last_checkpoint():
    """All GPUs repeat at most what they did between two checkpoints."""
    value, origin = costs(checkpoint=CHECKPOINT)["lost_node.work"]
    assert value == "at most 4 GPU-hours"
    assert origin.startswith("16 GPUs × 15 minutes of checkpoint.everyMinutes; expected lost nodes: 0.26 = 2 × 0.13")


def test_without_checkpoints_everything_is_lost():
    """A run that saves nothing starts over."""
    assert costs()["lost_node.work"][0] == "all work since the start"


def test_a_silent_node():
    """Its pods are deleted after Kubernetes' and Kueue's times and the grace period, or by a person."""
    value, origin = costs(graceSeconds=40)["lost_node.silent"]
    assert (value, "450 seconds = 350 of Kubernetes + 40 of grace + 60 of Kueue" in origin) == ("2 GPU-hours", True)
    assert costs(forced=False)["lost_node.silent"][0] == "until a person acts"


def test_spares():
    """A pool says how many nodes its quotas leave free."""
    assert costs()["lost_node.spares.gpu"][0] == "none"
    spare = {"pools": fields(CLUSTER["pools"], {"gpu": {"shape": "dgx-h100", "nodes": 5, "racks": 1, "spares": 1}})}
    assert costs(spare)["lost_node.spares.gpu"][0] == "1 node"


def test_runs_of_one_copy_or_without_gpus_say_nothing():
    """A lost node costs an array one copy, and CPUs are not counted."""
    assert costs(pool="cpu", gpusPerNode=0) == {}
    assert costs(launcher="python", kind="Job", nodes=1, array={"of": 4}) == {}


def test_flushed_checkpoints_count_when_they_are_stored():
    """Work until a checkpoint is on the volume is lost, too, as `checkpoint.lost_minutes` says."""
    disks = {"shape": "dgx-h100", "nodes": 4, "racks": 1, "localDisks": {"size": "2Ti"}}
    pools = {"pools": fields(CLUSTER["pools"], {"gpu": disks})}
    flushed = {**CHECKPOINT, "flush": {}}
    run = make_run(cluster=make_cluster(**pools), checkpoint=flushed)
    minutes = int(dict(resolve(run).facts())["checkpoint.lost_minutes"].value)
    assert minutes > 15
    assert costs(pools, checkpoint=flushed)["lost_node.work"][0] == f"at most {lost_node.hours(16 * minutes / 60)}"


@pytest.mark.parametrize(
    ("kind", "health", "value"),
    [
        ("JobSet", {}, "moves"),
        ("PyTorchJob", {}, "stays"),
        ("PyTorchJob", {"effect": "NoExecute"}, "moves"),
        ("PyTorchJob", None, None),
    ],
)
def test_a_faulty_node(kind, health, value):
    """A container that restarts in its pod keeps its node, which Kueue replaces only when the pods there have ended."""
    assert costs({"health": health}, kind=kind).get("lost_node.faulty", (None,))[0] == value
