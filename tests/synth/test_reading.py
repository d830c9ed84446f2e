"""`check` and `synth` say the same of a repository, whatever synth remembers of the files that it does not open."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from make import CLUSTER, JOB, TEAM, fields, write_repository
from trainyard.base.documents import dump
from trainyard.base.memory import Memory, World
from trainyard.base.system.cache import Cache
from trainyard.base.system.repository import cluster_file
from trainyard.change.synth.facts import ClusterFact, Facts, load_facts
from trainyard.change.synth.reading import Reading, read
from trainyard.change.synth.start import Start, spec_ids, world_of
from trainyard.judge.preflight import check_repository
from trainyard.render.tree.disk import Disk

WARNED = fields(JOB, {"nodes": 1, "restarts": 1, "maxHours": 90_000})
"""A job without errors that gives up before its end."""

CHECKPOINT = {"volume": "checkpoints", "mountPath": "/c", "size": "1Gi", "everyMinutes": 30}
JOBS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"nodes": 5},
    {"nodes": 9_999_999},
    {"launcher": "torchrn"},
    {"queue": "batch"},
    {"cluster": "none"},
    {"priority": "urgent"},
    {"fabric": "rdma"},
    {"retired": True},
    {"gpusPerNode": 9, "queue": "batch"},
    {"nodes": "many", "queue": "batch"},
    {"args": ["--out=$(OUTDIR)"]},
    {"env": {"OMP_NUM_THREADS": "3"}},
    {"env": {"AWS": "AKIAIOSFODNN7EXAMPLE"}},
    {"waive": {"tor-expansion": "the program expands it"}},
    {"checkpoint": {**CHECKPOINT, "folder": "j0"}},
    {"checkpoint": CHECKPOINT},
    {"renamedFrom": "j1"},
    {"after": ["j2"]},
    {"patches": [{"object": "JobSet", "merge": {"spec": 5}, "reason": "a test"}]},
    {"patches": [{"object": "JobSet", "merge": {"spec": {"ttlSecondsAfterFinished": 60}}, "reason": "tidy"}]},
)
CLUSTERS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"fabric": {"type": "roce", "attach": "sriov", "rails": 8, "addresses": "10.0.0.0/8"}},
    {"operators": {**CLUSTER["operators"], "kueue": {"version": "0.15.4"}}},
    {"pools": {**CLUSTER["pools"], "odd": {"shape": "dgx-h10", "nodes": 3}}},
    {"cohorts": {"all": {"nominalQuota": {"gpus": {"gpus": 8}}}}},
)
ELSEWHERE = {"volumes": {"data": {"storage": "shared", "size": "1Ti", "clusters": ["nowhere"]}}}
TEAMS: tuple[dict[str, Any], ...] = ({}, {}, ELSEWHERE, {"runAsUser": 0})
FILES = 12
POOLS = {**CLUSTER["pools"], "gpu": {**CLUSTER["pools"]["gpu"], "noticeSeconds": 60}}
SITES = {
    name: fields(CLUSTER, {"pools": POOLS, "argocd": {**CLUSTER["argocd"], "destination": {"name": name}}})
    for name in ("test", "twin")
}
"""Clusters without errors, of which a field has no effect."""
STEPS = 3


def mixed(chance: random.Random, base: dict[str, Any], changes: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """Return a spec with up to two of these changes."""
    for change in chance.sample(changes, chance.choice([0, 1, 1, 2])):
        base = fields(base, change)
    return base


def fleet(root: Path, chance: random.Random) -> None:
    """Write a repository of two clusters and a few jobs of two teams, some of them wrong."""
    names = [f"{team}/j{index}" for team in ("nlp", "ads") for index in range(FILES // 2)]
    write_repository(
        root,
        jobs={name: mixed(chance, WARNED, JOBS) for name in names},
        clusters={**SITES, "test": mixed(chance, SITES["test"], CLUSTERS)},
        teams={"nlp": mixed(chance, TEAM, TEAMS)},
    )


def change_job(root: Path, chance: random.Random) -> None:
    """Write one job again, or take it away."""
    path = root / "jobs/nlp" / f"j{chance.randrange(FILES // 2)}.yaml"
    if chance.random() < 0.2:
        path.unlink(missing_ok=True)
    else:
        path.write_text(dump(mixed(chance, WARNED, JOBS)), encoding="utf-8")


def change_cluster(root: Path, chance: random.Random) -> None:
    """Write one cluster again."""
    name = chance.choice(list(SITES))
    text = dump(mixed(chance, SITES[name], CLUSTERS))
    (root / f"platform/clusters/{name}.yaml").write_text(text, encoding="utf-8")


def change_team(root: Path, chance: random.Random) -> None:
    """Write the team again, or give the other one its file."""
    text = dump(mixed(chance, TEAM, TEAMS))
    (root / "platform/teams" / chance.choice(["nlp.yaml", "ads.yaml"])).write_text(text, encoding="utf-8")


CHANGES = (change_job, change_cluster, change_team)


def synthesised(root: Path, store: Cache) -> Reading:
    """Read a repository as synth does, and keep what it found as if all clusters without errors had been rendered."""
    disk = Disk(root, None)
    memory = Memory(store, world_of(disk))
    facts = load_facts(memory, root, spec_ids(disk))
    reading = read(Start(None, disk, memory, memory.world or World(), spec_ids(disk), facts))
    clusters = {
        name: ClusterFact(reading.record.reads_of(cluster_file(name)), {}, tuple(found))
        for name, found in reading.checked.on_clusters.items()
        if name not in reading.clusters and not any(finding.is_error for finding in found)
    }
    facts.save(Facts(reading.facts(), clusters | dict(reading.clusters)))
    return reading


@pytest.mark.parametrize("seed", range(8))
def test_synth_and_check_find_the_same(tmp_path: Path, seed: int) -> None:
    """The same findings come out in the same order, from nothing and after each of some changes."""
    chance, root, store = random.Random(seed), tmp_path / "repository", Cache(tmp_path / "cache")
    root.mkdir()
    fleet(root, chance)
    reading = synthesised(root, store)
    counts = Counter[str]()
    for change in [None, change_job, *(chance.choice(CHANGES) for _ in range(STEPS))]:
        if change is not None:
            change(root, chance)
            reading = synthesised(root, store)
            counts["jobs"] += sum(len(fact.findings) for fact in reading.known.values())
            counts["clusters"] += sum(len(fact.findings) for fact in reading.clusters.values())
        assert reading.findings == check_repository(root).findings, change
    assert counts["jobs"]
    assert counts["clusters"]
