"""Queues of Volcano stand on pools of their own, and gangs are bound at once where Kueue finds them no nodes."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, fields, make_cluster, make_job_file, make_source, make_specs
from trainyard.judge.preflight import jobs
from trainyard.judge.preflight.cluster.schedulers import check

OPERATORS = {**CLUSTER["operators"], "volcano": {"version": "1.15.1"}}
RESEARCH = {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 32}}}
BATCH = {"teams": ["nlp"], "scheduler": "volcano", "nominalQuota": {"cpu": {"nodes": 4}}}
LWS = {**OPERATORS, "lws": {"version": "0.10.0"}}


def queues(**batch: Any) -> dict[str, Any]:
    """Return a queue of Kueue's on the GPUs, and one of Volcano's."""
    return {"research": RESEARCH, "batch": {**BATCH, **batch}}


GATES = ["GenericWorkload", "WorkloadWithJob"]

CASES: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "a pool for each": ({"queues": queues()}, []),
    "words of Kueue's": (
        {"queues": queues(cohort="all", fairWeight="2")},
        [
            ("vc-queue-fields", "queue 'batch' belongs to Volcano, but cohort is a field of Kueue; remove it"),
            ("vc-queue-fields", "queue 'batch' belongs to Volcano, but fairWeight is a field of Kueue; remove it"),
        ],
    ),
    "two pools in one queue": (
        {"queues": {"batch": {**BATCH, "nominalQuota": {"gpu": {"gpus": 8}, "cpu": {"nodes": 1}}}}},
        [
            (
                "vc-queue-pool",
                "queue 'batch' of Volcano has quota for gpu, cpu, which Volcano would add up; use one queue per pool",
            )
        ],
    ),
    "one pool for both": (
        {"queues": queues(nominalQuota={"gpu": {"gpus": 8}})},
        [
            (
                "vc-pool-shared",
                "pool 'gpu' has quota in Volcano's queue 'batch' and in Kueue's 'research'; use separate pools",
            )
        ],
    ),
    "a pool that a cohort has too": (
        {"queues": queues(), "cohorts": {"all": {"nominalQuota": {"cpu": {"nodes": 1}}}}},
        [
            (
                "vc-pool-shared",
                ("pool 'cpu' has quota in Volcano's queue 'batch' and in Kueue's 'all'; use separate pools"),
            )
        ],
    ),
    "a priority of the system's": (
        {"queues": queues(), "priorities": {"normal": 100, "top": 2_000_000_000}},
        [
            (
                "vc-priority",
                "priority 'top' is 2000000000, but Volcano supports at most 1000000000; lower it",
            )
        ],
    ),
    "the same priority for Kueue alone": (
        {"queues": {"research": RESEARCH}, "priorities": {"normal": 100, "top": 2_000_000_000}},
        [],
    ),
    "a Kueue that holds pods": (
        {"queues": queues(), "operators": LWS},
        [
            (
                "vc-pods-gated",
                "lws makes Kueue suspend the pods of Volcano's Jobs too; remove it, or the queues of Volcano",
            )
        ],
    ),
    "a Kueue of somebody else's that may hold pods": (
        {"queues": queues(), "operators": {**LWS, "kueue": {"version": "0.19.2", "managed": False}}},
        [
            (
                "vc-pods-gated",
                "lws makes Kueue suspend the pods of Volcano's Jobs too; remove it, or the queues of Volcano",
            )
        ],
    ),
    "a Kueue that holds pods, and no queue of Volcano's": ({"operators": LWS}, []),
    "gangs that are bound at once": ({"queues": {"research": RESEARCH}, "gang": "coscheduling"}, []),
    "gangs that kube-scheduler binds": (
        {"queues": {"research": RESEARCH}, "gang": "native", "kubernetes": "1.37", "featureGates": GATES},
        [],
    ),
    "gangs that kube-scheduler would bind if it had the gate": (
        {"queues": {"research": RESEARCH}, "gang": "native", "kubernetes": "1.37", "featureGates": GATES[:1]},
        [
            (
                "pairing/native-gang",
                "gang 'native' needs the feature gate WorkloadWithJob, which is off; add it to featureGates",
            )
        ],
    ),
    "a gate without one of those that it needs": (
        {"kubernetes": "1.37", "featureGates": ["DRAWorkloadResourceClaims"]},
        [
            (
                "pairing/gate-needs",
                "gate DRAWorkloadResourceClaims needs the gate GenericWorkload, which is off; add it to featureGates",
            )
        ],
    ),
    "gates with all that they need": (
        {
            "kubernetes": "1.37",
            "featureGates": ["CompositePodGroup", "TopologyAwareWorkloadScheduling", "GenericWorkload"],
        },
        [],
    ),
    "gangs that no scheduler of the release binds": (
        {"queues": {"research": RESEARCH}, "gang": "native", "featureGates": GATES},
        [
            ("pairing/native-gang", "featureGates are of Kubernetes 1.37, but kubernetes is '1.35'; remove them"),
            ("pairing/native-gang", "gang 'native' needs Kubernetes 1.37, but kubernetes is '1.35'; remove gang"),
        ],
    ),
    "gangs that Kueue has found nodes for": (
        {"gang": "coscheduling", "topology": [{"rack": "example.com/rack"}]},
        [
            (
                "to1-gang-placed",
                "gang is 'coscheduling', but Kueue already places pods by the cluster's topology; remove gang",
            )
        ],
    ),
}


@pytest.mark.parametrize(("changes", "expected"), CASES.values(), ids=CASES)
def test_schedulers_do_not_share_what_they_count(changes, expected):
    """Every finding names the field to change, and what is right finds nothing."""
    pools = {name: {**pool, "racks": None} for name, pool in CLUSTER["pools"].items()}
    pools = {name: {key: value for key, value in pool.items() if value} for name, pool in pools.items()}
    changes = {"operators": OPERATORS, "topology": None, "pools": pools, **changes}
    source = make_source("platform/clusters/test.yaml", fields(CLUSTER, changes))
    found = list(check(make_cluster(**changes), source))
    assert [(item.rule, item.message) for item in found] == expected
    assert all(item.location.line > 1 for item in found)
    managed = changes["operators"]["kueue"].get("managed", True)
    assert all(item.is_error == managed for item in found if item.rule == "vc-pods-gated")


MIXED = make_cluster(
    operators=OPERATORS, queues={"research": RESEARCH, "batch": {**BATCH, "nominalQuota": {"gpu": {"gpus": 32}}}}
)
JOBS: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "a VolcanoJob in a queue of Volcano's": ({"queue": "batch", "kind": "VolcanoJob"}, []),
    "no kind in a queue of Volcano's": ({"queue": "batch"}, []),
    "a JobSet in a queue of Volcano's": (
        {"queue": "batch", "kind": "JobSet"},
        [
            (
                "run/queue-kind",
                (
                    "queue 'batch' belongs to Volcano, which does not admit kind JobSet"
                    "; kinds that it admits: VolcanoJob"
                ),
            )
        ],
    ),
    "a VolcanoJob in a queue of Kueue's": (
        {"queue": "research", "kind": "VolcanoJob"},
        [
            (
                "run/queue-kind",
                (
                    "queue 'research' belongs to Kueue, which does not admit kind VolcanoJob; kinds that it admits: "
                    "Job, JobSet"
                ),
            )
        ],
    ),
    "a topology": (
        {"queue": "batch", "topology": {"preferred": "rack"}},
        [("vc-topology", "topology requires 'rack', but a job in a queue of Volcano has no topology; remove it")],
    ),
    "a deadline that begins anew": (
        {"queue": "batch", "maxHours": 5, "restarts": 2},
        [
            (
                "vc-deadline",
                (
                    "maxHours 5 applies to each of the 3 starts of a VolcanoJob separately; set restarts: 0, or use "
                    "another kind"
                ),
            )
        ],
    ),
    "a deadline, and one start": ({"queue": "batch", "maxHours": 5, "restarts": 0}, []),
    "ssh in a queue of Volcano's": (
        {"queue": "batch", "launcher": "mpirun"},
        [
            (
                "run/pair",
                (
                    "launcher 'mpirun' cannot run in kind 'VolcanoJob', which does not provide 'ssh'; kinds that "
                    "can: none in queue 'batch'"
                ),
            )
        ],
    ),
}


@pytest.mark.parametrize(("job", "expected"), JOBS.values(), ids=JOBS)
def test_a_job_is_of_a_kind_that_its_queue_admits(job, expected):
    """A queue of the other scheduler would never start it as a gang, or start it beside every quota."""
    specs = make_specs(make_job_file(**job), clusters={"test": MIXED})
    run, found = jobs.check(specs, specs.jobs[0])
    assert [(item.rule, item.message) for item in found] == expected
    assert run is None or run.kind.scheduler == MIXED.queues[job["queue"]].scheduler
