"""Whether machines take the pods of a job that has its cluster to itself, and which jobs are the same to them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.base.labels import NETWORKS
from trainyard.judge.admission import gangs, placed
from trainyard.judge.admission.exclusive import exclusive
from trainyard.judge.admission.job_workloads import Bidder, bare
from trainyard.judge.admission.machines import Machines
from trainyard.judge.admission.outcomes import has_pods
from trainyard.upstream.kueue.requests.jobs.appwrapper import origin


@dataclass(frozen=True, slots=True)
class Outlook:
    """What becomes on empty nodes of the pods of a job that Kueue admits; nothing of one that it does not."""

    never: str = ""
    """What keeps pods from nodes; nothing where they find some."""
    perhaps: str = ""
    """What some wait for where the scheduler takes other nodes first; nothing where they find nodes in any case."""
    pods: Mapping[str, int] = field(default_factory=dict)
    """How many of each pod set have nodes then, of a job that Volcano starts."""


Look = Callable[[Bidder], Outlook]
"""Says what becomes of the pods of a job on empty nodes."""

BY_NODE = ("hostNetwork", "nodeName", "os")
"""Fields of pods by which nodes decide, beside those by which Kueue does."""

SOCIAL = '"topologyKey"'
"""What is in the specification of pods that look at the labels of others."""


def unseen(_bid: Bidder) -> Outlook:
    """Return no outlook, for callers that do not simulate machines."""
    return Outlook()


def outlook(bid: Bidder, machines: Machines) -> Outlook:
    """Return the outlook of a job's pods on empty nodes; `machines` are those of its cluster."""
    if bid.gang:
        fit = gangs.alone(bid, machines)
        return Outlook(placed.empty_cluster_lack(fit), placed.otherwise(fit), gangs.started_pods(fit))
    answer = machines.where.decided(bid.workloads, *bid.beside)
    mine = [] if "error" in answer else [answer["workloads"][key] for key in bid.keys]
    if not mine or not all(map(has_pods, mine)):
        return Outlook()
    found = machines.alone(bid, mine)
    return Outlook(placed.empty_cluster_lack(found), placed.otherwise(found))


def alike(bid: Bidder) -> str:
    """Return a text that is the same for jobs whose pods are the same to Kueue and to nodes, whatever they are called.

    Pods that look at the labels of others have theirs in it.
    """
    every = [list(of_workload(*item)) for item in zip(bid.workloads, bid.owners, strict=True)]
    found = json.dumps(every, sort_keys=True)
    for owner in bid.owners:
        found = found.replace(str(owner["metadata"]["name"]), "")
    return found


def is_social(bid: Bidder) -> bool:
    """Whether pods of a job look at the labels of others."""
    sets = (pod_set for workload in bid.workloads for pod_set in workload["spec"]["podSets"])
    return any(looks(set_["template"].get("spec") or {}) for set_ in sets)


def looks(spec: Mapping[str, Any]) -> bool:
    """Whether pods of a specification do."""
    return SOCIAL in json.dumps(spec)


def of_workload(workload: Mapping[str, Any], owner: Mapping[str, Any]) -> Iterator[Any]:
    """Yield by what Kueue and nodes decide about a Workload: its owner's kind, its queue, and its pod sets."""
    spec = workload["spec"]
    yield [owner["kind"], workload["metadata"]["namespace"], spec.get("queueName"), spec.get("least")]
    for pod_set, known in zip(spec["podSets"], bare(workload)["spec"]["podSets"], strict=True):
        metadata, pod = pod_set["template"].get("metadata") or {}, pod_set["template"].get("spec") or {}
        yield [known, exclusive(*origin(owner, pod_set["name"])), {name: pod[name] for name in BY_NODE if name in pod}]
        yield (metadata.get("annotations") or {}).get(NETWORKS)
        if looks(pod):
            yield metadata.get("labels")
