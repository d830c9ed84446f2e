"""The cases that were asked of a real cluster: one run of each kind, which loses one node in each way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from make import CLUSTER, CPU_NODE, JOB, TEAM, fields

TEAM_NAME = "nlp"
RANKS = 3
"""Nodes of every run; one that may shrink needs one fewer."""

FAULTS: Mapping[str, str] = {
    "silent": "the kubelet stops; nobody acts",
    "shut-down": "the kubelet stops; a person sets the taint out-of-service",
    "deleted": "the Node is deleted, as clouds do",
    "drained": "the node is cordoned and drained",
    "no-execute": "the node gets the fault's taint with NoExecute",
    "no-schedule": "the node gets the fault's taint with NoSchedule, and the program fails",
}
"""What happens to one node of a run, by a name."""

KINDS: Mapping[str, dict[str, Any]] = {
    "JobSet": {},
    "TrainJob": {},
    "Job": {},
    "Job, elastic": {"kind": "Job", "minNodes": RANKS - 1},
    "LeaderWorkerSet": {"maxHours": 1},
    "MPIJob": {"launcher": "mpirun"},
    "RayJob": {"launcher": "ray"},
    "PyTorchJob": {},
    "XGBoostJob": {"launcher": "xgboost"},
    "RayCluster": {"launcher": "ray", "maxHours": 1},
    "VolcanoJob": {"topology": None},
}
"""Fields of the job of each kind beside the common ones."""

OPERATORS: Mapping[str, dict[str, Any]] = {
    "first": {
        "jobset": "0.12.0",
        "trainer": "2.3.0",
        "kuberay": "1.6.2",
        "mpi-operator": "0.8.0",
        "lws": "0.10.0",
    },
    "second": {"training-operator": "1.9.4"},
    "third": {"jobset": "0.12.0"},
    "fourth": {"volcano": "1.15.1"},
}
"""Operators beside Kueue, by the cluster that has them: two of them own MPIJob, and no cluster has both."""

CLUSTERS = {"PyTorchJob": "second", "XGBoostJob": "second", "Job, elastic": "third", "VolcanoJob": "fourth"}
"""The clusters of kinds that are not on the first."""


@dataclass(frozen=True)
class Case:
    """One run, and what happens to its nodes."""

    kind: str
    fault: str
    spares: int
    lost: int = 1
    """Nodes that are lost at the same time."""

    @property
    def name(self) -> str:
        """Its pool, and its job."""
        word = self.kind.lower().replace(", ", "-").replace("leaderworkerset", "lws")
        return f"{word}-{self.fault}-{self.lost}-{self.spares}"

    @property
    def cluster(self) -> str:
        """The cluster that has it."""
        return CLUSTERS.get(self.kind, "first")

    @property
    def queue(self) -> str:
        """Its queue: a ClusterQueue has 64 flavors at most, and a queue of Volcano's one pool."""
        if self.kind == "VolcanoJob":
            return f"of-{self.name}"
        return f"of-{self.kind.lower().replace(', ', '-')}"


def cases() -> Iterator[Case]:
    """Yield every kind with every fault and a spare node, some without one, and some that lose two."""
    for kind in KINDS:
        for fault in FAULTS:
            yield Case(kind, fault, 1)
        for fault in ("silent", "deleted", "drained"):
            yield Case(kind, fault, 0)
    for kind in ("JobSet", "Job"):
        yield Case(kind, "silent", 2, lost=2)


def repository() -> dict[str, Any]:
    """Return the specs: two clusters with a pool and a job for each case."""
    there = list(cases())
    jobs = {f"{TEAM_NAME}/{case.name}": job(case) for case in there}
    clusters = {name: cluster(name, [case for case in there if case.cluster == name]) for name in OPERATORS}
    return {
        "clusters": clusters,
        "jobs": jobs,
        "teams": {TEAM_NAME: fields(TEAM, {"volumes": None, "secrets": None, "podSecurity": "baseline"})},
    }


def cluster(name: str, there: list[Case]) -> dict[str, Any]:
    """Return a cluster with a pool for each case, of one rack."""
    pools = {
        case.name: {"shape": CPU_NODE, "nodes": RANKS + case.spares, "racks": 1, "spares": case.spares}
        for case in there
    }
    queues: dict[str, Any] = {}
    for case in there:
        scheduler = {"scheduler": "volcano"} if case.kind == "VolcanoJob" else {}
        queue = queues.setdefault(case.queue, {"teams": [TEAM_NAME], "nominalQuota": {}, **scheduler})
        queue["nominalQuota"][case.name] = {"nodes": RANKS}
    operators = {"kueue": {"version": "0.19.2"}} | {
        one: {"version": version, "managed": False} for one, version in OPERATORS[name].items()
    }
    changed = {"pools": pools, "queues": queues, "operators": operators, "storage": None, "drivers": None}
    argocd = {**CLUSTER["argocd"], "destination": {"name": name}}
    waits = {"recoveryMinutes": 0} if name == "third" else {}
    return fields(CLUSTER, {**changed, **waits, "argocd": argocd})


def job(case: Case) -> dict[str, Any]:
    """Return the job of a case: a pod takes most of a node, so that no two of them share one."""
    common = {
        "cluster": case.cluster,
        "kind": case.kind,
        "pool": case.name,
        "queue": case.queue,
        "nodes": RANKS,
        "gpusPerNode": None,
        "cpusPerNode": 10,
        "memoryPerNode": "20Gi",
        "topology": {"required": "rack"},
    }
    return fields(JOB, {**common, **KINDS[case.kind]})
