"""Whether machines take the pods of a job that has its cluster to itself, and which jobs are the same to them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trainyard.admission import placed
from trainyard.admission.bid import Bidder, bare
from trainyard.admission.exclusive import exclusive
from trainyard.admission.machines import Machines
from trainyard.admission.outcomes import admitted
from trainyard.labels import NETWORKS

Lack = Callable[[Bidder], str]
"""Says what keeps pods of a job from nodes, though Kueue admits it while it is alone; nothing where they find some."""

BY_NODE = ("hostNetwork", "nodeName", "os")
"""Fields of pods by which nodes decide, beside those by which Kueue does."""

SOCIAL = '"topologyKey"'
"""What is in the specification of pods that look at the labels of others."""


def lack(bid: Bidder, machines: Machines) -> str:
    """Return what keeps pods of a job from empty nodes, though Kueue admits it; `machines` are those of its cluster."""
    answer = machines.where.decided(bid.workloads, *bid.beside)
    mine = [] if "error" in answer else [answer["workloads"][key] for key in bid.keys]
    if not mine or not all(map(admitted, mine)):
        return ""
    found = machines.lacking(bid, mine)
    return placed.alone(found) if found else ""


def alike(bid: Bidder) -> str:
    """Return a text that is the same for jobs whose pods are the same to Kueue and to nodes, whatever they are called.

    Pods that look at the labels of others have theirs in it.
    """
    found = json.dumps([list(of_workload(*each)) for each in zip(bid.workloads, bid.owners, strict=True)])
    for owner in bid.owners:
        found = found.replace(str(owner["metadata"]["name"]), "")
    return found


def is_social(bid: Bidder) -> bool:
    """Whether pods of a job look at the labels of others."""
    sets = (each for one in bid.workloads for each in one["spec"]["podSets"])
    return any(looks(each["template"].get("spec") or {}) for each in sets)


def looks(spec: Mapping[str, Any]) -> bool:
    """Whether pods of a specification do."""
    return SOCIAL in json.dumps(spec)


def of_workload(workload: Mapping[str, Any], owner: Mapping[str, Any]) -> Iterator[Any]:
    """Yield by what Kueue and nodes decide about a Workload: its owner's kind, its queue, and its pod sets."""
    yield [owner["kind"], workload["metadata"]["namespace"], workload["spec"].get("queueName")]
    for each, known in zip(workload["spec"]["podSets"], bare(workload)["spec"]["podSets"], strict=True):
        metadata, spec = each["template"].get("metadata") or {}, each["template"].get("spec") or {}
        yield [known, exclusive(owner, each["name"]), {name: spec[name] for name in BY_NODE if name in spec}]
        yield (metadata.get("annotations") or {}).get(NETWORKS)
        if looks(spec):
            yield metadata.get("labels")
