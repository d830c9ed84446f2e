"""Amounts of Volcano Queues: what they have at most, deserve and are guaranteed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.upstream.apiserver.core.amounts import nanos
from trainyard.upstream.apiserver.core.resourcenames import is_extended, is_whole
from trainyard.upstream.apiserver.core.shapes import Object, inner, text
from trainyard.upstream.apiserver.problems import Path, Problem, Rule
from trainyard.upstream.pods.resources import EPHEMERAL_STORAGE, PODS, is_huge_page

QUEUE = Rule(
    "webhook/volcano-queue",
    "volcano v1.15.1 pkg/webhooks/admission/queues/validate/validate_queue.go",
    title="A Volcano Queue has valid weights, amounts and a valid parent.",
    fix="keep guarantee at most deserved, deserved at most capability, and children at most their parent",
    may_warn=True,
)

GROUP_OF_QUEUES = "scheduling.volcano.sh"
RESOURCES = ("capability", "deserved", "guarantee")

Amounts = dict[str, int]


def parent_of(queue: Object) -> str:
    """Return the name of the queue above a queue."""
    return text(inner(queue, "spec"), "parent")


def amounts_of(spec: Object, kind: str) -> Object:
    """Return the amounts of one of `RESOURCES`."""
    return inner(spec, "guarantee", "resource") if kind == "guarantee" else inner(spec, kind)


def path_of(kind: str) -> Path:
    """Return where the amounts of one of `RESOURCES` are written."""
    return ("spec", "guarantee", "resource") if kind == "guarantee" else ("spec", kind)


def counted(listed: Object) -> Amounts:
    """Return the resources that Volcano's scheduler counts: processors, memory, pods, storage and devices."""
    found = {}
    for name, amount in listed.items():
        scalar = name in (PODS, EPHEMERAL_STORAGE) or is_extended(name) or is_huge_page(name)
        scalar = scalar or "kubernetes.io/" in name or name.startswith("attachable-volumes-")
        if name in ("cpu", "memory") or (scalar and not name.startswith("count/")):
            found[name] = nanos(amount) or 0
    return found


def together(queues: Iterable[Object], kind: str) -> Amounts:
    """Return the sums of one of `RESOURCES` over queues, of what is counted."""
    total: Amounts = {}
    for queue in queues:
        for name, amount in counted(amounts_of(inner(queue, "spec"), kind)).items():
            total[name] = total.get(name, 0) + amount
    return total


def lacks(have: Amounts, wanted: Amounts) -> str | None:
    """Return the first resource of which there is less than wanted; a missing scalar is less than nothing asked."""
    for name, amount in wanted.items():
        if name not in have and name not in ("cpu", "memory"):
            return name
        if have.get(name, 0) < amount:
            return name
    return next((name for name, amount in have.items() if name not in wanted and amount < 0), None)


def check_quantities(spec: Object) -> Iterator[Problem]:
    """Yield amounts that are negative, or parts of what can only be whole."""
    for kind in RESOURCES:
        for name, amount in amounts_of(spec, kind).items():
            value = nanos(amount) or 0
            if value < 0:
                yield QUEUE.invalid((*path_of(kind), name), amount, "must be greater than or equal to 0")
            if is_whole(name) and value % 10**9:
                yield QUEUE.invalid((*path_of(kind), name), amount, "must be an integer")
