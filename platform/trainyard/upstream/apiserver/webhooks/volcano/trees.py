"""Volcano Queues since 1.14.2: amounts are compared resource by resource, and with all queues above and below.

Source: volcano v1.15.1 pkg/webhooks/admission/queues/validate/validate_queue.go, the same in v1.14.2 to v1.14.4.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.amounts import nanos
from trainyard.upstream.apiserver.core.shapes import Object, inner, text
from trainyard.upstream.apiserver.problems import Path, Problem
from trainyard.upstream.apiserver.webhooks.around import Review, name_of
from trainyard.upstream.apiserver.webhooks.volcano.amounts import (
    GROUP_OF_QUEUES,
    QUEUE,
    amounts_of,
    check_quantities,
    counted,
    lacks,
    parent_of,
    path_of,
    together,
)

DEPTH = 5
"""Levels of queues below the root (cmd/webhook-manager/app/options/options.go defaultMaxQueueDepth)."""

_SPEC: Path = ("spec",)


def check_each_amount(spec: Object) -> Iterator[Problem]:
    """Yield amounts that are no guarantee ≤ deserved ≤ capability; a resource without a capability is not limited."""
    yield from check_quantities(spec)
    capability, deserved, guarantee = (amounts_of(spec, kind) for kind in ("capability", "deserved", "guarantee"))
    for name, amount in guarantee.items():
        if name not in deserved:
            yield QUEUE.required((*path_of("deserved"), name), f"must be at least the guarantee of {amount}")
        elif (nanos(deserved[name]) or 0) < (nanos(amount) or 0):
            yield QUEUE.invalid((*path_of("guarantee"), name), amount, f"exceeds the deserved {deserved[name]}")
    for name, amount in deserved.items():
        if name in capability and (nanos(amount) or 0) > (nanos(capability[name]) or 0):
            yield QUEUE.invalid((*path_of("deserved"), name), amount, f"exceeds the capability of {capability[name]}")


def check_tree(review: Review, above: Object | None) -> Iterator[Problem]:
    """Yield the amounts that do not fit those of the queues above and below that are known; `above` is the parent."""
    moved = review.old is None or text(review.spec, "parent") != text(review.old_spec, "parent")
    if above is not None:
        line = list(_ancestors(review, above))
        if moved and len(line) >= DEPTH:
            detail = f"puts the queue at level {len(line) + 1}; at most {DEPTH} levels are allowed"
            yield QUEUE.invalid(("spec", "parent"), name_of(above), detail)
            return
        yield from _check_ancestors(review.spec, line)
        siblings = [queue for queue in _children(review, name_of(above)) if name_of(queue) != review.name]
        if "spec" in above:  # Volcano's queue called default is there, also where nobody knows what it says
            yield from _check_sums(inner(above, "spec"), [*siblings, review.value])
    children = _children(review, review.name)
    if children:
        yield from _check_descendants(review, children)
        yield from _check_sums(review.spec, children)


def _children(review: Review, name: str) -> list[Object]:
    return [queue for queue in review.around.of(GROUP_OF_QUEUES, "Queue") if parent_of(queue) == name]


def _ancestors(review: Review, above: Object) -> Iterator[Object]:
    """Yield the parent of a queue and those above it, up to the root or to one that is not known."""
    seen: set[str] = {review.name}
    queue: Object | None = above
    while queue is not None and name_of(queue) not in seen:
        yield queue
        seen.add(name_of(queue))
        parent = parent_of(queue)
        queue = None if parent in ("", "root") else review.around.find(GROUP_OF_QUEUES, "Queue", parent)


def _check_ancestors(spec: Object, line: list[Object]) -> Iterator[Problem]:
    """Yield a capability above that of the nearest queue that limits the resource."""
    for name, amount in counted(inner(spec, "capability")).items():
        for queue in line:
            limit = counted(inner(queue, "spec", "capability")).get(name, 0)
            if limit > 0:
                if amount > limit:
                    written = inner(spec, "capability").get(name)
                    detail = f"exceeds the capability of queue {name_of(queue)!r} above"
                    yield QUEUE.invalid((*path_of("capability"), name), written, detail)
                break


def _check_descendants(review: Review, children: list[Object]) -> Iterator[Problem]:
    for name, amount in counted(inner(review.spec, "capability")).items():
        if 0 < amount < max(_most(review, queue, name, frozenset({review.name})) for queue in children):
            written = inner(review.spec, "capability").get(name)
            yield QUEUE.invalid((*path_of("capability"), name), written, "is less than that of a queue below")


def _most(review: Review, queue: Object, name: str, seen: frozenset[str]) -> int:
    """Return the capability of a queue for a resource, or the largest of those below where it has none."""
    own = counted(inner(queue, "spec", "capability")).get(name, 0)
    if own > 0 or name_of(queue) in seen:
        return max(own, 0)
    below = _children(review, name_of(queue))
    return max((_most(review, one, name, seen | {name_of(queue)}) for one in below), default=0)


def _check_sums(spec: Object, children: list[Object]) -> Iterator[Problem]:
    """Yield the amounts of children that exceed those of their parent together; without one it has none to give."""
    for kind in ("guarantee", "deserved"):
        total = together(children, kind)
        if lacking := lacks(counted(amounts_of(spec, kind)), total):
            detail = f"all children together exceed the {kind} of {lacking} of their parent"
            yield QUEUE.invalid((*_SPEC, kind), None, detail)
            return
