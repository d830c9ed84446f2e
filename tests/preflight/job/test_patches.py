"""Patches may name what a run consists of, and what is inside its workload."""

from __future__ import annotations

from typing import Any

import pytest

from make import make_resolved
from trainyard.judge.preflight.job.patches import check, patchable

PATCHABLE: dict[str, tuple[str, dict[str, Any], set[str]]] = {
    "a Job of one pod": ("Job", {"nodes": 1}, {"Job", "Pod"}),
    "a Job of several pods": ("Job", {"nodes": 2}, {"Job", "Pod", "Service"}),
    "a JobSet with files": (
        "JobSet",
        {"files": [{"source": "a.yaml", "mountPath": "/etc/a"}], "contents": {"a.yaml": "1"}},
        {"JobSet", "Job", "Pod", "ConfigMap"},
    ),
    "an MPIJob, whose launcher has files": (
        "MPIJob",
        {"launcher": "mpirun"},
        {"MPIJob", "Pod", "ConfigMap"},
    ),
}


@pytest.mark.parametrize(("kind", "job", "expected"), PATCHABLE.values(), ids=PATCHABLE)
def test_what_patches_may_name(kind, job, expected):
    """What is not there cannot be patched, and what a patch would remove is there before."""
    assert patchable(make_resolved(kind=kind, **job)) == expected
    removed = [{"object": kind, "merge": {"spec": None}, "reason": "a test"}]
    assert patchable(make_resolved(kind=kind, patches=removed, **job)) == expected


def test_the_queue_of_volcano_is_no_patch():
    """A VolcanoJob names its queue in its spec, where other kinds have none."""
    patch = {"object": "Job", "merge": {"spec": {"queue": "other"}}, "reason": "a test"}
    found = {kind: check(make_resolved(kind=kind, patches=[patch])) for kind in ("VolcanoJob", "Job")}
    assert [item.path for item in found["VolcanoJob"]] == ["patches[0].merge.spec.queue"]
    assert list(found["Job"]) == []


METADATA: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "labels and annotations": ("JobSet", {"labels": {"a/b": "c"}, "annotations": {"a/b": "c"}}, []),
    "what our objects never carry": ("JobSet", {"finalizers": ["a/b"]}, ["patches[0].merge.metadata.finalizers"]),
    "a name, told once": ("JobSet", {"name": "other"}, ["patches[0].merge.metadata.name"]),
    "pods are written as they are patched": ("Pod", {"finalizers": ["a/b"]}, []),
}


@pytest.mark.parametrize(("target", "metadata", "paths"), METADATA.values(), ids=METADATA)
def test_no_patch_is_lost_without_a_word(target, metadata, paths):
    """What of an object's metadata would not come out is refused."""
    patch = {"object": target, "merge": {"metadata": metadata}, "reason": "a test"}
    found = check(make_resolved(kind="JobSet", patches=[patch]))
    assert [item.path for item in found] == paths
