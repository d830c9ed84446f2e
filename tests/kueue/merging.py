"""Two cases in one: what has the same name is shared, or is called otherwise in the second, wherever that is named."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any

from kueue.question import Object
from trainyard.upstream.kueue.replay.case import CLUSTER_WIDE

NAMED: Mapping[str, str] = {
    "queueName": "LocalQueue",
    "clusterQueue": "ClusterQueue",
    "cohortName": "Cohort",
    "parentName": "Cohort",
    "topologyName": "Topology",
    "runtimeClassName": "RuntimeClass",
}
"""Fields that name an object of a kind."""

OWN = frozenset({"Workload", "Pod", "Job"})
"""Kinds of objects that are never shared."""

SECOND = "-2"


def name_of(value: Object) -> tuple[str, str, str]:
    """Return kind, namespace and name."""
    kind, metadata = value["kind"], value["metadata"]
    return kind, "" if kind in CLUSTER_WIDE else metadata.get("namespace") or "default", metadata["name"]


def merged(first: Object, second: Object, chance: random.Random) -> Object:
    """Return two cases in one, with the first one's configuration or the second one's."""
    there = {name_of(item) for item in first.get("objects") or ()}
    shared = chance.random() < 0.5
    clashes = {name_of(item) for item in second.get("objects") or ()} & there
    renamed = {(kind, name) for kind, _, name in clashes if kind in OWN or not shared}
    objects = [
        called_otherwise(item, renamed)
        for item in second.get("objects") or ()
        if name_of(item) not in clashes or name_of(item)[::2] in renamed
    ]
    admitted = [{**item, "workload": of_workload(item["workload"], renamed)} for item in second.get("admitted") or ()]
    config = chance.choice([first, second]).get("config") or {}
    found = {**first, "config": config, "objects": [*(first.get("objects") or ()), *objects]}
    return found | {"admitted": [*(first.get("admitted") or ()), *admitted]}


def of_workload(name: str, renamed: set[tuple[str, str]]) -> str:
    """Return how a Workload is called now."""
    return name + SECOND if ("Workload", name.rpartition("/")[2]) in renamed else name


def called_otherwise(value: Object, renamed: set[tuple[str, str]]) -> Object:
    """Return an object with other names of itself and of what it names."""
    found = references(value, renamed)
    if name_of(value)[::2] in renamed:
        found["metadata"] = {**found["metadata"], "name": found["metadata"]["name"] + SECOND}
    return found


def references(value: Any, renamed: set[tuple[str, str]], field: str = "") -> Any:
    """Return a value in which what is called otherwise is named so."""
    if isinstance(value, dict):
        found = {name: references(entry, renamed, name) for name, entry in value.items()}
        if field == "flavors" and ("ResourceFlavor", value.get("name")) in renamed:
            found["name"] += SECOND
        return found
    if isinstance(value, list):
        return [references(item, renamed, field) for item in value]
    kind = "ResourceFlavor" if field == "onFlavors" else NAMED.get(field)
    return f"{value}{SECOND}" if kind and (kind, value) in renamed else value


def apart(case: Object) -> Object:
    """Return a case without what no server holds: names that are there twice, and quota of Workloads that are not."""
    objects, names = [], set[tuple[str, str, str]]()
    for item in case.get("objects") or ():
        if not isinstance(item.get("metadata"), dict) or not item["metadata"].get("name"):
            continue
        while name_of(item) in names:
            item["metadata"]["name"] += "x"
        names.add(name_of(item))
        objects.append(item)
    admitted = [item for item in case.get("admitted") or () if holds(item, names)]
    return {**case, "objects": objects, "admitted": admitted}


def holds(admitted: Object, names: Iterable[tuple[str, str, str]]) -> bool:
    """Say whether the Workload that is said to hold quota is there, and in places that there could be."""
    namespace, _, name = str(admitted.get("workload") or "").rpartition("/")
    domains = admitted.get("domains") or ()
    levels = {len(domain.get("values") or ()) for domain in domains}
    placed = not domains or (0 not in levels and len(levels) == 1 and all("count" in domain for domain in domains))
    return placed and ("Workload", namespace or "default", name) in names
