"""Answers to questions about nodes: labels, taints, amounts and software."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from trainyard.base.findings import count_of
from trainyard.base.quantities import Quantity
from trainyard.base.versions import line, order
from trainyard.faces.live.seen import THERE, Node, NoNodesError, Seen, UnseenError, Verdict
from trainyard.render.prerequisites.nodes import rounded_text
from trainyard.render.prerequisites.questions import (
    GpuDriver,
    NodeKernel,
    NodeLabels,
    NodeOffers,
    NodeRelease,
    NodeRuntime,
    PoolNodes,
    ServerMinor,
)
from trainyard.upstream.pods.taints import HARD, Taint

OLDEST = 3
"""Minor versions that a kubelet may be older than its API server (kubernetes.io, version skew policy)."""

RELEASE = re.compile(r"v?([0-9]+)\.([0-9]+)")


def minor(question: ServerMinor, seen: Seen) -> Verdict:
    """Compare the server's minor version, and those of kubelets with it."""
    if seen.minor != question.minor:
        return Verdict("missing", f"the API server runs {seen.minor}")
    ours = int(question.minor.partition(".")[2])
    kubelets = {node.name: node.info("kubeletVersion") for node in seen.nodes}
    return of_nodes(f"{name} runs {release}" for name, release in kubelets.items() if not is_served(release, ours))


def is_served(kubelet: str, server: int) -> bool:
    """Whether an API server of a minor version serves a kubelet, or the kubelet does not say its version."""
    found = RELEASE.match(kubelet)
    return found is None or 0 <= server - int(found[2]) <= OLDEST


def pool_nodes(question: PoolNodes, seen: Seen) -> Verdict:
    """Compare number and taints of a pool's nodes."""
    try:
        nodes = seen.of_pool(question.pool)
    except NoNodesError as reason:
        if not question.count:
            raise
        return Verdict("missing", str(reason))
    if len(nodes) < question.count:
        return Verdict("missing", f"only {count_of(len(nodes), 'node')} with the label")
    return of_nodes(problem for node in nodes for problem in taint_problems(node, question.taints))


def taint_problems(node: Node, wanted: tuple[Taint, ...]) -> Iterable[str]:
    """Yield the taints that a node lacks, and those that keep away pods of its pool."""
    there = [Taint(str(one.get("key")), str(one.get("value") or ""), str(one.get("effect"))) for one in node.taints]
    for taint in wanted:
        if not any(is_same(taint, one) for one in there):
            yield f"{node.name} lacks the taint {taint}"
    for one in there:
        if one.effect in HARD and not any(is_same(taint, one) for taint in wanted):
            yield f"{node.name} has the taint {one}"


def is_same(wanted: Taint, there: Taint) -> bool:
    """Whether a taint is the one that a pool names; without a value, any value is."""
    return (wanted.key, wanted.effect) == (there.key, there.effect) and wanted.value in ("", there.value)


def labels(question: NodeLabels, seen: Seen) -> Verdict:
    """Look for labels on every node of the pools."""
    wanted = question.value
    return of_nodes(
        f"{node.name} lacks {key}" if key not in node.labels else f"{node.name} has {key}={node.labels[key]}"
        for node in seen.of_pools(question.pools)
        for key in question.keys
        if key not in node.labels or (wanted is not None and node.labels[key] != wanted)
    )


def offers(question: NodeOffers, seen: Seen) -> Verdict:
    """Compare what kubelets offer with the amounts."""
    return of_nodes(
        f"{node.name} offers {name} {rounded_text(name, amount_of(node, name))}"
        for node in seen.of_pool(question.pool)
        for name, wanted in question.amounts.items()
        if amount_of(node, name) < wanted
    )


def amount_of(node: Node, name: str) -> Fraction:
    """Return how much of a resource a node offers; none where it does not name it."""
    return Fraction(Quantity.parse(node.allocatable.get(name, "0")).amount)


def runtime(question: NodeRuntime, seen: Seen) -> Verdict:
    """Compare the container runtime of nodes."""
    return of_nodes(
        f"{node.name} runs {node.info('containerRuntimeVersion')}"
        for node in seen.of_pools(question.pools)
        if node.info("containerRuntimeVersion").partition(":")[0] != question.runtime
    )


def release(question: NodeRelease, seen: Seen) -> Verdict:
    """Compare the minor version of kubelets."""
    return of_nodes(
        f"{node.name} runs {node.info('kubeletVersion')}"
        for node in seen.of_pool(question.pool)
        if line(node.info("kubeletVersion")) != question.minor
    )


def kernel(question: NodeKernel, seen: Seen) -> Verdict:
    """Compare the kernel of nodes."""
    return of_nodes(
        f"{node.name} runs {node.info('kernelVersion')}"
        for node in seen.of_pool(question.pool)
        if parts(node.info("kernelVersion")) < parts(question.release)
    )


def parts(release: str) -> tuple[int, ...]:
    """Return the first two numbers of a release of Linux."""
    found = RELEASE.match(release)
    return (int(found[1]), int(found[2])) if found else ()


def driver(question: GpuDriver, seen: Seen) -> Verdict:
    """Compare the driver that a label names; nodes without the label cannot be seen."""
    nodes = seen.of_pool(question.pool)
    bare = [node.name for node in nodes if question.label not in node.labels]
    if bare:
        raise UnseenError(f"{bare[0]} lacks the label {question.label}")
    return of_nodes(
        f"{node.name} has {node.labels[question.label]}"
        for node in nodes
        if not is_driver(node.labels[question.label], question)
    )


def is_driver(release: str, question: GpuDriver) -> bool:
    """Whether a release of a driver is the one that is needed."""
    if question.exact is not None:
        return order(release) == order(question.exact)
    branch = release.partition(".")[0]
    number = int(branch) if branch.isdigit() else 0
    return (question.least is None or number >= question.least) and (question.most is None or number <= question.most)


def of_nodes(problems: Iterable[str]) -> Verdict:
    """Return `there` without problems, else `missing` with the first and how many more there are."""
    found = list(problems)
    if not found:
        return THERE
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return Verdict("missing", f"{found[0]}{more}")
