"""Jobs that want domains to themselves: the affinities that JobSet's and LeaderWorkerSet's webhooks add to pods.

Source: kubernetes-sigs/jobset v0.12.0 pkg/webhooks/pod_mutating_webhook.go setExclusiveAffinities, lws v0.10.0
pkg/utils/pod/pod_utils.go SetExclusiveAffinities.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.manifests import identity_of, value_at

JOBSET = ("alpha.jobset.sigs.k8s.io/exclusive-topology", "jobset.sigs.k8s.io/job-key")
LWS = ("leaderworkerset.sigs.k8s.io/exclusive-topology", "leaderworkerset.sigs.k8s.io/group-key")
"""The annotation that names the label of domains, and the label that pods of one group have in common."""

IN_TERMS = "requiredDuringSchedulingIgnoredDuringExecution"

Object = Mapping[str, Any]


def exclusive(owner: Object, pod_set: str) -> tuple[str, str, int] | None:
    """Return the label of domains, that of groups, and how many pods a group has: 0 for all of the Workload.

    None where the pods share their domains.
    """
    kind = identity_of(owner).kind
    if kind == "JobSet":
        every = value_at(owner, ("spec", "replicatedJobs")) or ()
        mine: Object = next((each for each in every if each.get("name") == pod_set), {})
        topology = noted(owner, JOBSET[0]) or noted(mine.get("template") or {}, JOBSET[0])
        size = value_at(mine, ("template", "spec", "parallelism"))
        return (topology, JOBSET[1], size if isinstance(size, int) else 1) if topology else None
    if kind == "LeaderWorkerSet" and (topology := noted(owner, LWS[0])):
        return topology, LWS[1], 0
    return None


def noted(value: Object, name: str) -> str:
    """Return an annotation of an object or a template, empty where it has none."""
    return str(((value.get("metadata") or {}).get("annotations") or {}).get(name) or "")


def apart(spec: Object, topology: str, label: str, group: str) -> dict[str, Any]:
    """Return the specification of a pod that is near its own group and in no domain of another one."""
    affinity = dict(spec.get("affinity") or {})
    own = {"key": label, "operator": "In", "values": [group]}
    others = [{"key": label, "operator": "Exists"}, {"key": label, "operator": "NotIn", "values": [group]}]
    for kind, expressions in (("podAffinity", [own]), ("podAntiAffinity", others)):
        term = {
            "labelSelector": {"matchExpressions": expressions},
            "topologyKey": topology,
            "namespaceSelector": {},
        }
        there = affinity.get(kind) or {}
        affinity[kind] = {**there, IN_TERMS: [*(there.get(IN_TERMS) or ()), term]}
    return {**spec, "affinity": affinity}
