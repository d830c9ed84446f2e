"""Nodes, and the RuntimeClasses of node.k8s.io: taints, amounts, networks of pods; handlers and overhead.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go ValidateNode and
pkg/apis/node/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.core import addresses
from trainyard.upstream.apiserver.core.amounts import NOT_QUANTITY, QUANTITY, as_int64, millis
from trainyard.upstream.apiserver.core.equality import check_immutable
from trainyard.upstream.apiserver.core.pods.resources import check_resources
from trainyard.upstream.apiserver.core.pods.rules import CORE
from trainyard.upstream.apiserver.core.pods.scheduling import EFFECTS, check_tolerations
from trainyard.upstream.apiserver.core.resourcenames import is_whole
from trainyard.upstream.apiserver.core.shapes import Object, child, each, inner, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.meta.metadata import check_labels
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

_RUNTIMES = "k8s.io/kubernetes v1.35.4 pkg/apis/node/validation/validation.go"
NODE = Rule(
    "core/node",
    f"{CORE} ValidateNode",
    title="A Node has valid taints, pod CIDRs and amounts.",
    fix="use at most one pod CIDR per IP family; give each taint a key and an effect",
)
NODE_UPDATE = Rule(
    "update/node",
    f"{CORE} ValidateNodeUpdate",
    title="An update keeps the pod CIDRs and the provider ID of a Node.",
    fix="restore the field",
)
RUNTIME = Rule(
    "core/runtime-class",
    f"{_RUNTIMES} ValidateRuntimeClass",
    title="A RuntimeClass has a valid handler, overhead and scheduling.",
    fix="set handler to a DNS label, and correct the field in the message",
)
RUNTIME_UPDATE = Rule(
    "update/runtime-class",
    f"{_RUNTIMES} ValidateRuntimeClassUpdate",
    title="An update keeps the handler of a RuntimeClass.",
    fix="restore handler, or create another RuntimeClass",
)


def check_node(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:
    """Yield the problems with a Node, and a change of its networks or provider."""
    spec = inner(value, "spec")
    yield from _check_taints(spec)
    for field in ("capacity", "allocatable"):
        for name, amount in inner(value, "status", field).items():
            yield from _check_amount(name, amount, ("status", field, name))
    networks = _networks(spec)
    for index, network in enumerate(networks):
        if old is None and (detail := addresses.network(network, strict=minor(kubernetes) >= 36)):
            yield NODE.invalid(("spec", "podCIDRs", index), network, detail)
    if len(networks) > 1 and (len(networks) > 2 or not addresses.are_dual(networks)):
        yield NODE.invalid(("spec", "podCIDRs"), networks, "may specify no more than one CIDR for each IP family")
    if old is None:
        return
    before = inner(old, "spec")
    known = _networks(before)
    if known and _networks(spec) != known:
        yield NODE_UPDATE.forbidden(("spec", "podCIDRs"), "may not change once it is set")
    if before.get("providerID") and spec.get("providerID") != before["providerID"]:
        yield NODE_UPDATE.forbidden(("spec", "providerID"), "may not change once it is set")
    if text(spec, "externalID") != text(before, "externalID"):
        yield NODE_UPDATE.forbidden(("spec", "externalID"), "may not be updated")


def _networks(spec: Object) -> list[str]:
    """The networks of a Node's pods: the single field wins where both are there and differ."""
    networks, single = [network for _, network in texts(spec, "podCIDRs")], text(spec, "podCIDR")
    return [single] if single and networks[:1] != [single] else networks


def _check_amount(name: str, amount: object, path: Path) -> Iterator[Problem]:
    size = millis(amount)
    if size is None:
        yield QUANTITY.invalid(path, amount, NOT_QUANTITY)
    elif size < 0:
        yield NODE.invalid(path, amount, "must be greater than or equal to 0")
    elif is_whole(name) and as_int64(amount, thousandths=True) % 1000:
        yield NODE.invalid(path, amount, "must be an integer")


def _check_taints(spec: Object) -> Iterator[Problem]:
    seen: list[tuple[str, str]] = []
    for index, taint in each(spec, "taints"):
        path = ("spec", "taints", index)
        key, value, effect = taint.get("key") or "", taint.get("value"), taint.get("effect")
        if detail := names.label_key(key):
            yield NODE.invalid((*path, "key"), key, detail)
        if value and (detail := names.label_value(value)):
            yield NODE.invalid((*path, "value"), value, detail)
        if not effect:
            yield NODE.required((*path, "effect"))
        elif effect not in EFFECTS:
            yield NODE.unsupported((*path, "effect"), effect, EFFECTS)
        pair = (text(taint, "key"), text(taint, "effect"))
        if pair in seen:
            yield NODE.duplicate(path, "/".join(pair))
        seen.append(pair)


def check_runtime_class(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield the problems with a RuntimeClass, and a change of its handler."""
    handler = value.get("handler") or ""
    if detail := names.dns_label(handler):
        yield RUNTIME.invalid(("handler",), handler, detail)
    fixed = {"limits": inner(value, "overhead", "podFixed")}
    yield from check_resources(fixed, set(), ("overhead", "podFixed"))
    if (scheduling := child(value, "scheduling")) is not None:
        yield from check_labels(scheduling.get("nodeSelector"), ("scheduling", "nodeSelector"))
        yield from check_tolerations(scheduling, ("scheduling",))
        seen = []
        for index, toleration in each(scheduling, "tolerations"):
            key = [text(toleration, field) for field in ("key", "operator", "value", "effect")]
            if key in seen:
                yield RUNTIME.duplicate(("scheduling", "tolerations", index), toleration)
            seen.append(key)
    if old is not None:
        yield from check_immutable(handler, old.get("handler") or "", ("handler",), RUNTIME_UPDATE)
