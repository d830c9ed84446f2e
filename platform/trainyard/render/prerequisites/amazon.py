"""Prerequisites of EFA: its interfaces and device plugin, where nodes are, and their security group."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from trainyard.base.pools import selector_text
from trainyard.render.operators.efa_device_plugin import reached
from trainyard.render.operators.install import installed_operators
from trainyard.render.prerequisites.base import Prerequisite, Site, of_pools
from trainyard.render.prerequisites.nodes import in_words
from trainyard.render.prerequisites.questions import NodeOffers
from trainyard.render.sizing.fabrics.efa import DEVICE
from trainyard.specs import Fabric

PLUGIN = "`helm install aws-efa-k8s-device-plugin -n kube-system eks/aws-efa-k8s-device-plugin`"


def efa(site: Site, fabric: Fabric) -> Iterator[Prerequisite]:
    """Yield the prerequisites of pools with EFA; Karpenter makes interfaces, and has zones by its subnets."""
    if fabric.type != "efa":
        return
    cluster = site.cluster
    there = [*reached(cluster)]
    ours = {operator.facts.prefix(operator.choice.values) for operator, _ in installed_operators(cluster)}
    plugin = [] if DEVICE.partition("/")[0] in ours else [PLUGIN]
    for name in there:
        selected = selector_text(cluster.selector_of(name))
        count = cluster.pools[name].node.devices[DEVICE]
        starts = cluster.is_karpenters(name)
        get = [*plugin, *([] if starts else [interfaces(count)])]
        if get:
            found = {DEVICE: Fraction(count)}
            yield Prerequisite(
                f"{of_pools([name])} offer `{in_words(found)}`",
                "pods on the fabric request EFA devices, and stay pending without them",
                ("fabric", "type"),
                "; ".join(get),
                NodeOffers(name, found),
            )
        if not starts and cluster.pools[name].nodes > 1:
            yield Prerequisite(
                f"{of_pools([name])} are in one zone, close to each other",
                "EFA sends nothing between zones, and collectives are slow between distant nodes",
                ("fabric", "type"),
                "launch them from one capacity block, or in one cluster placement group",
                look=f"`kubectl get nodes -l {selected} -L topology.kubernetes.io/zone`",
            )
    yield Prerequisite(
        f"the security group of {of_pools(there)} allows all traffic to and from itself",
        "EFA sends nothing between nodes otherwise",
        ("fabric", "type"),
        "`aws ec2 authorize-security-group-ingress --group-id GROUP --protocol -1 --source-group GROUP`"
        ", and the same with -egress",
        look="`fi_pingpong -p efa`, between two nodes",
    )


def interfaces(count: int) -> str:
    """Return how nodes get their EFA interfaces, which no plugin adds to a running instance.

    Amazon EC2 user guide, maximize network bandwidth on instances with multiple network cards: the first interface
    cannot be EFA-only, and on other cards that type is at device 0, as in Karpenter's EC2NodeClass. Cards of P6-B300
    are one more than its EFA devices (aws/karpenter-provider-aws
    pkg/providers/instancetype/zz_generated.vpclimits.go); the first has no EFA, assumed.
    """
    alone = "`efa` as the type of the interface in the launch template"
    several = (
        f"in the launch template type `interface` at device 0 of card 0, and {count} of type `efa-only`: at device 1 "
        "of card 0 where that has EFA, at device 0 of each other card"
    )
    return f"`efaEnabled: true` of eksctl, or {several if count > 1 else alone}"
