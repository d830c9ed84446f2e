"""Whether NICs of a RoCE fabric keep the class of training traffic lossless, and who says so."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators.nic_configuration import BRINGS, addresses, is_asked
from trainyard.render.sizing.fabrics.plan import pools
from trainyard.render.sizing.fabrics.rails import has_verbs
from trainyard.specs import Cluster, Fabric
from trainyard.specs.sources import Source

UNSAID = Rule(
    id="rdma-roce-qos",
    title="A RoCE fabric says who sets trust, PFC and ECN on its NICs, for the priority of its traffic class.",
    why=(
        "NICs by default trust no DSCP and have PFC off, after every boot; then they drop packets of a class that the "
        "switches keep, and throughput collapses under load"
    ),
    fix="set fabric.qos: {by: operator} for NVIDIA's NIC configuration operator, or {by: provided} if nodes do it",
    source=(
        "NVIDIA network-operator documentation v26.4 nic-conf-operator/configuration-details.rst; NVIDIA mlnx_qos, "
        "dscp2prio mapping"
    ),
    severity=Severity.WARNING,
)
OPERATOR = Rule(
    id="rdma-qos-operator",
    title="The NIC configuration operator can set the NICs that it is given.",
    why="it finds NICs by type and PCI address, and maps DSCP to no other priority than DSCP / 8",
    fix="add network-operator, name the NICs by pci and nicType, or set fabric.qos.by: provided",
    source="Mellanox/nic-configuration-operator network-operator-v26.4.1 README.md, pkg/configuration",
)


@CLUSTER.check(after=("inventory.check_shapes",))
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield a fabric whose NICs nobody sets, and statements about NICs that cannot hold."""
    fabric = cluster.fabric
    if fabric is None:
        return
    if fabric.type != "roce":
        if fabric.qos is not None:
            message = f"qos is only for roce, not {fabric.type!r}; remove it"
            yield OPERATOR.at(source, ("fabric", "qos"), message)
        return
    if not has_verbs(cluster):
        return
    if fabric.qos is None:
        yield from check_unsaid(fabric, source)
        return
    yield from check_priority(fabric, source)
    if is_asked(cluster):
        yield from check_operator(cluster, source)


def check_unsaid(fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield a lossless class that nobody is said to keep; a fabric without a class has a finding of its own."""
    if fabric.class_priority is not None:
        ways = "{by: operator} or {by: provided}"
        message = f"roce has no qos, so NICs may drop priority {fabric.class_priority}; set qos to {ways}"
        yield UNSAID.at(source, ("fabric", "type"), message)


def check_priority(fabric: Fabric, source: Source) -> Iterator[Finding]:
    """Yield a priority that packets of the traffic class do not have, and a statement about no class."""
    qos, follows = fabric.qos, fabric.class_priority
    if qos is None:
        return
    if fabric.traffic_class == 0:
        message = "qos keeps a priority lossless, but trafficClass 0 has none; set trafficClass, or remove qos"
        yield OPERATOR.at(source, ("fabric", "qos"), message)
    elif follows is None and qos.priority is None and qos.by == "operator":
        message = "qos.by 'operator' needs the lossless priority; set trafficClass, from which it follows"
        yield OPERATOR.at(source, ("fabric", "qos"), message)
    elif None not in (qos.priority, follows) and qos.priority != follows:
        rule = OPERATOR if qos.by == "operator" else UNSAID
        message = f"qos.priority is {qos.priority}, but NICs put trafficClass {fabric.traffic_class} into {follows}"
        yield rule.at(source, ("fabric", "qos", "priority"), f"{message}; use the same on NICs and switches")


def check_operator(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield an operator that is not there, and NICs without the type and addresses by which it finds them."""
    choice = cluster.operators.get(BRINGS)
    if choice is None or not choice.managed:
        message = f"qos.by 'operator' needs {BRINGS}, which runs it; add it to operators, or set by: provided"
        yield OPERATOR.at(source, ("fabric", "qos", "by"), message)
    for name, pool in pools(cluster).items():
        if pool.node.nic_type is None:
            message = f"qos.by 'operator' finds NICs by their type, which pool {name!r} lacks; set pools.{name}.nicType"
            yield OPERATOR.at(source, ("pools", name), message, key=True)
        if not addresses(cluster, name):
            message = f"qos.by 'operator' finds NICs by PCI address, which pool {name!r} lacks; set pools.{name}.pci"
            yield OPERATOR.at(source, ("pools", name), message, key=True)
