"""Plain pods: a Workload for each, or one for all pods of a group, with a pod set for each shape.

Source: kueue v0.19.2 pkg/controller/jobs/pod/pod_controller.go, pkg/util/pod/pod.go GenerateRoleHash.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from trainyard.base.labels import QUEUE
from trainyard.base.manifests import identity_of
from trainyard.base.quantities import Quantity
from trainyard.upstream.kueue.requests.annotations import Index
from trainyard.upstream.kueue.requests.jobs.parts import Made, NotMade, Object, Part, labels_of, notes_of

GROUP = "kueue.x-k8s.io/pod-group-name"
TOTAL = "kueue.x-k8s.io/pod-group-total-count"
FAST = "kueue.x-k8s.io/pod-group-fast-admission"
ROLE = "kueue.x-k8s.io/role-hash"
POD_INDEX = "kueue.x-k8s.io/pod-group-pod-index"
"""Pod sets of a Workload (pkg/controller/jobframework MaxPodSets)."""

INDEX = Index(pod=POD_INDEX)


def group_of(value: Object) -> str:
    """Return the group of a pod, empty for none, and for what is no pod."""
    identity = identity_of(value)
    return labels_of(value).get(GROUP, "") if (identity.group, identity.kind) == ("", "Pod") else ""


def pod_group(value: Object, others: Sequence[Object]) -> Iterator[Made]:
    """Yield the Workload of a pod, or of the group that it is in; raises NotMade for a group that is not whole."""
    name = group_of(value)
    if not name:
        yield Made((Part("main", 1, template_of(value), INDEX),))
        return
    namespace = identity_of(value).namespace or "default"
    pods = [
        other
        for other in others
        if group_of(other) == name and (identity_of(other).namespace or "default") == namespace
    ]
    running = [pod for pod in pods or [value] if (pod.get("status") or {}).get("phase") != "Failed"]
    yield Made(tuple(roles(running, name)), name=name, group=True)


def template_of(pod: Object) -> Object:
    """Return a pod as a template."""
    return {"metadata": {"annotations": notes_of(pod)}, "spec": pod.get("spec") or {}}


def roles(pods: Sequence[Object], group: str) -> Iterator[Part]:
    """Yield a pod set for each shape of a group's pods; raises NotMade."""
    first = pods[0]
    total = total_of(first)
    fast = notes_of(first).get(FAST) == "true"
    if not fast and len(pods) < total:
        raise NotMade(f"'{group}' group has fewer runnable pods than expected")
    for pod in pods:
        check_alike(first, pod, total)
    if fast:
        yield Part(role(first), total, template_of(first), INDEX)
        return
    found: dict[str, list[Object]] = {}
    for pod in pods[:total]:
        found.setdefault(role(pod), []).append(pod)
    for name, members in sorted(found.items()):
        yield Part(name, len(members), template_of(members[0]), INDEX)


def total_of(pod: Object) -> int:
    """Return how many pods the group of a pod has; raises NotMade."""
    text = notes_of(pod).get(TOTAL)
    if text is None:
        raise NotMade(f"failed to extract '{TOTAL}' annotation")
    total = number(text)
    if total < 1:
        raise NotMade(f"incorrect annotation value '{TOTAL}={text}': group total count should be greater than zero")
    return total


def number(text: str) -> int:
    """Return the number that a text is; raises NotMade in Go's words."""
    try:
        return int(text)
    except ValueError as error:
        raise NotMade(f'strconv.Atoi: parsing "{text}": invalid syntax') from error


def check_alike(first: Object, other: Object, total: int) -> None:
    """Raise NotMade where two pods of a group do not agree on its queue or its size."""
    names = f"pods '{identity_of(first).name}' and '{identity_of(other).name}'"
    queues = [labels_of(pod).get(QUEUE, "") for pod in (first, other)]
    if queues[0] != queues[1]:
        raise NotMade(f"{names} has different queue names: {queues[0]}!={queues[1]}")
    try:
        theirs = number(notes_of(other).get(TOTAL, ""))
    except NotMade as error:
        raise NotMade(
            f"failed to extract '{TOTAL}' annotation from the pod '{identity_of(other).name}': {error}"
        ) from error
    if theirs != total:
        raise NotMade(f"{names} has different '{TOTAL}' values: {total}!={theirs}")


def role(pod: Object) -> str:
    """Return the hash of what makes pods different to Kueue: resources, ports, and where they may run."""
    stated = notes_of(pod).get(ROLE)
    if stated is not None:
        return stated
    spec = pod.get("spec") or {}
    shape: dict[str, Any] = {name: order_fields(name, spec.get(name)) for name in SHAPE}
    for field in ("initContainers", "containers"):
        shape[field] = [container_shape(container) for container in spec.get(field) or ()] or None
    shape["overhead"] = amounts(spec.get("overhead"))
    if spec.get("resources") is not None:
        shape["resources"] = amounts(spec["resources"].get("requests"))
    text = json.dumps({"spec": dict(sorted(shape.items()))}, separators=(",", ":"), ensure_ascii=False)
    for plain, escaped in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(plain, escaped)
    return sha256(text.encode()).hexdigest()[:8]


SHAPE = (
    *("nodeSelector", "affinity", "tolerations", "runtimeClassName", "priority", "topologySpreadConstraints"),
    *("overhead", "resourceClaims"),
)

FIELDS = (
    *("name", "hostPort", "containerPort", "protocol", "hostIP"),
    *("resourceClaimName", "resourceClaimTemplateName"),
    *("key", "operator", "value", "effect", "tolerationSeconds"),
    *("nodeAffinity", "podAffinity", "podAntiAffinity"),
    *("requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"),
    *("weight", "preference", "podAffinityTerm", "nodeSelectorTerms", "matchExpressions", "matchFields", "values"),
    *("maxSkew", "topologyKey", "whenUnsatisfiable", "labelSelector", "minDomains", "nodeAffinityPolicy"),
)
"""Fields in the order in which Go writes those types (k8s.io/api v0.36 core/v1/types.go)."""

ORDER = {name: place for place, name in enumerate(FIELDS)}
SELECTOR = ("matchLabels", "matchExpressions")
TERM = ("labelSelector", "namespaces", "topologyKey", "namespaceSelector", "matchLabelKeys", "mismatchLabelKeys")


def order_fields(name: str, value: Any) -> Any:
    """Return a value with its fields in Go's order; plain maps are in that of their keys."""
    if isinstance(value, list):
        return [order_fields(name, element) for element in value]
    if not isinstance(value, Mapping):
        return value
    if name in ("nodeSelector", "matchLabels"):
        return dict(sorted(value.items()))
    own = SELECTOR if "matchLabels" in value else TERM if "topologyKey" in value and "maxSkew" not in value else ()
    place = {field: index for index, field in enumerate(own)} if own else ORDER
    return {key: order_fields(key, value[key]) for key in sorted(value, key=lambda key: place.get(key, len(place)))}


def container_shape(container: Object) -> dict[str, Any]:
    """Return the fields of a container that tell pods of a group apart."""
    requests = (container.get("resources") or {}).get("requests")
    return {"ports": order_fields("ports", container.get("ports")), "resources": {"requests": amounts(requests)}}


def amounts(value: Mapping[str, Any] | None) -> dict[str, str] | None:
    """Return amounts as the API server writes them, by name."""
    if value is None:
        return None
    return {name: Quantity.parse(value[name]).canonical() for name in sorted(value)}
