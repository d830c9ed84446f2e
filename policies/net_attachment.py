"""The networks that a pod names can be read and attached.

Why: Multus reads the annotation and the configuration when it sets up the pod's network. If it cannot, or an interface
 has a name that Linux refuses, the pod stays in ContainerCreating while the gang's quota is held.
Fix: write names with commas, or JSON; give each interface a name of its own of at most 15 characters.
Source: k8snetworkplumbingwg/multus-cni v4.3.0 pkg/k8sclient/k8sclient.go parsePodNetworkAnnotation,
 pkg/multus/multus.go validateIfName; containernetworking/cni v1.2.3 pkg/utils/utils.go ValidateInterfaceName,
 libcni/conf.go
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import NETWORKS, Place, Problem, World

NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
"""Of a network and a namespace, in the form with commas."""

MOST = 15
"""Characters of an interface's name."""

TAKEN = {"eth0", "lo"}
"""Interfaces that each pod has."""


def check(world: World) -> Iterator[Problem]:
    """Look at the annotation of all pods, and at the configuration of all networks."""
    for job in world.workloads():
        for pods in job.pod_sets():
            text = pods.annotations.get(NETWORKS, "").strip()
            if text and (fault := fault_of(text)):
                yield Problem(pods.place("metadata", "annotations", NETWORKS), fault)
    for network in world.of("NetworkAttachmentDefinition", group="k8s.cni.cncf.io"):
        for path, text in network.at("spec", "config", of=str):
            if text.strip() and (fault := unusable(text)):
                yield Problem(Place(network, path), fault)
    for kind in ("SriovNetwork", "SriovIBNetwork"):
        for network in world.of(kind):
            for path, text in network.at("spec", "ipam", of=str):
                if text.strip() and read(text) is None:
                    message = "ipam is no JSON object, so no network is made of it; correct it"
                    yield Problem(Place(network, path), message)


def fault_of(text: str) -> str | None:
    """Return what is wrong with the networks that a pod names, None where nothing is."""
    if re.search(r"[\[{\"]", text):
        try:
            named = json.loads(text)
        except (ValueError, RecursionError):
            return "the networks are no valid JSON, so the pod never starts; correct it"
        if not isinstance(named, list) or not all(isinstance(entry, dict) for entry in named):
            return "the networks must be a JSON list of objects, else the pod never starts"
        interfaces = [str(entry.get("interface") or "") for entry in named]
    else:
        parts = [re.split(r"[/@]", item.strip()) for item in text.split(",")]
        for item, part in zip(text.split(","), parts, strict=True):
            names = part[: 2 if "/" in item.partition("@")[0] else 1]
            if not all(NAME.fullmatch(name.strip()) for name in names if name) or not names[-1].strip():
                return f"{item.strip()!r} names no network, so the pod never starts; write namespace/name@interface"
        interfaces = [item.partition("@")[2].strip() for item in text.split(",")]
    return interface_fault(interfaces)


def interface_fault(interfaces: list[str]) -> str | None:
    """Return what is wrong with the names of further interfaces; by default they are net1, net2 and so on."""
    seen = set(TAKEN)
    for number, name in enumerate(interfaces, 1):
        given = name or f"net{number}"
        if len(given.encode()) > MOST or re.search(r"[/:\s]", given):
            return f"Linux allows no interface {given!r}; use at most {MOST} characters, without / and :"
        if given in seen:
            return f"the pod would have two interfaces {given!r}, so it never starts; give each its own name"
        seen.add(given)
    return None


def unusable(text: str) -> str | None:
    """Return why no plugin can be run for a network's configuration, None where one can."""
    config = read(text)
    if config is None:
        return "config is no JSON object, so pods that use this network never start; correct it"
    plugins = config.get("plugins")
    named = plugins if isinstance(plugins, list) else [config]
    if not all(isinstance(plugin, dict) and plugin.get("type") for plugin in named):
        return "config names no plugin, so pods that use this network never start; add type"
    return None


def read(text: str) -> Mapping[str, Any] | None:
    """Return a text's JSON object, None where it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
