"""Pods of one kind, as whoever places them looks at them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from trainyard.base.labels import HOSTNAME
from trainyard.base.quantities import Quantity
from trainyard.upstream.kubelet import Pod, forms
from trainyard.upstream.kubelet.predicates import amount_of, is_device
from trainyard.upstream.pods.demand import pod_requests, requests_of
from trainyard.upstream.pods.features import features_needed
from trainyard.upstream.pods.pod import WHOLE, is_whole
from trainyard.upstream.pods.resources import CPU, MEMORY
from trainyard.upstream.pods.selection import affinity_of, has_labels, meets, required_of
from trainyard.upstream.pods.taints import Taint, Toleration, untolerated_taint

ELSEWHERE = ("nodeSelector", "affinity", "nodeName")
"""Fields of a pod that say which nodes it may go to, whatever a kubelet has to say about it."""

NODE_AFFINITY = "node(s) didn't match Pod's node affinity/selector"
OTHER_NODE = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
CONFLICT = "pod affinity terms conflict"
"""kubernetes v1.35.4 pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go, pkg/scheduler/schedule_one.go."""

GATED = "Scheduling is blocked due to non-empty scheduling gates"
"""kubernetes v1.35.4 pkg/scheduler/backend/queue/scheduling_queue.go, of a pod's condition."""

HARD = "DoNotSchedule"

UNSAID = {CPU: Quantity.parse("100m"), MEMORY: Quantity.parse("200Mi")}
"""What a container is thought to use that does not say (kubernetes v1.35.4 pkg/scheduler/util/pod_resources.go)."""

Spec = Mapping[str, Any]


@dataclass(frozen=True)
class Wanted:
    """Pods that are alike: their specification, and what they take that no kubelet counts."""

    spec: Spec
    namespace: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    takes: Mapping[str, int] = field(default_factory=dict)
    """Claimed devices and addresses by name: of a node, or of all nodes together."""
    around: Mapping[str, str] = field(default_factory=dict)
    """Labels of their namespace."""

    @cached_property
    def form(self) -> str:
        """What a kubelet decides on: pods of one form are the same to it."""
        return json.dumps(self.manifest["spec"], sort_keys=True)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The pod as it arrives at a node that may take it."""
        spec = {name: value for name, value in self.spec.items() if name not in ELSEWHERE}
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "pod"},
            "spec": forms.select_form(spec, forms.SPEC),
        }

    @cached_property
    def pod(self) -> Pod:
        """The pod as a kubelet reads it."""
        return Pod.read(self.manifest)

    @cached_property
    def devices(self) -> tuple[str, ...]:
        """The devices that it asks for."""
        return tuple(sorted(filter(is_device, self.pod.asked)))

    def amount(self, resource: str) -> int:
        """Return how much of a resource it asks for, in thousandths of CPUs, bytes or pieces."""
        return amount_of(self.pod.asked, resource)

    def assumed(self, release: str) -> tuple[int, int]:
        """Return the CPUs in thousandths and the bytes that the scheduler of a release thinks it uses."""
        return self._assumed_whole if is_whole(release) and self.spec.get("resources") else self._assumed

    @cached_property
    def _assumed(self) -> tuple[int, int]:
        return assumed_amounts(self.pod)

    @cached_property
    def _assumed_whole(self) -> tuple[int, int]:
        return assumed_amounts(Pod.read(self.manifest, release=f"1.{WHOLE}"))

    def features(self, release: str, gates: frozenset[str]) -> tuple[str, ...]:
        """Return the features that its node has to declare, as the scheduler of a release with these gates sees it."""
        key = release, gates
        if key not in self._features:
            self._features[key] = features_needed(self.spec, release, gates)
        return self._features[key]

    @cached_property
    def _features(self) -> dict[tuple[str, frozenset[str]], tuple[str, ...]]:
        return {}

    @cached_property
    def filter(self) -> str:
        """What is asked of a node's labels and taints: pods with the same may go to the same nodes."""
        parts = (self.spec.get("nodeSelector"), required_of(self.spec), self.spec.get("tolerations"), self.gated)
        return json.dumps(parts, sort_keys=True)

    @cached_property
    def by_name(self) -> bool:
        """Whether nodes are told apart by their names."""
        return HOSTNAME in self.filter or "matchFields" in self.filter

    @cached_property
    def named(self) -> frozenset[str] | None:
        """The nodes that its required affinity names, None where one of its terms names none (PreFilter)."""
        found: frozenset[str] = frozenset()
        required = required_of(self.spec) or {}
        for term in required.get("nodeSelectorTerms") or ():
            fields = [
                match_field for match_field in term.get("matchFields") or () if match_field.get("operator") == "In"
            ]
            if not fields:
                return None
            found |= frozenset.intersection(*(frozenset(one_field.get("values") or ()) for one_field in fields))
        return found if required.get("nodeSelectorTerms") else None

    @cached_property
    def tolerations(self) -> tuple[Toleration, ...]:
        """The taints that do it no harm."""
        return tuple(map(Toleration.read, self.spec.get("tolerations") or ()))

    @property
    def gated(self) -> bool:
        """Whether somebody has to take a gate away before the scheduler looks at it."""
        return bool(self.spec.get("schedulingGates"))

    def against(self, name: str, labels: Mapping[str, str], taints: Sequence[Taint]) -> str | None:
        """Return the scheduler's objection to a node, whatever pods are on it; None where it has none."""
        if self.gated:
            return GATED
        if self.named is not None and name not in self.named:
            return OTHER_NODE if self.named else CONFLICT
        taint = untolerated_taint(taints, self.tolerations)
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
        return tuple(constraint for constraint in self._spread() if constraint.get("whenUnsatisfiable", HARD) == HARD)

    @cached_property
    def spread_if_possible(self) -> tuple[Spec, ...]:
        """How evenly pods should be spread, if nodes allow it."""
        return tuple(constraint for constraint in self._spread() if constraint.get("whenUnsatisfiable", HARD) != HARD)

    @cached_property
    def wishes(self) -> tuple[tuple[int, Spec], ...]:
        """The terms of pods near which it would rather be, with their weights: below zero for those that it avoids."""
        return (*self._preferred("podAffinity", 1), *self._preferred("podAntiAffinity", -1))

    @cached_property
    def choosy(self) -> bool:
        """Whether it prefers some nodes that would do, not only those with room."""
        node = affinity_of(self.spec).get("preferredDuringSchedulingIgnoredDuringExecution")
        return bool(node or self.wishes or self.spread_if_possible)

    @property
    def near_others(self) -> bool:
        """Whether it may find a node when others are placed, where it found none before."""
        return bool(self.affine or self.spread)

    @property
    def social(self) -> bool:
        """Whether it matters which pods are on other nodes."""
        return bool(self.affine or self.averse or self.spread)

    def _spread(self) -> Sequence[Spec]:
        return self.spec.get("topologySpreadConstraints") or ()

    def _preferred(self, kind: str, sign: int) -> Iterator[tuple[int, Spec]]:
        found = (self.spec.get("affinity") or {}).get(kind) or {}
        for term in found.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            yield sign * term["weight"], term["podAffinityTerm"]

    def _terms(self, kind: str) -> tuple[Spec, ...]:
        found = (self.spec.get("affinity") or {}).get(kind) or {}
        return tuple(found.get("requiredDuringSchedulingIgnoredDuringExecution") or ())


def assumed_amounts(pod: Pod) -> tuple[int, int]:
    """Return the CPUs in thousandths and the bytes that the scheduler thinks a pod uses."""
    containers = [replace(container, requests={**UNSAID, **container.requests}) for container in pod.containers]
    asked = pod_requests(containers, requests_of, own=pod.requests, overhead=pod.overhead)
    return amount_of(asked, CPU), amount_of(asked, MEMORY)
