"""A network has an address for each pod of a job that names it, and none of the cluster's own.

Why: A pod that gets no address stays in ContainerCreating, and the others of the gang wait for it. Of two pods with one
 address neither is reached. A range of the cluster's own leads packets for its pods and Services into the network.
Fix: use a range of whereabouts that is wide enough, and apart from the cluster's ranges.
Source: k8snetworkplumbingwg/whereabouts v0.9.4 pkg/iphelpers GetIPRange, pkg/allocate IterateForAssignment;
 containernetworking/plugins v1.8 plugins/ipam/static, plugins/ipam/host-local
"""

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Manifest, Place, Pods, Problem, Severity, World, gangs, json_object, maps_in

LARGE = 22
"""Bits of host numbers from which a range has addresses for every gang."""


def check(world: World) -> Iterator[Problem]:
    """Compare the pods of each job with the addresses of the networks that they name, of each network once."""
    networks = dict(configured(world))
    for network, (place, ipam) in networks.items() if world.inventory is not None else ():
        yield from overlapping(place, network[1], ipam, ranges(world))
    told = set()
    for job in world.training_jobs() if networks else ():
        for pods in job.pod_sets():
            named = pods.networks()
            for network in sorted({*named} & networks.keys() - told):
                place, ipam = networks[network]
                if (fault := fault_of(pods, network[1], named.count(network), ipam)) is not None:
                    told.add(network)
                    yield Problem(place, *fault)


def configured(world: World) -> Iterator[tuple[tuple[str, str], tuple[Place, Mapping[str, Any]]]]:
    """Yield each network, by its namespace and name, with how it gives addresses, and where that is written."""
    for network in world.of("NetworkAttachmentDefinition", group="k8s.cni.cncf.io"):
        config = read(network, "config")
        for plugin in (config, *maps_in(config.get("plugins"))):
            if isinstance(ipam := plugin.get("ipam"), dict):
                yield (network.namespace or "default", network.name), (Place(network, ("spec", "config")), ipam)
    for kind in ("SriovNetwork", "SriovIBNetwork", "MacvlanNetwork", "HostDeviceNetwork", "IPoIBNetwork"):
        for network in world.of(kind):
            namespace = network.text("spec", "networkNamespace") or network.namespace or "default"
            yield (namespace, network.name), (Place(network, ("spec", "ipam")), read(network, "ipam"))


def ranges(world: World) -> dict[str, str]:
    """Return the described address ranges of the cluster's own network, by who has them."""
    cidrs = world.inventory.cidrs if world.inventory is not None else None
    return {"pods": cidrs.pods, "Services": cidrs.services} if cidrs else {}


def overlapping(place: Place, name: str, ipam: Mapping[str, Any], own: Mapping[str, str]) -> Iterator[Problem]:
    """Yield a range of whereabouts or host-local that has addresses of the cluster's own network."""
    try:
        given = ipaddress.ip_network(str(ipam.get("range") or ipam.get("subnet")), strict=False)
    except ValueError:
        return
    for whose, cidr in own.items():
        taken = ipaddress.ip_network(cidr, strict=False)
        if taken.version == given.version and taken.overlaps(given):
            message = f"network {name!r} has range {given}, which overlaps {cidr} of {whose}; use another range"
            yield Problem(place, message)


def read(network: Manifest, field: str) -> Mapping[str, Any]:
    """Return the JSON object in a field; empty where there is none."""
    return json_object(network.text("spec", field)) or {}


def fault_of(pods: Pods, name: str, each: int, ipam: Mapping[str, Any]) -> tuple[str, None, Severity | None] | None:
    """Return message, fix and weight of what keeps pods from having an address each; None where nothing does."""
    wanted = pods.count * each
    if ipam.get("type") == "static" and ipam.get("addresses") and wanted > 1:
        message = f"network {name!r} gives each of the {wanted} pods the same address; use whereabouts"
        return message, None, None
    if ipam.get("type") == "host-local" and pods.count > 1 and any(gangs(pods)):
        message = f"network {name!r} gives the same addresses on each node, so two ranks get one; use whereabouts"
        return message, None, Severity.WARNING
    if ipam.get("type") == "whereabouts" and not ipam.get("ipRanges"):
        there = usable(ipam)
        if there is not None and there < wanted:
            message = f"network {name!r} has {there} addresses, but the pods need {wanted}; widen its range"
            return message, None, None
    return None


def usable(ipam: Mapping[str, Any]) -> int | None:
    """Return how many addresses whereabouts gives out; None where that is unknown, or enough for anybody."""
    try:
        net = ipaddress.ip_network(str(ipam.get("range")).partition("-")[2] or str(ipam.get("range")), strict=False)
        if net.max_prefixlen - net.prefixlen > LARGE or "-" in str(ipam.get("range")):
            return None
        first, last = int(net.network_address) + 1, int(net.broadcast_address) - 1
        for field in ("range_start", "range_end"):
            given = int(ipaddress.ip_address(ipam[field])) if ipam.get(field) else None
            if given is not None and first <= given <= last:
                first, last = (given, last) if field == "range_start" else (first, given)
        left = range(first, last + 1)
        without = [ipaddress.ip_network(str(item), strict=False) for item in ipam.get("exclude") or ()]
    except (ValueError, TypeError):
        return None
    gone = {
        number
        for item in without
        for number in range(max(first, int(item.network_address)), min(last, int(item.broadcast_address)) + 1)
    }
    return max(0, len(left) - len(gone))
