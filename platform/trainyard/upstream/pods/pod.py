"""A pod that the API server has taken: its containers with their resources, its quality of service, what it asks for.

Defaults are those of the API server (kubernetes v1.35 pkg/apis/core/v1/defaults.go): requests follow limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_UP, Decimal
from functools import cached_property, lru_cache
from typing import Any, Final, Literal

from trainyard.base.quantities import Quantity
from trainyard.base.versions import minor
from trainyard.upstream.pods.demand import (
    Container,
    Resources,
    add_amounts,
    at_one_time,
    limits_of,
    pod_requests,
    requests_of,
)
from trainyard.upstream.pods.resources import CPU, MEMORY, is_huge_page, is_pod_level

QoS = Literal["Guaranteed", "Burstable", "BestEffort"]

CRITICAL = 2_000_000_000
"""Priority from which a pod is critical (kubernetes v1.35 pkg/apis/scheduling/types.go SystemCriticalPriority)."""

ALWAYS = "Always"
"""Restart policy of a sidecar (kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go ContainerRestartPolicy)."""

KINDS = ("initContainers", "containers")
"""Fields of a pod with containers, in the order in which these start."""

RELEASE: Final = "1.35"
"""The release of pods of which nobody says one."""

WHOLE: Final = 37
"""Minor from which limits of a pod as a whole follow from its containers, and its requests also where it has no limits.

Empty resources of a pod are none from then on. Sources: kubernetes v1.37.2 pkg/api/pod/util.go
DefaultPodLevelResources, pkg/apis/core/v1/helper/qos/qos.go; the gates PodLevelResourcesFixDefaulting and
PodLevelResourcesFixKubeletQOSClass are on.
"""

FINEST = Decimal("0.001")
"""Amounts of a pod are rounded up to thousandths (kubernetes v1.35 core/v1/defaults.go SetDefaults_ResourceList)."""

Read = Callable[[Any], Quantity | None]
"""Reads an amount; None for one that is left out."""


def round_amount(amount: Quantity) -> Quantity:
    """Return an amount as the API server stores it for pods."""
    exponent = amount.amount.as_tuple().exponent
    if not isinstance(exponent, int) or exponent >= -3:
        return amount
    return Quantity(amount.amount.quantize(FINEST, rounding=ROUND_UP), amount.format)


def parse_stored(value: Any) -> Quantity:
    """Read an amount as the API server stores it for pods; raises ValueError for what is no quantity."""
    return round_amount(Quantity.parse(value))


def parse_if_valid(value: Any) -> Quantity | None:
    """Read an amount as the API server stores it for pods; null is zero, and what is no quantity is left out."""
    if isinstance(value, (str, int, float)):
        return _parsed(value)
    return Quantity(Decimal()) if value is None else None


@lru_cache(maxsize=4096, typed=True)
def _parsed(value: str | float) -> Quantity | None:
    try:
        return parse_stored(value)
    except (ValueError, ArithmeticError):
        return None


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
    """Whether the pod's class follows from resources of its own (`spec.resources`); until 1.36 from empty ones too."""
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
    def of(spec: Mapping[str, Any]) -> Pod:
        """Return the pod of a specification that nobody has checked: what is malformed in it is left out."""
        return Pod.read({"spec": spec}, read=parse_if_valid)

    @staticmethod
    def read(
        value: Mapping[str, Any], *, uid: str | None = None, read: Read = parse_stored, release: str = RELEASE
    ) -> Pod:
        """Return the pod of a manifest, which is taken to be one that decodes, as Kubernetes of a release reads it.

        A pod of no UID gets the one given, or its name. Raises ValueError for a quantity that is none.
        """
        metadata, spec, status = (value.get(key) or {} for key in ("metadata", "spec", "status"))
        containers = tuple(map(_with_requests, containers_of(spec, read)))
        own = spec.get("resources")
        written = amounts_of(own, "requests", read), amounts_of(own, "limits", read)
        requests, limits = pod_level(containers, *written, release=release)
        name = metadata.get("name") or ""
        return Pod(
            name=name,
            containers=containers,
            uid=metadata.get("uid") or (name if uid is None else uid),
            requests=requests,
            limits=limits,
            pod_level=any(map(is_pod_level, (*requests, *limits))) if is_whole(release) else own is not None,
            overhead=amounts_of(spec, "overhead", read),
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
        return tuple(container for container in self.containers if container.init)

    @property
    def app_containers(self) -> tuple[Container, ...]:
        """The containers that run side by side once the init containers are done."""
        return tuple(container for container in self.containers if not container.init)

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
            complete = all({CPU, MEMORY} <= _compute(container.limits).keys() for container in self.containers)
            requests = add_amounts(_compute(container.requests) for container in self.containers)
            limits = add_amounts(_compute(container.limits) for container in self.containers)
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
        return add_amounts((self.without_overhead, self.overhead))

    @cached_property
    def without_overhead(self) -> Resources:
        """What the pod asks for without its overhead."""
        return pod_requests(self.containers, requests_of, own=self.requests, overhead={})


def host_ports(pod: Pod) -> Iterator[tuple[str, str, int]]:
    """Yield address, protocol and port of whatever the pod takes of its node's ports."""
    same = bool(pod.spec.get("hostNetwork"))
    for key in KINDS:
        for container in pod.spec.get(key) or ():
            if key == "initContainers" and not is_sidecar(container):
                continue
            for port in container.get("ports") or ():
                number = port.get("hostPort") or (port.get("containerPort") if same else 0)
                if number:
                    yield port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", number  # noqa: S104


def is_sidecar(container: Mapping[str, Any]) -> bool:
    """Whether an init container goes on running beside the others."""
    return container.get("restartPolicy") == ALWAYS


def containers_of(spec: Mapping[str, Any], read: Read) -> Iterator[Container]:
    """Yield the containers of a pod as they are written, init containers first; those that are no maps are left out."""
    for field_name in KINDS:
        listed = spec.get(field_name)
        for index, value in enumerate(listed if isinstance(listed, (list, tuple)) else ()):
            if isinstance(value, Mapping):
                yield _container(value, read, init=field_name == "initContainers", index=index)


def amounts_of(value: Any, key: str, read: Read) -> dict[str, Quantity]:
    """Return the amounts under a key of resources, or of a pod; none where there is no map."""
    listed = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(listed, Mapping):
        return {}
    return {name: amount for name, text in listed.items() if (amount := read(text)) is not None}


def _container(value: Mapping[str, Any], read: Read, *, init: bool, index: int) -> Container:
    resources = value.get("resources")
    return Container(
        name=value.get("name") or "",
        requests=amounts_of(resources, "requests", read),
        limits=amounts_of(resources, "limits", read),
        init=init,
        restartable=init and is_sidecar(value),
        index=index,
    )


def _with_requests(container: Container) -> Container:
    """Return a container whose limits count as requests where it has none."""
    if container.limits.keys() <= container.requests.keys():
        return container
    return replace(container, requests={**container.limits, **container.requests})


def is_whole(release: str) -> bool:
    """Whether a release gives a pod as a whole all that follows from its containers."""
    return minor(release) >= WHOLE


def pod_level(
    containers: Sequence[Container], requests: Resources, limits: Resources, *, release: str = RELEASE
) -> tuple[Resources, Resources]:
    """Return requests and limits of a pod as a whole with their defaults, given those that are written."""
    if is_whole(release) and not requests and not limits:
        return requests, limits
    limits = _huge_page_limits(containers, requests, limits)
    if not is_whole(release):
        return _pod_requests(containers, requests, limits), limits
    requests = _with_those_of_containers(containers, requests, limits)
    return requests, _with_limits_of_containers(containers, requests, limits)


def _huge_page_limits(containers: Sequence[Container], requests: Resources, limits: Resources) -> Resources:
    """Return pod-level limits with those of huge pages that containers have (defaults.go defaultHugePagePodLimits)."""
    if not requests and not limits:
        return limits
    own = at_one_time(containers, limits_of)
    return {**{name: own[name] for name in own if is_huge_page(name) and name not in requests}, **limits}


def _pod_requests(containers: Sequence[Container], requests: Resources, limits: Resources) -> Resources:
    """Return pod-level requests: as written, else of all containers, else as the limits (defaultPodRequests)."""
    return _with_those_of_containers(containers, requests, limits) if limits else requests


def _with_those_of_containers(containers: Sequence[Container], requests: Resources, limits: Resources) -> Resources:
    own = at_one_time(containers, requests_of)
    out = dict(requests)
    for name in (CPU, MEMORY):
        if name in own:
            out.setdefault(name, own[name])
    for name, amount in limits.items():
        if is_pod_level(name):
            out.setdefault(name, amount)
    return out


def _with_limits_of_containers(containers: Sequence[Container], requests: Resources, limits: Resources) -> Resources:
    """Return pod-level limits with those that all containers have, at least as much as the pod requests."""
    own = at_one_time(containers, limits_of)
    found = {
        name: max(own[name], amount)
        for name, amount in requests.items()
        if is_pod_level(name) and all(name in container.limits for container in containers)
    }
    return {**found, **limits}


def _compute(amounts: Resources) -> dict[str, Quantity]:
    return {name: amount for name, amount in amounts.items() if name in (CPU, MEMORY) and amount.amount > 0}


def _is_static(annotations: Mapping[str, str]) -> bool:
    """Whether annotations say so (kubernetes v1.35 pkg/kubelet/types/pod_update.go)."""
    source = annotations.get("kubernetes.io/config.source")
    return "kubernetes.io/config.mirror" in annotations or (source is not None and source != "api")
