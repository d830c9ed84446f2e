"""Pods of one kind, as whoever places them looks at them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from trainyard.labels import HOSTNAME
from trainyard.nodes import Pod, forms
from trainyard.nodes.predicates import is_device
from trainyard.pods.selection import has_labels, meets, required_of
from trainyard.pods.taints import Taint, Toleration, untolerated

ELSEWHERE = ("nodeSelector", "affinity", "nodeName")
"""Fields of a pod that say which nodes it may go to, whatever a kubelet has to say about it."""

NODE_AFFINITY = "node(s) didn't match Pod's node affinity/selector"
"""kubernetes v1.35.4 pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go."""

Spec = Mapping[str, Any]


@dataclass(frozen=True)
class Wanted:
    """Pods that are alike: their specification, and what they take that no kubelet counts."""

    spec: Spec
    namespace: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    takes: Mapping[str, int] = field(default_factory=dict)
    """Claimed devices and addresses by name: of a node, or of all nodes together."""

    @cached_property
    def form(self) -> str:
        """What a kubelet decides on: pods of one form are the same to it."""
        return json.dumps(self.manifest["spec"], sort_keys=True)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The pod as it arrives at a node that may take it."""
        spec = {name: value for name, value in self.spec.items() if name not in ELSEWHERE}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": forms.seen(spec, forms.SPEC)}

    @cached_property
    def devices(self) -> tuple[str, ...]:
        """The devices that it asks for."""
        return tuple(sorted(filter(is_device, Pod.read(self.manifest).asked)))

    @cached_property
    def filter(self) -> str:
        """What is asked of a node's labels and taints: pods with the same may go to the same nodes."""
        parts = (self.spec.get("nodeSelector"), required_of(self.spec), self.spec.get("tolerations"))
        return json.dumps(parts, sort_keys=True)

    @cached_property
    def by_name(self) -> bool:
        """Whether nodes are told apart by their names."""
        return HOSTNAME in self.filter or "matchFields" in self.filter

    @cached_property
    def tolerations(self) -> tuple[Toleration, ...]:
        """The taints that do it no harm."""
        return tuple(map(Toleration.read, self.spec.get("tolerations") or ()))

    def against(self, name: str, labels: Mapping[str, str], taints: Sequence[Taint]) -> str | None:
        """Return what the scheduler has against a node, whatever is on it; None where it has nothing."""
        taint = untolerated(taints, self.tolerations)
        if taint is not None:
            return f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"
        required = required_of(self.spec)
        fits = has_labels(self.spec.get("nodeSelector") or {}, labels)
        return None if fits and (required is None or meets(required, name, labels)) else NODE_AFFINITY

    @cached_property
    def affine(self) -> tuple[Spec, ...]:
        """The terms of pods that must be where it goes."""
        return self._terms("podAffinity")

    @cached_property
    def averse(self) -> tuple[Spec, ...]:
        """The terms of pods that must not be where it goes."""
        return self._terms("podAntiAffinity")

    @cached_property
    def spread(self) -> tuple[Spec, ...]:
        """How evenly pods must be spread over the values of labels."""
        every = self.spec.get("topologySpreadConstraints") or ()
        return tuple(each for each in every if each.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule")

    @property
    def social(self) -> bool:
        """Whether it matters which pods are on other nodes."""
        return bool(self.affine or self.averse or self.spread)

    def _terms(self, kind: str) -> tuple[Spec, ...]:
        found = (self.spec.get("affinity") or {}).get(kind) or {}
        return tuple(found.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
