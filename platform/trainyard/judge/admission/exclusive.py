"""Jobs that want domains to themselves: the affinities that JobSet's and LeaderWorkerSet's webhooks add to pods.

Source: kubernetes-sigs/jobset v0.12.0 pkg/webhooks/pod_mutating_webhook.go setExclusiveAffinities, lws v0.10.0
pkg/utils/pod/pod_utils.go SetExclusiveAffinities.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.base.manifests import value_at
from trainyard.upstream.workloads import Carrier, carrier_of

IN_TERMS = "requiredDuringSchedulingIgnoredDuringExecution"

Object = Mapping[str, Any]


def exclusive(owner: Object, pod_set: str) -> tuple[str, str, int] | None:
    """Return the label of domains, that of groups, and how many pods a group has: 0 for all of the Workload.

    None where the pods share their domains.
    """
    row = carrier_of(owner)
    asked = row.exclusive if row is not None else None
    if row is None or asked is None:
        return None
    groups = value_at(holder_of(owner, row, pod_set), asked.group) or {} if asked.group is not None else {}
    topology = noted(owner, asked.annotation) or noted(groups, asked.annotation)
    if not topology:
        return None
    size = value_at(groups, asked.size) if asked.size is not None else 0
    return topology, asked.label, size if isinstance(size, int) else 1


def holder_of(owner: Object, row: Carrier, pod_set: str) -> Object:
    """Return the object that holds the template of a pod set; an empty one where no pod set has that name."""
    for template in row.templates:
        for one_pod_set in template.pod_sets(owner):
            if one_pod_set.name == pod_set:
                found: Object = value_at(owner, one_pod_set.template[: -len(template.within)]) or {}
                return found
    return {}


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
