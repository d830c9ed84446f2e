"""The kubelet's last look at a pod: room, node selectors, ports.

Source: kubernetes v1.35.4 pkg/kubelet/lifecycle/predicate.go. The scheduler asks the same of the
node before it sends a pod (pkg/scheduler/eventhandlers.go AdmissionCheck).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trainyard.upstream.kubelet.outcomes import Refused
from trainyard.upstream.pods.demand import Resources
from trainyard.upstream.pods.pod import Pod, host_ports
from trainyard.upstream.pods.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, is_huge_page, is_native
from trainyard.upstream.pods.selection import has_labels, meets, required_of

PORTS = "node(s) didn't have free ports for the requested pod ports"

ANY_ADDRESS = "0.0.0.0"  # noqa: S104  # what a port without an address takes


@dataclass(frozen=True)
class Node:
    """What predicates know of a node: its name, its labels, and what it offers."""

    name: str
    labels: Mapping[str, str]
    allocatable: Resources


@dataclass(frozen=True)
class Lack:
    """A resource of which a node has too little left, in thousandths of CPUs, or in bytes or pieces."""

    resource: str
    requested: int
    used: int
    capacity: int

    @property
    def said(self) -> str:
        """The scheduler's words."""
        return "Too many pods" if self.resource == PODS else f"Insufficient {self.resource}"

    @property
    def missing(self) -> int:
        """How much would have to come free."""
        return self.requested - (self.capacity - self.used)

    def refused(self) -> Refused:
        """Return the kubelet's refusal."""
        message = (
            f"Node didn't have enough resource: {self.resource}, requested: {self.requested}, "
            f"used: {self.used}, capacity: {self.capacity}"
        )
        return Refused(f"OutOf{self.resource}", message)


@dataclass(frozen=True)
class Mismatch:
    """A demand of the pod that the node does not meet; no room that comes free would help."""

    predicate: str
    said: str

    def refused(self) -> Refused:
        """Return the kubelet's refusal."""
        return Refused(self.predicate, f"Predicate {self.predicate} failed: {self.said}")


def failures(pod: Pod, node: Node, others: Sequence[Pod]) -> Iterator[Lack | Mismatch]:
    """Yield all that speaks against a pod on a node beside others; the first is what the kubelet says."""
    yield from _lacks(pod, node, others)
    if not is_selected(pod.spec, node):
        yield Mismatch("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")
    if pod.spec.get("nodeName") not in (None, "", node.name):
        yield Mismatch("NodeName", "node(s) didn't match the requested node name")
    if _ports_taken(pod, others):
        yield Mismatch("NodePorts", PORTS)


def known_here(pod: Pod, node: Node) -> Pod:
    """Return the pod without requests for devices that the node has none of: the kubelet leaves them out."""
    kept = tuple(
        replace(
            container, requests={name: amount for name, amount in container.requests.items() if _is_kept(name, node)}
        )
        for container in pod.containers
    )
    return replace(pod, containers=kept)


def foreign_system(pod: Pod) -> Refused | None:
    """Return the refusal of a pod that is made for another operating system than Linux."""
    if pod.labels.get("kubernetes.io/os", "linux") != "linux":
        message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label"
        return Refused("PodOSSelectorNodeLabelDoesNotMatch", message)
    if (pod.spec.get("os") or {}).get("name", "linux") != "linux":
        return Refused("PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS")
    return None


def amount_of(resources: Resources, name: str) -> int:
    """Return an amount as the scheduler counts it: CPUs in thousandths, everything else whole."""
    amount = resources.get(name)
    if amount is None:
        return 0
    return amount.milli_value() if name == CPU else amount.value()


def is_device(name: str) -> bool:
    """Whether a resource is one of device plugins, or of nobody that Kubernetes knows."""
    return not is_native(name) and not name.startswith("requests.")


def _is_kept(name: str, node: Node) -> bool:
    return not is_device(name) or name in node.allocatable


def _lacks(pod: Pod, node: Node, others: Sequence[Pod]) -> Iterator[Lack]:
    room = amount_of(node.allocatable, PODS)
    if len(others) + 1 > room:
        yield Lack(PODS, 1, len(others), room)
    for name in (CPU, MEMORY, EPHEMERAL_STORAGE, *sorted(_scalars(pod))):
        requested = amount_of(pod.asked, name)
        taken, offered = sum(amount_of(other.asked, name) for other in others), amount_of(node.allocatable, name)
        if requested > 0 and requested > offered - taken:
            yield Lack(name, requested, taken, offered)


def _scalars(pod: Pod) -> Iterator[str]:
    for name in pod.asked:
        if is_device(name) or is_huge_page(name) or "kubernetes.io/" in name or name.startswith("attachable-volumes-"):
            yield name


def _ports_taken(pod: Pod, others: Sequence[Pod]) -> bool:
    wanted = list(host_ports(pod))
    if not wanted:
        return False
    taken = [port for other in others for port in host_ports(other)]
    return any(
        (protocol, number) == (their_protocol, their_number) and (address == theirs or ANY_ADDRESS in (address, theirs))
        for address, protocol, number in wanted
        for theirs, their_protocol, their_number in taken
    )


def is_selected(spec: Mapping[str, Any], node: Node) -> bool:
    """Whether a node has what a pod's node selector and required node affinity ask for."""
    required = required_of(spec)
    return has_labels(spec.get("nodeSelector") or {}, node.labels) and (
        required is None or meets(required, node.name, node.labels)
    )
