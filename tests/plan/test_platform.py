"""Changes of specs in their own words, and what all runs ask of queues."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from make import CLUSTER, TEAM, make_cluster
from trainyard.base.documents import dump
from trainyard.change.plan.decide.decisions import Decisions
from trainyard.change.plan.decide.queues import rows, verdict
from trainyard.change.plan.decide.rebuild import Asked
from trainyard.change.plan.effects import QueueRow
from trainyard.change.plan.words.clusters import Site
from trainyard.change.plan.words.platform import spec_changes
from trainyard.render.tree.snapshot import Snapshot

FILE = "platform/clusters/test.yaml"
RDMA = Asked(16, "research", {"gpu": {"nvidia.com/gpu": 16.0, "openshift.io/rail_0": 16.0}})
CORES = Asked(0, "research", {"cpu": {"cpu": 8.0}})
RUNS = {("test", "nlp", "a"): RDMA, ("test", "nlp", "b"): CORES, ("other", "nlp", "c"): RDMA}


def changed(*path: str, to: Any) -> dict[str, Any]:
    """Return the cluster with another value at a path; None takes it away."""
    return put(CLUSTER, path, to)


def put(value: Any, path: tuple[str, ...], to: Any) -> Any:
    """Return a value with another at a path."""
    if not path:
        return to
    found = {**(value or {}), path[0]: put((value or {}).get(path[0]), path[1:], to)}
    return {key: item for key, item in found.items() if item is not None}


QUEUE = ("queues", "research")
STAYS = "applies to jobs that are admitted from now on; running jobs continue"
CASES: dict[str, tuple[dict[str, Any], str, str, bool]] = {
    "a quota": (
        changed(*QUEUE, "nominalQuota", "gpu", "gpus", to=24),
        "quota of queue research in pool gpu: 32 → 24 GPUs; all queues together 24 of 32 GPUs",
        STAYS,
        False,
    ),
    "a quota in nodes": (
        changed(*QUEUE, "nominalQuota", "cpu", "nodes", to=3),
        "quota of queue research in pool cpu: 4 → 3 nodes; all queues together 3 of 4 nodes",
        STAYS,
        False,
    ),
    "a quota in another unit": (
        changed(*QUEUE, "nominalQuota", "gpu", to={"nodes": 3}),
        "quota of queue research in pool gpu: 32 GPUs → 3 nodes; all queues together 24 of 32 GPUs",
        STAYS,
        False,
    ),
    "a limit": (
        changed(*QUEUE, "borrowingLimit", "gpu", to={"gpus": 8}),
        "borrowing limit of queue research in pool gpu: nothing → 8 GPUs; all queues together 32 of 32 GPUs",
        STAYS,
        False,
    ),
    "a team more": (changed(*QUEUE, "teams", to=["nlp", "rl"]), "queue research now admits team rl", STAYS, False),
    "a new queue": (changed("queues", "batch", to=CLUSTER["queues"]["research"]), "queue batch is new", STAYS, False),
    "a drained queue": (
        changed(*QUEUE, "stopPolicy", to="HoldAndDrain"),
        "queue research: stopPolicy: HoldAndDrain added",
        "",
        True,
    ),
    "a newer operator": (
        changed("operators", "kueue", "version", to="0.19.3"),
        "operator kueue: 0.19.2 → 0.19.3",
        "the operator's own pods are replaced; training pods continue",
        False,
    ),
    "an older operator": (
        changed("operators", "kueue", "version", to="0.9.0"),
        "operator kueue: 0.19.2 → 0.9.0",
        "the operator's own pods are replaced; training pods continue",
        True,
    ),
    "an older Kubernetes": (
        changed("kubernetes", to="1.34"),
        "Kubernetes: 1.35 → 1.34",
        "manifests are now checked against this release; Trainyard does not upgrade the cluster",
        True,
    ),
    "nodes": (
        changed("pools", "gpu", "nodes", to=8),
        "pool gpu: 4 → 8 nodes",
        "quota does not change with it",
        False,
    ),
    "a pool's field": (
        changed("pools", "gpu", "spot", to=True),
        "pool gpu: spot: true added",
        "1 job of pool gpu: its current run stays as it is; the change applies to its next run",
        False,
    ),
    "a taint that running pods do not tolerate": (
        changed("pools", "gpu", "taints", to=[{"key": "a.b/c", "effect": "NoExecute"}]),
        "pool gpu: taints[0]: {key: a.b/c, …} added",
        "1 job of pool gpu: its current run stays as it is; the change applies to its next run",
        True,
    ),
    "a taint that keeps nothing away": (
        changed("pools", "gpu", "taints", to=[{"key": "a.b/c", "effect": "PreferNoSchedule"}]),
        "pool gpu: taints[0]: {key: a.b/c, …} added",
        "1 job of pool gpu: its current run stays as it is; the change applies to its next run",
        False,
    ),
    "a price": (
        changed("pools", "gpu", "pricePerGpuHour", to=2),
        "price of a GPU hour in pool gpu: 2 added",
        "",
        False,
    ),
    "a fabric": (
        changed("fabric", "mtu", to=1500),
        "fabric.mtu: 1500 added",
        "1 job on its training network: its current run stays as it is; the change applies to its next run",
        True,
    ),
    "a waiver": (changed("waive", to={"kq-overcommit": "we know"}), "test waives kq-overcommit: we know", "", True),
}


@pytest.mark.parametrize(("after", "what", "reach", "danger"), CASES.values(), ids=CASES)
def test_a_cluster_changes_in_the_words_of_its_file(after: Any, what: str, reach: str, danger: bool) -> None:
    """What changes, what that does to runs, and whether a reviewer should stop."""
    known = {name: value for name, value in after.items() if name not in {"fabric", "kubernetes"}}
    models = (
        {"test": make_cluster(**{**known, "kubernetes": "1.35"})} if what.startswith(("quota", "borrowing")) else {}
    )
    (found,) = spec_changes({FILE: (CLUSTER, after)}, Site(True, models, RUNS))
    assert (found.what, found.reach, bool(found.danger)) == (what, reach, danger)


TEAMS: dict[str, tuple[dict[str, Any], str]] = {
    "a level": ({**TEAM, "podSecurity": "baseline"}, "pod security of team nlp: restricted → baseline"),
    "a level on one cluster": (
        {**TEAM, "podSecurity": {"default": "restricted", "test": "privileged"}},
        "pod security of team nlp on test: restricted → privileged",
    ),
    "a volume": (put(TEAM, ("volumes", "checkpoints", "size"), "2Ti"), "volume checkpoints of team nlp: 1Ti → 2Ti"),
    "a new volume": (
        put(TEAM, ("volumes", "data"), {"storage": "shared", "size": "3Ti"}),
        "volume data of team nlp is new: 3Ti of storage shared",
    ),
    "egress": (
        {**TEAM, "egress": [{"namespace": "db", "ports": [5432]}]},
        "pods of team nlp may now reach namespace db, port 5432",
    ),
    "programs": ({**TEAM, "python": True}, "jobs of team nlp may be Python programs"),
    "other people": ({**TEAM, "group": "others"}, "group of team nlp: nlp-people → others"),
}


@pytest.mark.parametrize(("after", "what"), TEAMS.values(), ids=TEAMS)
def test_a_team_changes_in_the_words_of_its_file(after: Any, what: str) -> None:
    """Levels, volumes, what pods may reach, and who its people are."""
    (found,) = spec_changes({"platform/teams/nlp.yaml": (TEAM, after)}, Site(True))
    assert found.what == what


SETTINGS = "platform/repository.yaml"


def test_what_the_repository_lets_pass_is_marked() -> None:
    """A policy that is off, with its reason, and one more registry; one that is on again is none to stop at."""
    before = {"live": True, "policies": {"gpu-shm": "later"}}
    after = {"live": True, "policies": {"sec-digest": "not yet"}, "registries": ["ghcr.io"]}
    found = {
        spec_change.what: spec_change.danger for spec_change in spec_changes({SETTINGS: (before, after)}, Site(True))
    }
    assert found == {
        "policy gpu-shm is switched on again": "",
        "policy sec-digest is switched off: not yet": "policy sec-digest is switched off",
        "registries: ghcr.io added": "images may now also come from ghcr.io",
    }


@pytest.mark.parametrize("value", [None, 3, [], "x", {"queues": 3, "pools": [], "operators": {"kueue": None}}])
def test_specs_that_are_none_are_no_traceback(value: Any) -> None:
    """A plan of a damaged file is still a plan."""
    for file in (FILE, "platform/teams/nlp.yaml", SETTINGS):
        assert isinstance(list(spec_changes({file: (CLUSTER, value), f"{file}x": (value, CLUSTER)}, Site(True))), list)


def queue(name: str, gpus: int, **spec: Any) -> dict[str, Any]:
    """Return a ClusterQueue with GPUs of one pool in the cohort `all`."""
    flavors = [{"name": "gpu", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": str(gpus)}]}]
    spec = {"cohortName": "all", "resourceGroups": [{"flavors": flavors}], **spec}
    return {"kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}


def tree(*objects: dict[str, Any]) -> Snapshot:
    """Return a tree with some objects in the platform's folder of a cluster."""
    texts = {
        f"test/platform/{item['kind'].lower()}.{item['metadata']['name']}.yaml": dump(item).encode() for item in objects
    }
    return Snapshot({path: path for path in texts}, read=lambda oids: (texts[oid] for oid in oids))


def gpus(queue: str, count: int) -> Asked:
    """Return a run that asks a queue for GPUs."""
    return Asked(count, queue, {"gpu": {"nvidia.com/gpu": float(count), "cpu": 8.0}})


def test_what_all_runs_ask_is_summed_by_queue() -> None:
    """Before and after, against the quota, and by what becomes of each; what stays has no row."""
    base = tree(queue("research", 64), queue("batch", 8))
    now = tree(queue("research", 72), queue("batch", 8))
    before = {("test", "nlp", "a"): gpus("research", 64), ("other", "nlp", "z"): gpus("research", 64)}
    after = {**before, ("test", "nlp", "b"): gpus("research", 16)}
    words = {("test", "nlp", "a"): "fits by borrowing", ("test", "nlp", "b"): "waits for"}
    (row,) = rows(base, now, ["test"], (before, after), Decisions(words=words))
    assert row == QueueRow("test", "research", "gpu", "GPUs", 64, 72, 64, 80, fit=1, wait=1)


def test_volcanos_queues_have_quota_too() -> None:
    """They know no pools."""
    spec = {"capability": {"nvidia.com/gpu": "8"}}
    value = {"kind": "Queue", "metadata": {"name": "speech"}, "spec": spec}
    asked = {("test", "nlp", "a"): gpus("speech", 16)}
    (row,) = rows(tree(value), tree(value), ["test"], ({}, asked))
    assert (row.pool, row.quota_after, row.asked_after) == ("", 8, 16)


ROW = QueueRow("test", "q", "gpu", "GPUs", 64, 64, 0, 64)
VERDICTS = {
    "some of everything": (
        replace(ROW, fit=3, wait=1, never=2, unknown=1),
        "3 fit, 1 waits, 2 never fit, 1 not judged",
    ),
    "one": (replace(ROW, fit=1), "1 fits"),
    "runs of which nobody knows": (ROW, "not judged"),
    "nothing": (replace(ROW, asked_after=0), "no runs"),
    "a queue that goes": (replace(ROW, quota_after=None), "the queue is removed"),
    "a queue that holds": (replace(ROW, held=True), "the queue admits nothing"),
}


@pytest.mark.parametrize(("row", "expected"), VERDICTS.values(), ids=VERDICTS)
def test_what_a_row_comes_to(row: QueueRow, expected: str) -> None:
    """How many runs of it are admitted, wait and never fit."""
    assert verdict(row) == expected
