"""Amounts of bytes have a unit, wherever a job, a team or a cluster writes them."""

from __future__ import annotations

import pytest

from make import CLUSTER, CPU_NODE, IMAGE, JOB, TEAM, fields, write_repository
from trainyard.judge.preflight import check_repository

CHECKPOINT = {"volume": "checkpoints", "size": "10Gi"}


def beside(resources):
    """Return fields of a job with another container."""
    limits = {"cpu": 1, "memory": "1Gi", **resources}
    return {"containers": [{"name": "a", "image": IMAGE, "resources": {"limits": limits, "requests": limits}}]}


def volume(limit):
    """Return fields of a job with a volume in memory."""
    return {"volumes": [{"name": "a", "emptyDir": {"medium": "Memory", "sizeLimit": limit}}]}


WRONG = {
    "a number": ({"memoryPerNode": 500}, "memoryPerNode is 500, but that is 500 bytes; write a unit such as 500Gi"),
    "the same as text": ({"memoryPerNode": "500"}, "write a unit such as 500Gi"),
    "thousandths": ({"memoryPerNode": "500m"}, "that is less than a byte; write a unit such as 500Mi"),
    "nearly nothing": ({"scratch": "1e-1000000000"}, "that is less than a byte; write a unit such as 16Gi"),
    "nearly nothing with a unit": (
        {"checkpoint": {**CHECKPOINT, "size": "0.0000000001Ki"}},
        "that is less than a byte; write a unit such as 16Gi",
    ),
    "a power that the server cuts": (
        {"memoryPerNode": "1e-9223372036854775807"},
        "must be an amount of bytes such as 16Gi",
    ),
    "a power that the server cuts to a large one": (
        {"sharedMemory": "1e-2147483649"},
        "must be an amount of bytes such as 16Gi",
    ),
    "a few thousands": ({"memoryPerNode": "64Ki"}, "that is 65536 bytes, too little for anything; write more"),
    "shared memory": ({"sharedMemory": 16}, "sharedMemory is 16, but that is 16 bytes"),
    "scratch": ({"scratch": "100"}, "scratch is '100', but that is 100 bytes"),
    "a checkpoint": ({"checkpoint": {**CHECKPOINT, "size": 105}}, "checkpoint.size is 105, but that is 105 bytes"),
    "no quantity": (
        {"memoryPerNode": "16GB"},
        "memoryPerNode is '16GB', but must be an amount of bytes such as 16Gi",
    ),
    "a container's memory": (beside({"memory": "500m"}), "containers[0].resources.limits.memory is '500m'"),
    "a container's disk": (
        beside({"ephemeral-storage": 10}),
        "containers[0].resources.limits.ephemeral-storage is '10'",
    ),
    "a volume": (volume("64"), "volumes[0].emptyDir.sizeLimit is '64', which means 64 bytes; add a unit"),
}

RIGHT = {
    "a unit": {"memoryPerNode": "500Gi"},
    "bytes in full": {"memoryPerNode": 2**34},
    "a decimal unit": {"memoryPerNode": "500G"},
    "a power": {"memoryPerNode": "5e11"},
    "a small checkpoint that says so": {"checkpoint": {**CHECKPOINT, "size": "64Ki"}},
    "thousandths of a CPU": {
        "containers": [
            {
                "name": "a",
                "image": IMAGE,
                "resources": {"limits": {"cpu": "500m", "memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "1Gi"}},
            }
        ]
    },
    "a volume": volume("64Mi"),
}


def of(**changes):
    """Return clusters with a change of the CPU pool."""
    return {"test": {**CLUSTER, "pools": {**CLUSTER["pools"], "cpu": {"shape": CPU_NODE, "nodes": 4, **changes}}}}


VOLUMES = {"checkpoints": {"storage": "shared", "size": 10}}
QUEUES = {"research": {"teams": ["nlp"], "nominalQuota": {"cpu": {"cpus": 4, "memory": 64}}}}

ELSEWHERE = {
    "a team's volume": ("teams", {"nlp": {**TEAM, "volumes": VOLUMES}}),
    "a quota": ("clusters", {"test": {**CLUSTER, "queues": QUEUES}}),
    "a shape": ("clusters", of(shape={**CPU_NODE, "memory": "64"})),
    "a disk": ("clusters", of(disk=200)),
}


def found(root, **files):
    """Return rule and message of every error."""
    write_repository(root, **files)
    return [(finding.rule, finding.message) for finding in check_repository(root).findings if finding.is_error]


@pytest.mark.parametrize(("job", "said"), WRONG.values(), ids=WRONG)
def test_an_amount_without_a_unit(job, said, tmp_path):
    """Five hundred bytes are never meant; the nearest amount that may be is named."""
    errors = found(tmp_path, jobs={"nlp/train": fields(JOB, job)})
    assert errors
    assert all(rule in {"spec/unit", "run/unit", "spec/quantity"} for rule, _ in errors)
    assert said in errors[0][1]


HUGE = {
    "a power of ten": "1e5000",
    "a power that takes all memory": "1e1000000000",
    "many digits": "9" * 5000,
    "one more than 64 bits hold": "9223372036854775808",
    "below zero": "-1e1000000000",
}


def patched(**requests):
    """Return fields of a job with a patch of what its pods request."""
    merge = {"spec": {"containers": [{"name": "trainer", "resources": {"requests": requests}}]}}
    return {"patches": [{"object": "Pod", "reason": "a test", "merge": merge}]}


@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE)
@pytest.mark.parametrize("resource", ["cpu", "memory", "ephemeral-storage", "example.com/x"])
def test_an_amount_that_nobody_can_count(text, resource, tmp_path):
    """An amount beyond 64 bits in a patch or a container is an error at its line, before anything is computed."""
    own = {"containers": [{"name": "a", "image": IMAGE, "resources": {"limits": {resource: text}}}]}
    jobs = {"nlp/patched": fields(JOB, patched(**{resource: text})), "nlp/own": fields(JOB, own)}
    errors = [message for rule, message in found(tmp_path, jobs=jobs) if rule == "run/amount"]
    assert len(errors) == 2
    assert all(f"is {text[:20]!r}, but Kubernetes counts to 8Ei at most" in error for error in errors)


def test_the_largest_amount_and_the_smallest_count(tmp_path):
    """What 64 bits hold is judged by what nodes have, and what is less than a billionth is a billionth."""
    jobs = {"nlp/large": fields(JOB, patched(memory=2**63 - 1)), "nlp/small": fields(JOB, patched(cpu="1e-1000000000"))}
    rules = {rule for rule, _ in found(tmp_path, jobs=jobs)}
    assert rules
    assert "run/amount" not in rules


@pytest.mark.parametrize("job", RIGHT.values(), ids=RIGHT)
def test_an_amount_with_one(job, tmp_path):
    """Every way of Kubernetes to write an amount is taken."""
    assert found(tmp_path, jobs={"nlp/train": fields(JOB, job)}) == []


@pytest.mark.parametrize(("kind", "value"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_teams_and_clusters_write_units_too(kind, value, tmp_path):
    """The rule is one, whoever writes."""
    assert "spec/unit" in [rule for rule, _ in found(tmp_path, **{kind: value})]
