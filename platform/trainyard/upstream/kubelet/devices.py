"""The device manager: hints by where devices sit, and which of them a container gets (cm/devicemanager)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from trainyard.upstream.kubelet.hints import Hints, Opinion
from trainyard.upstream.kubelet.machine import Device, Machine
from trainyard.upstream.kubelet.outcomes import Refusal
from trainyard.upstream.kubelet.sets import mask, subsets, union
from trainyard.upstream.pods.demand import Container, Resources, at_one_time, limits_of
from trainyard.upstream.pods.pod import Pod

Ids = Mapping[str, tuple[str, ...]]
"""Ids of devices by resource."""


@dataclass
class Devices:
    """The device manager: which devices the containers of each pod have."""

    machine: Machine
    narrow: bool = False
    """Whether hints are made of the NUMA nodes alone that have a device of the resource, as from 1.36 on."""
    given: dict[str, dict[str, Ids]] = field(default_factory=dict)

    def copy(self) -> Devices:
        """Return another one with the same containers."""
        return Devices(self.machine, self.narrow, {pod: dict(devices) for pod, devices in self.given.items()})

    def free(self, resource: str) -> list[Device]:
        """Return healthy devices that no container has, in the machine's order."""
        used = {name for pod in self.given.values() for ids in pod.values() for name in ids.get(resource, ())}
        return [device for device in self.machine.devices[resource] if device.healthy and device.id not in used]

    def walks(self, pod: Pod) -> int:
        """Return the number of NUMA nodes all of whose sets the kubelet walks through for the pod."""
        asked = {name for container in pod.containers for name in self._requested(container.limits)}
        return max((self._walked(resource).bit_count() for resource in asked if self._placed(resource)), default=0)

    def container_hints(self, container: Container, reusable: Ids) -> Iterator[tuple[str, Opinion]]:
        """Yield for each resource where the container's devices fit."""
        for resource, count in self._requested(container.limits).items():
            yield resource, self._hints(resource, count, reusable.get(resource, ()))

    def pod_hints(self, pod: Pod) -> Iterator[tuple[str, Opinion]]:
        """Yield for each resource where the pod's devices fit, as many as it has at one time."""
        for resource, count in self._requested(at_one_time(pod.containers, limits_of)).items():
            yield resource, self._hints(resource, count, ())

    def allocate(self, pod: Pod, container: Container, nodes: int | None, reusable: Ids) -> Ids:
        """Give the container its devices and return what later ones of its pod may use again. Raises Refusal."""
        own: dict[str, tuple[str, ...]] = {}
        for resource, count in self._requested(container.limits).items():
            chosen = self._pick(resource, count, nodes, reusable.get(resource, ()))
            if chosen:
                own[resource] = tuple(chosen)
        self.given.setdefault(pod.uid, {})[container.name] = own
        left = {
            resource: tuple(name for name in ids if name not in own.get(resource, ()))
            for resource, ids in reusable.items()
        }
        if container.init and not container.restartable:
            return {resource: (*left.get(resource, ()), *own.get(resource, ())) for resource in {**left, **own}}
        return left

    def forget(self, pod: str) -> None:
        """Take back what a pod's containers had."""
        self.given.pop(pod, None)

    def _requested(self, limits: Resources) -> dict[str, int]:
        return {name: amount.value() for name, amount in limits.items() if name in self.machine.devices}

    def _placed(self, resource: str) -> bool:
        """Tell whether any of the resource's devices says where it sits: then those that do not are nowhere."""
        return any(device.numa for device in self.machine.devices[resource])

    def _walked(self, resource: str) -> int:
        """Return the NUMA nodes of which hints for the resource are made."""
        own = self.machine.numa_nodes & union(_place(device) for device in self.machine.devices[resource])
        return own if self.narrow and own else self.machine.numa_nodes

    def _hints(self, resource: str, count: int, reusable: Iterable[str]) -> Opinion:
        """Return sets of NUMA nodes with enough devices that hold all that are to be used again.

        None where no device has a place.
        """
        if not self._placed(resource):
            return None
        again = set(reusable)
        free = self.free(resource)
        if len(free) + len(again) < count:
            return Hints()
        devices = self.machine.devices[resource]
        held = [_place(device) for device in devices if device.id in again and device.numa is not None]
        every, usable = _places(devices), _places(free)
        for nodes in held:
            usable[nodes] += 1
        walked = self._walked(resource)
        least = walked.bit_count()
        fits = []
        for nodes in subsets(walked):
            if nodes.bit_count() < least and _within(every, nodes) >= count:
                least = nodes.bit_count()
            if _within(usable, nodes) >= count and all(nodes & place for place in held):
                fits.append(nodes)
        return Hints.sorted(fits, lambda nodes: nodes.bit_count() == least)

    def _pick(self, resource: str, count: int, nodes: int | None, reusable: Iterable[str]) -> list[str]:
        """Return ids for a container: those to be used again, then aligned ones, then what the plugin prefers."""
        if not any(device.healthy for device in self.machine.devices[resource]):
            raise Refusal(f"no healthy devices present; cannot allocate unhealthy devices {resource}")
        chosen = list(reusable)[:count]
        missing = count - len(chosen)
        if not missing:
            return chosen
        free = self.free(resource)
        if len(free) < missing:
            words = f"requested number of devices unavailable for {resource}"
            raise Refusal(f"{words}. Requested: {missing}, Available: {len(free)}")
        if nodes is None or not self._placed(resource):
            nodes = 0
        aligned = [device for device in free if _place(device) & nodes]
        others = [device for device in free if device not in aligned]
        if resource in self.machine.unadvised and nodes:
            others.sort(key=lambda device: not device.numa)
        return [*chosen, *(device.id for device in [*aligned, *others][:missing])]


def _places(devices: Iterable[Device]) -> Counter[int]:
    """Count devices by the set of NUMA nodes that they report."""
    return Counter(_place(device) for device in devices)


def _place(device: Device) -> int:
    """Return the NUMA nodes that a device reports; -1, which a plugin takes from sysfs, is none."""
    return mask(node for node in device.numa or () if node >= 0)


def _within(places: Mapping[int, int], nodes: int) -> int:
    return sum(count for place, count in places.items() if place & nodes)
