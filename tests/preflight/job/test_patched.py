"""Patches that make a run larger than its queue or its nodes can hold are named; what fits, however, is not."""

from __future__ import annotations

from typing import Any

import pytest

from clock import within
from make import make_run
from trainyard.judge.preflight.jobs import check_run
from two_sockets import cluster

SMALL = {"pool": "cpu", "gpus_per_node": 0, "nodes": 2, "cpus_per_node": 4, "memory_per_node": "8Gi"}
KINDS = {"Job": "trainer", "JobSet": "trainer", "TrainJob": "node", "PyTorchJob": "pytorch"}
OPERATORS = {
    "kueue": {"version": "0.19.2"},
    "jobset": {"version": "0.12.0"},
    "trainer": {"version": "2.3.0"},
    "training-operator": {"version": "1.9.4"},
}


def sized(container: str = "trainer", **amounts: str) -> dict[str, Any]:
    """Return a patch of what the training container asks for."""
    resources = {"requests": amounts, "limits": amounts}
    merge = {"spec": {"containers": [{"name": container, "resources": resources}]}}
    return {"object": "Pod", "merge": merge, "reason": "a test"}


def found(*patches: dict[str, Any], quota: dict[str, Any] | None = None, **job: Any) -> list[tuple[str, str, str]]:
    """Return rule, path and message of each finding on a job of a cluster with some quota."""
    queues = {"research": {"teams": ["nlp"], "nominalQuota": {"cpu": quota or {"cpus": 14, "memory": "64Gi"}}}}
    own = cluster(queues=queues, operators=OPERATORS)
    run = make_run(cluster=own, **{"kind": "Job", **SMALL, "patches": list(patches), **job})
    return [(item.rule, str(item.path), item.message) for item in check_run(run)[1]]


MERGE = "patches[0].merge.spec.containers[0].resources.limits"
MORE = "{} is 4, but the number of pods follows from nodes; set nodes, and remove it"

CASES: dict[str, tuple[list[dict[str, Any]], dict[str, Any], list[tuple[str, str, str]]]] = {
    "what still fits": ([sized(cpu="7", memory="8Gi")], {}, []),
    "more than the queue has": (
        [sized(cpu="8", memory="8Gi")],
        {},
        [
            (
                "kq-max-quota",
                f"{MERGE}.cpu",
                "patched pods need 16 cpu, but queue 'research' can have at most 14 of pool 'cpu'",
            )
        ],
    ),
    "of several patches the one that does it": (
        [sized(cpu="6", memory="8Gi"), sized(cpu="8", memory="8Gi")],
        {},
        [
            (
                "kq-max-quota",
                MERGE.replace("0", "1", 1) + ".cpu",
                "patched pods need 16 cpu, but queue 'research' can have at most 14 of pool 'cpu'",
            )
        ],
    ),
    "a patch that another takes back": ([sized(cpu="8", memory="8Gi"), sized(cpu="6", memory="8Gi")], {}, []),
    "more pods": (
        [{"object": "Job", "merge": {"spec": {"completions": 4, "parallelism": 4}}, "reason": "a test"}],
        {},
        [
            *(
                (
                    "run/patch-count",
                    f"patches[0].merge.spec.{field}",
                    MORE.format(field),
                )
                for field in ("completions", "parallelism")
            ),
            (
                "kq-max-quota",
                "patches[0].merge.spec",
                "patched pods need 16 cpu, but queue 'research' can have at most 14 of pool 'cpu'",
            ),
        ],
    ),
    "a container beside": (
        [
            {
                "object": "Pod",
                "merge": {
                    "spec": {
                        "containers": [
                            {"name": "b", "image": "example.com/b:1", "resources": {"limits": {"memory": "30Gi"}}}
                        ]
                    }
                },
                "reason": "a test",
            }
        ],
        {},
        [
            (
                "kq-max-quota",
                "patches[0].merge.spec.containers",
                "patched pods need 76Gi memory, but queue 'research' can have at most 64Gi of pool 'cpu'",
            )
        ],
    ),
    "too much without it": ([sized(cpu="6", memory="8Gi")], {"cpus_per_node": 8}, []),
}


@pytest.mark.parametrize(("patches", "job", "expected"), CASES.values(), ids=CASES)
def test_what_is_rendered_is_what_a_queue_holds(patches, job, expected):
    """Kueue counts pods as patches leave them: the patch that makes them too large is named, at its own place."""
    assert found(*patches, **job) == expected
    assert all(len(message.split()) <= 20 for _, _, message in expected)


@pytest.mark.parametrize(("kind", "container"), KINDS.items())
def test_every_kind_is_counted(kind, container):
    """Whatever carries the pods, a patch of them counts in the queue."""
    (finding,) = found(sized(container, cpu="8", memory="8Gi"), kind=kind)
    assert finding[0] == "kq-max-quota"
    assert finding[1].startswith("patches[0].merge.spec.containers[0].resources")
    assert not found(sized(container, cpu="7", memory="8Gi"), kind=kind)


def test_a_pod_that_no_node_has_room_for():
    """A patch beyond the node is named before the queue, once for each resource."""
    (first, second) = found(sized(cpu="900", memory="9000Gi"))
    assert [item[0] for item in (first, second)] == ["run/patch-size"] * 2
    assert first[1] == f"{MERGE}.cpu"
    assert first[2].startswith("a patched pod requests 900 cpu, but nodes of pool 'cpu' have ")
    assert second[1] == f"{MERGE}.memory"


def test_more_pods_than_nodes_have_room_for():
    """Pods of which each fits may be too many together, whatever the queue would lend."""
    (finding,) = found(sized(cpu="10", memory="8Gi"), quota={"cpus": 900, "memory": "900Gi"}, nodes=8)
    assert finding[0] == "run/patch-size"
    assert finding[1] == f"{MERGE}.cpu"
    assert finding[2] == "a node fits 1 of 8 patched pods, but pool 'cpu' has 4 nodes; lower cpu"


def test_one_of_many_patches_is_found_in_no_time() -> None:
    """The patch that asks for too much is found by halving, not by rendering the run once a patch."""
    patches = [sized(cpu="8" if number == 67 else "6", memory="8Gi") for number in range(68)]
    after = [
        {"object": "Pod", "merge": {"metadata": {"annotations": {f"a{n}": "b"}}}, "reason": "x"} for n in range(32)
    ]
    said = within(2, lambda: found(*patches, *after))
    assert [(rule, path) for rule, path, _ in said] == [("kq-max-quota", MERGE.replace("0", "67", 1) + ".cpu")]
