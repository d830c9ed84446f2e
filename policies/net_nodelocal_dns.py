"""A NetworkPolicy that restricts egress must allow queries to the node's DNS cache.

Why: NodeLocal DNSCache answers at the address of the DNS Service, but from the node's network. No pod selector matches
 it: every lookup times out, and ranks cannot find each other.
Fix: allow port 53 to an ipBlock of the Service range and one of 169.254.0.0/16; keep the selectors.
Source: kubernetes v1.35 cluster/addons/dns/nodelocaldns/README.md; kubernetes issue 70555
"""

import ipaddress
from collections.abc import Iterator
from typing import Any

from trainyard.checks import Manifest, Place, Problem, World

CACHE = "node-local-dns"
DNS = {53, "53", "dns", "dns-tcp"}

DNS_ADDRESS = 10
"""The number of the DNS address in the range of Services (kubernetes v1.35 cmd/kubeadm/app/constants GetDNSIP)."""

LINK_LOCAL = "169.254.20.10"
"""The cache's own address (kubernetes v1.35 cluster/addons/dns/nodelocaldns)."""


def check(world: World) -> Iterator[Problem]:
    """Check policies that restrict egress if the cache is among the objects, or the cluster is described."""
    cached = any(
        workload.name == CACHE for kind in ("DaemonSet", "ConfigMap", "ServiceAccount") for workload in world.of(kind)
    )
    if world.inventory is None and not cached:
        return
    cidrs = world.inventory.cidrs if world.inventory else None
    services = ipaddress.ip_network(cidrs.services, strict=False) if cidrs else None
    addresses = [str(services[DNS_ADDRESS])] if services and services.num_addresses > DNS_ADDRESS else [LINK_LOCAL]
    restricting = [
        item for item in world.of("NetworkPolicy", group="networking.k8s.io") if "Egress" in policy_types(item)
    ]
    for policy in restricting:
        applying = [item for item in restricting if item.namespace == policy.namespace and covers(item, policy)]
        if any(allows(rule, address) for item in applying for rule in egress_rules(item) for address in addresses):
            continue
        for path, rules in policy.at("spec", "egress", of=list):
            of_dns = [index for index, rule in enumerate(rules) if isinstance(rule, dict) and is_dns(rule)]
            if of_dns:
                message = (
                    f"egress to {addresses[0]} port 53, where the node's DNS cache answers, is blocked; add an ipBlock"
                )
                yield Problem(Place(policy, (*path, of_dns[0], "to")), message)


def egress_rules(policy: Manifest) -> Iterator[dict[str, Any]]:
    """Yield a policy's egress rules."""
    yield from (rule for _, rule in policy.at("spec", "egress", "*", of=dict))


def covers(policy: Manifest, other: Manifest) -> bool:
    """Say whether a policy selects all pods of another: the same pods, or all of the namespace."""
    selector = policy.get("spec", "podSelector")
    return not selector or selector == other.get("spec", "podSelector")


def policy_types(policy: Manifest) -> list[Any]:
    """Return the directions that a policy restricts; both if policyTypes is missing."""
    found = policy.get("spec", "policyTypes")
    return found if isinstance(found, list) else ["Ingress", "Egress"]


def is_dns(rule: dict[str, Any]) -> bool:
    """Say whether a rule is for DNS: it names port 53."""
    ports = rule.get("ports")
    return any(port.get("port") in DNS for port in ports or () if isinstance(port, dict))


def allows(rule: dict[str, Any], address: str) -> bool:
    """Say whether a rule allows DNS to an address: on port 53 or all ports, to all or a block with it."""
    if rule.get("ports") and not is_dns(rule):
        return False
    peers = rule.get("to")
    if not peers:
        return True
    for peer in peers if isinstance(peers, list) else ():
        block = peer.get("ipBlock") if isinstance(peer, dict) else None
        if isinstance(block, dict) and is_within(address, block.get("cidr")):
            return not any(is_within(address, item) for item in block.get("except") or ())
    return False


def is_within(address: str, cidr: Any) -> bool:
    """Say whether an address is in a range; False if the range is invalid."""
    try:
        return ipaddress.ip_address(address) in ipaddress.ip_network(str(cidr), strict=False)
    except ValueError:
        return False
