"""Teams on one fabric are kept apart where it can: no NetworkPolicy governs its networks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.sizing.fabrics.plan import is_routed, teams
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.fabric import MEMBER, Fabric
from trainyard.specs.sources import Source

SHARED = Rule(
    id="sec-vf-vlan",
    title="Teams on a fabric of virtual functions have their own VLANs or partitions.",
    why=(
        "otherwise pods of another team can reach unprotected listeners, such as torch's store, past every "
        "NetworkPolicy"
    ),
    fix="set a VLAN or partition key for each team in the fabric",
    source="k8snetworkplumbingwg/sriov-cni v2.9 docs/configuration-reference.md vlan; docs/fabric.md",
    severity=Severity.WARNING,
)
SEPARATE = Rule(
    id="spec/fabric-separate",
    title="A VLAN or partition per team fits the type of fabric and names teams that use it.",
    why="otherwise pods would be in a network without their peers, or all teams in one",
    fix="list each team of the fabric once, with its own VLAN or partition",
    source="docs/fabric.md",
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield VLANs and partitions that separate nobody, and teams that share the network of their rails."""
    fabric = cluster.fabric
    if fabric is None:
        return
    path = ("fabric", "vlans")
    if fabric.vlans and (fabric.attach != "sriov" or fabric.type != "roce"):
        message = f"vlans only applies to virtual functions on roce, not {fabric.attach!r} on {fabric.type}; remove it"
        yield SEPARATE.at(source, path, message, key=True)
        return
    if fabric.vlans and is_routed(cluster):
        message = "vlans needs rails in one subnet, but nodePrefix routes them; separate teams on the switches"
        yield SEPARATE.at(source, path, message, key=True)
    partitions = {name: int(key, 16) & MEMBER for name, key in fabric.partition_keys.items()}
    for name, number in partitions.items():
        if number == MEMBER:
            message = f"partition {fabric.partition_keys[name]!r} of team {name!r} is the default one of all ports"
            yield SEPARATE.at(source, ("fabric", "partitionKeys", name), f"{message}; use another")
    yield from check_teams(cluster, source, "vlans", fabric.vlans)
    yield from check_teams(cluster, source, "partitionKeys", partitions)
    if fabric.attach == "sriov" and fabric.type in {"roce", "infiniband"} and not is_routed(cluster):
        yield from check_sharing(cluster, fabric, source)


def check_teams(cluster: Cluster, source: Source, field: str, given: Mapping[str, int]) -> Iterator[Finding]:
    """Yield teams that are not on the fabric, and those that have what another has."""
    there, first = teams(cluster), dict[int, str]()
    for name, number in given.items():
        path = ("fabric", field, name)
        if name not in there:
            message = f"team {name!r} has no quota for the fabric's pools; {did_you_mean(name, there)}"
            yield SEPARATE.at(source, path, message, key=True)
        elif (other := first.setdefault(number, name)) != name:
            what = "VLAN" if field == "vlans" else "partition"
            yield SEPARATE.at(source, path, f"team {name!r} has the {what} of team {other!r}; use another")


def check_sharing(cluster: Cluster, fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield teams that are alone in no VLAN or partition; what is said of one keeps it from all others."""
    own: Mapping[str, object] = fabric.vlans if fabric.type == "roce" else fabric.partition_keys
    rest = [name for name in teams(cluster) if name not in own]
    if len(rest) < 2:
        return
    field = "vlans" if fabric.type == "roce" else "partitionKeys"
    message = f"teams {', '.join(rest)} share one network on the rails, where no NetworkPolicy applies; set {field}"
    yield SHARED.at(source, ("fabric", "type"), message)
