"""Run a job's rendered objects here: the pods that controllers make of them, and what the kubelet makes of those."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.faces.local.controllers import Objects, RunError, controller_of
from trainyard.faces.local.controllers.base import NAMESPACE, Controller, Object, name_of
from trainyard.faces.local.door import admit, check_name, few, reporting
from trainyard.faces.local.kubelet import Container, Resolved, resolve
from trainyard.faces.local.names import known_addresses
from trainyard.upstream.apiserver.meta.names import dns_subdomain
from trainyard.upstream.workloads import with_held

__all__ = ["NAMESPACE", "Container", "Resolved", "RunError", "Work", "pods", "work_of"]

NETWORK = "10.77"
"""First half of the pods' addresses."""


@dataclass(frozen=True, slots=True)
class Work:
    """One object that pods are made of, all its pods, and what is beside it."""

    controller: Controller
    value: Object
    pods: tuple[Resolved, ...]
    objects: Objects
    """Those that were given, and those that the controller makes."""

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """The addresses of every name that resolves."""
        addresses = {pod.pod.name: pod.address for pod in self.pods}
        return known_addresses((pod.pod for pod in self.pods), self.objects, addresses)


def address(number: int) -> str:
    """Return the address of a pod by its place among all; the first is another's."""
    return f"{NETWORK}.{(number + 2) // 256}.{(number + 2) % 256}"


def work_of(objects: Iterable[Mapping[str, Any]]) -> tuple[Work, ...]:
    """Return the work of each workload, also of those that others hold: its controller, its pods and objects.

    Raises RunError where an object cannot be what it says, names one that is not there, or its controller would make no
    pods of it.
    """
    given = Objects.of(with_held(objects))
    for value in given.values:
        admit(value)
    works: list[Work] = []
    number = 0
    for value in given.values:
        controller = controller_of(value)
        if controller is None:
            continue
        who = f"{controller.kind} {name_of(value)!r}"
        resolved = []
        with reporting(who):
            made = controller.make(value, given)
            beside = Objects.of((*given.values, *made.objects))
            few(who, number + len(made.pods))
            for pod in made.pods:
                check_name(f"pod {pod.name!r:.80}", "name", pod.name, dns_subdomain(pod.name))
                resolved.append(resolve(pod, beside, address(number)))
                number += 1
        works.append(Work(controller, value, tuple(resolved), beside))
    return tuple(works)


def pods(objects: Iterable[Mapping[str, Any]]) -> tuple[Resolved, ...]:
    """Return all pods of all objects, each with its containers' final command lines and environments."""
    return tuple(pod for work in work_of(objects) for pod in work.pods)
