"""Whether nodes can have the labels and taints that a cluster's file names: those of providers are known."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.specs import Cluster
from trainyard.specs.labels import lacking, nearest, owner_of, owners
from trainyard.specs.sources import Source

UNKNOWN = Rule(
    id="spec/node-label",
    title="Labels of nodes that a provider or an operator sets are spelt as it sets them.",
    why="no node has the label, so Kueue finds no place for any job there and it waits for ever",
    fix="correct the label, or waive this if your own software sets it",
    source="platform/trainyard/specs/labels; kueue v0.19.2 pkg/cache/scheduler/tas_flavor_snapshot.go",
    may_waive=True,
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield labels of levels, and labels and taints of pools, that no node of the cluster has."""
    for path, label, key in named_labels(cluster):
        owner = owner_of(label)
        near = nearest(label)
        if label in owners():
            continue
        if near is not None:
            message = f"label {label!r} is set by nobody; did you mean {near!r}?"
        elif owner is not None and path[0] == "topology":
            begin = next(one for one in owner.whole if label.startswith(one))
            choices = [one.removeprefix(begin) for one in owner.labels if one.startswith(begin)]
            near = did_you_mean(label.removeprefix(begin), choices, limit=3)
            message = f"{owner.title} sets no label {label!r}; {near}"
        else:
            continue
        yield UNKNOWN.at(source, path, message, key=key)
    for index, entry in enumerate(cluster.topology):
        for level, label in entry.items():
            lack = [name for name, pool in cluster.pools.items() if lacking(label, str(pool.shape))]
            if lack and len(lack) == len(cluster.pools):
                message = f"nodes of pool {lack[0]!r} have no label {label!r}; remove level {level!r}, or correct it"
                yield UNKNOWN.at(source, ("topology", index, level), message)


def named_labels(cluster: Cluster) -> Iterator[tuple[Path, str, bool]]:
    """Yield the labels and taints that a cluster's file names, with their places, and whether each is a key there."""
    for index, entry in enumerate(cluster.topology):
        yield from ((("topology", index, level), label, False) for level, label in entry.items())
    for name, pool in cluster.pools.items():
        yield from ((("pools", name, "selector", label), label, True) for label in pool.selector or {})
        yield from ((("pools", name, "labels", label), label, True) for label in pool.labels)
        yield from ((("pools", name, "taints", at, "key"), taint.key, False) for at, taint in enumerate(pool.taints))
