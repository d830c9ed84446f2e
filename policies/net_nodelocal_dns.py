"""Pods that may not send everywhere may ask the DNS cache of their node.

Why: NodeLocal DNSCache answers on the DNS Service's own address from the node's network, where no selector of pods
 matches; every lookup times out, and no rank finds another.
Fix: allow port 53 to an ipBlock of the Service range and to 169.254.0.0/16, beside the selectors.
Source: kubernetes v1.35 cluster/addons/dns/nodelocaldns/README.md; kubernetes issue 70555
"""

import ipaddress
from collections.abc import Iterator
from typing import Any

from trainyard.checks import Manifest, Place, Problem, World

CACHE = "node-local-dns"
DNS = {53, "53", "dns", "dns-tcp"}

OF_DNS = 10
"""Which address of the range of Services DNS has (kubernetes v1.35 cmd/kubeadm/app/constants GetDNSIP)."""

LINK_LOCAL = "169.254.20.10"
"""The cache's own address (kubernetes v1.35 cluster/addons/dns/nodelocaldns)."""


def check(world: World) -> Iterator[Problem]:
    """Look at policies that close egress where the cache is known, or may come: a cluster that we describe."""
    cached = any(
        workload.name == CACHE for kind in ("DaemonSet", "ConfigMap", "ServiceAccount") for workload in world.of(kind)
    )
    if world.inventory is None and not cached:
        return
    cidrs = world.inventory.cidrs if world.inventory else None
    services = ipaddress.ip_network(cidrs.services, strict=False) if cidrs else None
    wanted = [str(services[OF_DNS])] if services and services.num_addresses > OF_DNS else [LINK_LOCAL]
    closing = [item for item in world.of("NetworkPolicy", group="networking.k8s.io") if "Egress" in types(item)]
    for policy in closing:
        beside = [item for item in closing if item.namespace == policy.namespace and covers(item, policy)]
        if any(reaches(rule, address) for item in beside for rule in rules_of(item) for address in wanted):
            continue
        for path, rules in policy.at("spec", "egress", of=list):
            of_dns = [index for index, rule in enumerate(rules) if isinstance(rule, dict) and names_dns(rule)]
            if of_dns:
                message = f"port 53 is not open to {wanted[0]}, where a cache on the node answers; add an ipBlock"
                yield Problem(Place(policy, (*path, of_dns[0], "to")), message)


def rules_of(policy: Manifest) -> Iterator[dict[str, Any]]:
    """Yield a policy's rules for what its pods send."""
    yield from (rule for _, rule in policy.at("spec", "egress", "*", of=dict))


def covers(policy: Manifest, other: Manifest) -> bool:
    """Say whether a policy is for all pods of another's: for the same, or for all of the namespace."""
    selector = policy.get("spec", "podSelector")
    return not selector or selector == other.get("spec", "podSelector")


def types(policy: Manifest) -> list[Any]:
    """Return the directions that a policy closes: egress where it has such rules and does not say."""
    found = policy.get("spec", "policyTypes")
    return found if isinstance(found, list) else ["Ingress", "Egress"]


def names_dns(rule: dict[str, Any]) -> bool:
    """Say whether a rule is written for DNS: it names port 53."""
    ports = rule.get("ports")
    return any(port.get("port") in DNS for port in ports or () if isinstance(port, dict))


def reaches(rule: dict[str, Any], address: str) -> bool:
    """Say whether a rule lets questions to an address pass: on port 53 or all, to everyone or a block that holds it."""
    if rule.get("ports") and not names_dns(rule):
        return False
    peers = rule.get("to")
    if not peers:
        return True
    for peer in peers if isinstance(peers, list) else ():
        block = peer.get("ipBlock") if isinstance(peer, dict) else None
        if isinstance(block, dict) and within(address, block.get("cidr")):
            return not any(within(address, item) for item in block.get("except") or ())
    return False


def within(address: str, cidr: Any) -> bool:
    """Say whether an address is in a range, where that is one."""
    try:
        return ipaddress.ip_address(address) in ipaddress.ip_network(str(cidr), strict=False)
    except ValueError:
        return False
