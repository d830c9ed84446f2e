"""Teams on one fabric are kept apart where it can: no NetworkPolicy governs its networks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.findings import Finding, Severity, did_you_mean
from trainyard.rules import Rule
from trainyard.sizing.fabrics.plan import routed, teams
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.fabric import Fabric
from trainyard.specs.sources import Source

MEMBER = 0x7FFF
"""The bits of a partition key that name the partition; the highest says full or limited member (IBTA 1.6, 10.9.1)."""

SHARED = Rule(
    id="sec-vf-vlan",
    title="Teams have VLANs or partitions of their own on a fabric of virtual functions.",
    why="ranks of another team reach listeners that nothing guards, as torch's store, past every NetworkPolicy",
    fix="give each team a VLAN or partition key of its own in the fabric",
    source="k8snetworkplumbingwg/sriov-cni v2.9 docs/configuration-reference.md vlan; docs/clusters.md",
    severity=Severity.WARNING,
)
SEPARATE = Rule(
    id="spec/fabric-separate",
    title="What keeps teams apart is for a fabric that has it, and for teams that are on it.",
    why="functions would be put into a network that nobody else is in, or all into one",
    fix="name each team of the fabric once, each with a VLAN or partition of its own",
    source="docs/clusters.md",
)


def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield VLANs and partitions that separate nobody, and teams that share the network of their rails."""
    fabric = cluster.fabric
    if fabric is None:
        return
    path = ("fabric", "vlans")
    if fabric.vlans and (fabric.attach != "sriov" or fabric.type != "roce"):
        message = f"vlans is for virtual functions on roce, not {fabric.attach!r} on {fabric.type}; remove it"
        yield SEPARATE.at(source, path, message, key=True)
        return
    if fabric.vlans and routed(cluster):
        message = "vlans is for rails of one subnet, and nodePrefix routes these; keep teams apart on the switches"
        yield SEPARATE.at(source, path, message, key=True)
    partitions = {name: int(key, 16) & MEMBER for name, key in fabric.partition_keys.items()}
    yield from named(cluster, source, "vlans", fabric.vlans)
    yield from named(cluster, source, "partitionKeys", partitions)
    if fabric.attach == "sriov" and fabric.type in {"roce", "infiniband"} and not routed(cluster):
        yield from sharing(cluster, fabric, source)


def named(cluster: Cluster, source: Source, field: str, given: Mapping[str, int]) -> Iterator[Finding]:
    """Yield teams that are not on the fabric, and those that have what another has."""
    there, first = teams(cluster), dict[int, str]()
    for name, number in given.items():
        path = ("fabric", field, name)
        if name not in there:
            message = f"team {name!r} has no quota on the fabric's pools; {did_you_mean(name, there)}"
            yield SEPARATE.at(source, path, message, key=True)
        elif (other := first.setdefault(number, name)) != name:
            what = "VLAN" if field == "vlans" else "partition"
            yield SEPARATE.at(source, path, f"team {name!r} has the {what} of team {other!r}; write another")


def sharing(cluster: Cluster, fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield teams that are alone in no VLAN or partition; what is said of one keeps it from all others."""
    own: Mapping[str, object] = fabric.vlans if fabric.type == "roce" else fabric.partition_keys
    rest = [name for name in teams(cluster) if name not in own]
    if len(rest) < 2:
        return
    field = "vlans" if fabric.type == "roce" else "partitionKeys"
    message = f"teams {', '.join(rest)} share one network of the rails, which no policy governs; write {field}"
    yield SHARED.at(source, ("fabric", "type"), message)
