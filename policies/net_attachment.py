"""The networks that a pod names can be read and attached.

Why: Multus reads the annotation and the configuration when it sets up the pod's network. If it cannot, or Linux refuses
 the name of an interface, the pod stays in ContainerCreating. The gang keeps its quota meanwhile.
Fix: write names with commas, or JSON; give each interface a name of its own of at most 15 characters.
Source: k8snetworkplumbingwg/multus-cni v4.3.0 pkg/k8sclient/k8sclient.go parsePodNetworkAnnotation,
 pkg/multus/multus.go validateIfName; containernetworking/cni v1.2.3 pkg/utils/utils.go ValidateInterfaceName,
 libcni/conf.go
"""

import json
import re
from collections.abc import Iterator

from trainyard.checks import (
    NETWORK_RESOURCE,
    NETWORKS,
    Manifest,
    Place,
    Problem,
    Severity,
    World,
    json_object,
    maps_in,
)

PART = re.compile(r"(?:(?:{0})?\s*/)?\s*{0}\s*(?:@[^@]*)?".format("[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"))
"""A network in the form with commas."""

JSON = re.compile(r"[\[{\"]")
"""By which Multus tells JSON from the form with commas."""

MOST = 15
"""Characters of an interface's name."""

DEVICELESS = {"macvlan", "ipvlan", "bridge", "vlan", "ptp"}
"""Plugins that make an interface of their own and look at no device (containernetworking/plugins v1.8)."""

CHAINED = {"tuning", "rdma", "sbr", "bandwidth", "portmap", "vrf", "firewall"}
"""Plugins behind another, which attach nothing."""

SHARED = "rdma/"
"""Before devices that pods share, beside whichever interface they have."""

TAKEN = {"eth0", "lo"}
"""Interfaces that each pod has."""


def check(world: World) -> Iterator[Problem]:
    """Look at the annotation of all pods, and at the configuration of all networks."""
    for job in world.workloads():
        for pods in job.pod_sets():
            text = pods.annotations.get(NETWORKS, "").strip()
            if text:
                yield from unreadable(pods.place("metadata", "annotations", NETWORKS), text)
    for network in world.of("NetworkAttachmentDefinition", group="k8s.cni.cncf.io"):
        for path, text in network.at("spec", "config", of=str):
            if text.strip():
                yield from unusable(Place(network, path), text)
                yield from without_device(network, text)
    for kind in ("SriovNetwork", "SriovIBNetwork", "HostDeviceNetwork", "MacvlanNetwork", "IPoIBNetwork"):
        for network in world.of(kind):
            for path, text in network.at("spec", "ipam", of=str):
                if text.strip() and json_object(text) is None:
                    message = "ipam is no JSON object, so no network is made of it; correct it"
                    yield Problem(Place(network, path), message)


def unreadable(place: Place, text: str) -> Iterator[Problem]:
    """Yield the problem with the networks that a pod names."""
    parts = [part.strip() for part in text.split(",")]
    wrong = next((part for part in parts if not PART.fullmatch(part)), None)
    if not JSON.search(text):
        if wrong is None:
            yield from clashing(place, [part.partition("@")[2].strip() for part in parts])
        else:
            message = f"{wrong!r} names no network, so the pod never starts; write namespace/name@interface"
            yield Problem(place, message)
        return
    try:
        named = json.loads(text)
    except (ValueError, RecursionError):
        yield Problem(place, "the networks are no valid JSON, so the pod never starts; correct it")
        return
    if isinstance(named, list) and all(isinstance(entry, dict) for entry in named):
        yield from clashing(place, [str(entry.get("interface") or "") for entry in named])
    else:
        yield Problem(place, "the networks must be a JSON list of objects, else the pod never starts")


def clashing(place: Place, interfaces: list[str]) -> Iterator[Problem]:
    """Yield the first interface that the pod cannot have; without a name they are net1, net2 and so on."""
    seen = set(TAKEN)
    for number, name in enumerate(interfaces, 1):
        given = name or f"net{number}"
        if len(given.encode()) > MOST or re.search(r"[/:\s]", given):
            message = f"Linux allows no interface {given!r}; use at most {MOST} characters, without / and :"
            yield Problem(place, message)
            return
        if given in seen:
            message = f"the pod would have two interfaces {given!r}, so it never starts; give each its own name"
            yield Problem(place, message)
            return
        seen.add(given)


def without_device(network: Manifest, text: str) -> Iterator[Problem]:
    """Yield a device that Multus takes for a network whose plugins attach none."""
    resource = network.annotations.get(NETWORK_RESOURCE, "")
    config = json_object(text) or {}
    plugins = {str(plugin.get("type")) for plugin in (config, *maps_in(config.get("plugins"))) if plugin.get("type")}
    taking = plugins & DEVICELESS
    if resource and not resource.startswith(SHARED) and taking and plugins <= DEVICELESS | CHAINED:
        message = f"plugin {min(taking)} attaches no device, so {resource!r} stays unused; use sriov or host-device"
        place = Place(network, ("metadata", "annotations", NETWORK_RESOURCE))
        yield Problem(place, message, severity=Severity.WARNING)


def unusable(place: Place, text: str) -> Iterator[Problem]:
    """Yield the problem with a network's configuration for which no plugin can be run."""
    config = json_object(text)
    plugins = config.get("plugins") if config is not None else None
    named = plugins if isinstance(plugins, list) else [config]
    if config is None:
        yield Problem(place, "config is no JSON object, so pods that use this network never start; correct it")
    elif not all(isinstance(plugin, dict) and plugin.get("type") for plugin in named):
        yield Problem(place, "config names no plugin, so pods that use this network never start; add type")
