"""Whether presets of a cloud's machines are used on nodes of that cloud's Kubernetes service."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.specs import Cluster
from trainyard.specs.distributions import SERVICES
from trainyard.specs.shapes import is_known_shape
from trainyard.specs.sources import Source

PROVIDER = Rule(
    id="pairing/shape-provider",
    title="A preset of a cloud's machines is used in clusters of that cloud.",
    why="elsewhere nodes lack its labels, so that no pod finds a node, and reserve other CPUs and memory than assumed",
    fix="name the distribution in system, choose another preset, or describe the shape with your nodes' labels",
    source="docs/reference/shapes.md; docs/reference/distributions.md",
    layer="pairing",
    may_warn=True,
)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield presets of a cloud on the distribution of another, or of none, where the file names one."""
    for name, pool in cluster.pools.items():
        if not isinstance(pool.shape, str) or not is_known_shape(pool.shape):
            continue
        provider, facts = pool.node.provider, cluster.distribution_of(name)
        is_named = (pool.system.distribution or cluster.system.distribution) is not None
        if provider is None or facts.provider == provider or not is_named:
            continue
        if facts.provider is None and provider not in SERVICES:
            continue
        message = f"shape {pool.shape!r} is a machine of {provider}, but nodes of {name!r} run {facts.title}"
        severity = Severity.ERROR if facts.provider else Severity.WARNING
        advice = (
            "use another shape" if facts.provider else f"use another shape, or set distribution: {SERVICES[provider]}"
        )
        yield PROVIDER.at(source, ("pools", name, "shape"), f"{message}; {advice}", severity=severity)
