"""Whether clusters whose InfiniBand has one subnet manager keep their GUIDs and their teams' partitions apart."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import BETWEEN
from trainyard.specs import Fabric
from trainyard.specs.load import Loaded
from trainyard.specs.models.fabric import MEMBER
from trainyard.specs.sources import Source

GUIDS = Rule(
    id="rdma-guid-pool",
    title="GUIDs of virtual functions are those of one cluster alone on a subnet.",
    why="ib-kubernetes of each cluster hands out the same GUIDs, and of two ports with one GUID only one is reached",
    fix="give each cluster a range of its own; waive this if the clusters have separate fabrics",
    source="NVIDIA network-operator documentation v26.4 deployment-guide-kubernetes.rst, ib-kubernetes' GUID pool",
    may_waive=True,
    may_warn=True,
)
PARTITION = Rule(
    id="rdma-partition-shared",
    title="A partition of one subnet belongs to one team, on all clusters of the subnet.",
    why="ports of one partition reach each other past every NetworkPolicy, those of another cluster's team too",
    fix="use another partition key; waive this if the clusters have separate fabrics",
    source="IBTA 1.6, 10.9; docs/fabric.md",
    severity=Severity.WARNING,
)


ADDRESSES = Rule(
    id="rdma-addresses-shared",
    title="Clusters of one fabric give their pods different addresses.",
    why="two pods get one address, and ranks that connect by it reach the wrong one",
    fix="give each cluster a range of its own; waive this if the clusters have separate fabrics",
    source="docs/fabric.md",
    severity=Severity.WARNING,
)


class OnSubnet(NamedTuple):
    """The InfiniBand of a cluster."""

    name: str
    fabric: Fabric
    source: Source

    @property
    def manager(self) -> str:
        """What is written of the subnet manager, however it is spaced."""
        return " ".join((self.fabric.subnet_manager or "").lower().split())

    def pool(self) -> tuple[int, int] | None:
        """Return the first and last GUID of its functions; None where none are written, or they end too early."""
        if self.fabric.guids is None:
            return None
        first, last = (int(guid.replace(":", ""), 16) for guid in self.fabric.guids)
        return (first, last) if first <= last else None


@BETWEEN.check()
def check(loaded: Loaded) -> Iterator[Finding]:
    """Yield clusters whose GUIDs another has, and teams that are in the partition of another cluster's team.

    Two texts about a manager may be of one: then a range that overlaps is a warning.
    """
    specs = loaded.specs
    there = [
        OnSubnet(name, cluster.fabric, specs.sources[f"cluster/{name}"])
        for name, cluster in sorted(specs.clusters.items())
        if cluster.fabric is not None and cluster.fabric.type == "infiniband" and cluster.simulated is None
    ]
    told = set[str]()
    for first, second in combinations(there, 2):
        one, two = first.pool(), second.pool()
        if one and two and one[0] <= two[1] and two[0] <= one[1] and second.name not in told:
            told.add(second.name)
            same = first.manager == second.manager
            message = f"guids overlap those of cluster {first.name!r}, {on_subnet(same)}; use another range"
            severity = Severity.ERROR if same else Severity.WARNING
            yield GUIDS.at(second.source, ("fabric", "guids"), message, severity=severity)
        if first.manager == second.manager and first.manager:
            yield from check_partitions(first, second)
            yield from check_addresses(first, second)


def on_subnet(same: bool) -> str:
    """Say how sure it is that two clusters have one subnet."""
    return "which has the same subnet manager" if same else "which may be on the same fabric"


def check_addresses(first: OnSubnet, second: OnSubnet) -> Iterator[Finding]:
    """Yield a range of addresses that both clusters give to pods on one fabric."""
    one, two = (
        ipaddress.ip_network(item.fabric.addresses) if item.fabric.addresses else None for item in (first, second)
    )
    if one is not None and two is not None and one.version == two.version and one.overlaps(two):
        message = f"addresses overlap those of cluster {first.name!r} on the same fabric; use another range"
        yield ADDRESSES.at(second.source, ("fabric", "addresses"), message)


def check_partitions(first: OnSubnet, second: OnSubnet) -> Iterator[Finding]:
    """Yield the teams of a cluster whose partition another team has on the other one."""
    taken = {int(key, 16) & MEMBER: team for team, key in first.fabric.partition_keys.items()}
    for team, key in second.fabric.partition_keys.items():
        other = taken.get(int(key, 16) & MEMBER, team)
        if other != team:
            message = f"partition {key!r} is that of team {other!r} on cluster {first.name!r}; use another"
            yield PARTITION.at(second.source, ("fabric", "partitionKeys", team), message)
