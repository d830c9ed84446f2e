"""A pod as the kubelet sees it: its containers with their resources, its quality of service, what it asks for.

Defaults are those of the API server (kubernetes v1.35 pkg/apis/core/v1/defaults.go): requests follow limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from trainyard.pods.demand import (
    CPU,
    MEMORY,
    Container,
    Resources,
    added,
    asked_without_overhead,
    is_huge_page,
    is_pod_level,
    rounded,
    together,
)
from trainyard.quantities import Quantity

QoS = Literal["Guaranteed", "Burstable", "BestEffort"]
EPHEMERAL_STORAGE, PODS = "ephemeral-storage", "pods"

CRITICAL = 2_000_000_000
"""Priority from which a pod is critical (kubernetes v1.35 pkg/apis/scheduling/types.go SystemCriticalPriority)."""


@dataclass(frozen=True)
class Pod:
    """A pod that the API server has taken, with its defaults."""

    name: str
    containers: tuple[Container, ...]
    """Init containers first, each kind in its order."""
    uid: str = ""
    requests: Resources = field(default_factory=dict)
    """Pod-level requests, empty where there are none."""
    limits: Resources = field(default_factory=dict)
    """Pod-level limits, empty where there are none."""
    pod_level: bool = False
    """Whether the pod has resources of its own (`spec.resources`), even empty ones."""
    overhead: Resources = field(default_factory=dict)
    priority: int | None = None
    static: bool = False
    """Whether it is no pod of the API server but a file's, or the mirror of one."""
    pending: bool = False
    """Whether its phase says that none of its containers has started."""
    spec: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    stated_qos: QoS | None = None

    @staticmethod
    def read(value: Mapping[str, Any], *, uid: str | None = None) -> Pod:
        """Return the pod of a manifest, which is taken to be one that decodes.

        A pod of no UID gets the one given, or its name. Raises ValueError for a quantity that is none.
        """
        metadata, spec, status = (value.get(key) or {} for key in ("metadata", "spec", "status"))
        containers = tuple(
            _container(each, init=init)
            for init, key in ((True, "initContainers"), (False, "containers"))
            for each in spec.get(key) or ()
        )
        own = spec.get("resources")
        requests = _amounts(own or {}, "requests")
        limits = _huge_page_limits(containers, requests, _amounts(own or {}, "limits"))
        name = metadata.get("name") or ""
        return Pod(
            name=name,
            containers=containers,
            uid=metadata.get("uid") or (name if uid is None else uid),
            requests=_pod_requests(containers, requests, limits),
            limits=limits,
            pod_level=own is not None,
            overhead=_amounts(spec, "overhead"),
            priority=spec.get("priority"),
            static=_is_static(metadata.get("annotations") or {}),
            pending=status.get("phase") == "Pending",
            spec=spec,
            labels=metadata.get("labels") or {},
            stated_qos=status.get("qosClass") or None,
        )

    @property
    def init_containers(self) -> tuple[Container, ...]:
        """The containers that run before the others, sidecars among them."""
        return tuple(each for each in self.containers if each.init)

    @property
    def app_containers(self) -> tuple[Container, ...]:
        """The containers that run side by side once the init containers are done."""
        return tuple(each for each in self.containers if not each.init)

    @property
    def critical(self) -> bool:
        """Whether the kubelet ends other pods to make room for it."""
        return self.static or (self.priority is not None and self.priority >= CRITICAL)

    @cached_property
    def qos(self) -> QoS:
        """The quality of service (kubernetes v1.35 pkg/apis/core/v1/helper/qos/qos.go)."""
        return self.stated_qos or self._computed_qos()

    def _computed_qos(self) -> QoS:
        if self.pod_level:
            complete = not self.limits or {CPU, MEMORY} <= _compute(self.limits).keys()
            requests, limits = _compute(self.requests), _compute(self.limits)
        else:
            complete = all({CPU, MEMORY} <= _compute(each.limits).keys() for each in self.containers)
            requests = added(_compute(each.requests) for each in self.containers)
            limits = added(_compute(each.limits) for each in self.containers)
        if not requests and not limits:
            return "BestEffort"
        return "Guaranteed" if complete and requests == limits else "Burstable"

    @property
    def guaranteed(self) -> bool:
        """Whether the pod's quality of service is Guaranteed."""
        return self.qos == "Guaranteed"

    @cached_property
    def asks_as_a_whole(self) -> bool:
        """Whether the pod has requests or limits of its own (IsPodLevelResourcesSet)."""
        return any(is_pod_level(name) for name in (*self.requests, *self.limits))

    @cached_property
    def pinned(self) -> bool:
        """Whether the static policies serve the pod: Guaranteed, and without pod-level resources."""
        return self.guaranteed and not self.asks_as_a_whole

    @cached_property
    def asked(self) -> Resources:
        """What the pod asks of a node: its containers or its pod-level requests, and its overhead."""
        return added((self.without_overhead, self.overhead))

    @cached_property
    def without_overhead(self) -> Resources:
        """What the pod asks for without its overhead."""
        return asked_without_overhead(self.containers, self.requests)


def host_ports(pod: Pod) -> Iterator[tuple[str, str, int]]:
    """Yield address, protocol and port of whatever the pod takes of its node's ports."""
    same = bool(pod.spec.get("hostNetwork"))
    for key in ("initContainers", "containers"):
        for container in pod.spec.get(key) or ():
            if key == "initContainers" and container.get("restartPolicy") != "Always":
                continue
            for port in container.get("ports") or ():
                number = port.get("hostPort") or (port.get("containerPort") if same else 0)
                if number:
                    yield port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", number  # noqa: S104


def _container(value: Mapping[str, Any], *, init: bool) -> Container:
    resources = value.get("resources") or {}
    limits = _amounts(resources, "limits")
    return Container(
        name=value.get("name") or "",
        requests={**limits, **_amounts(resources, "requests")},
        limits=limits,
        init=init,
        restartable=init and value.get("restartPolicy") == "Always",
    )


def _amounts(value: Mapping[str, Any], key: str) -> dict[str, Quantity]:
    return {name: rounded(Quantity.parse(amount)) for name, amount in (value.get(key) or {}).items()}


def _huge_page_limits(containers: tuple[Container, ...], requests: Resources, limits: Resources) -> Resources:
    """Return pod-level limits with those of huge pages that containers have (defaults.go defaultHugePagePodLimits)."""
    if not requests and not limits:
        return limits
    own = together(containers, "limits")
    return {**{name: own[name] for name in own if is_huge_page(name) and name not in requests}, **limits}


def _pod_requests(containers: tuple[Container, ...], requests: Resources, limits: Resources) -> Resources:
    """Return pod-level requests: as written, else of all containers, else as the limits (defaultPodRequests)."""
    if not limits:
        return requests
    own = together(containers, "requests")
    out = dict(requests)
    for name in (CPU, MEMORY):
        if name in own:
            out.setdefault(name, own[name])
    for name, amount in limits.items():
        if is_pod_level(name):
            out.setdefault(name, amount)
    return out


def _compute(amounts: Resources) -> dict[str, Quantity]:
    return {name: amount for name, amount in amounts.items() if name in (CPU, MEMORY) and amount.amount > 0}


def _is_static(annotations: Mapping[str, str]) -> bool:
    """Whether annotations say so (kubernetes v1.35 pkg/kubelet/types/pod_update.go)."""
    source = annotations.get("kubernetes.io/config.source")
    return "kubernetes.io/config.mirror" in annotations or (source is not None and source != "api")
