"""Whether the cluster's `health` names pools and faults that there are, and has the programs that it needs."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity, did_you_mean
from trainyard.base.rules import Rule
from trainyard.judge.preflight.cluster.pairing import NEEDS
from trainyard.judge.preflight.job.placement import POOL as UNKNOWN_POOL
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.sizing.burn_in import marks
from trainyard.render.sizing.health import DETECTOR, TAINTER, conditions, gpu_pools, watched_pools
from trainyard.specs import Cluster
from trainyard.specs.faults import reasons
from trainyard.specs.sources import Source
from trainyard.upstream.apiserver.patterns import compile_pattern

UNKNOWN = Rule(
    id="spec/fault",
    title="Faults that a cluster ignores are known, and its own have names and patterns of their own.",
    why="the detector would go on looking for the fault, or one reason would stand for two or for all lines",
    fix="use the name of a fault in docs/health.md, or another name or pattern for your own",
    source="docs/health.md",
    layer="spec",
)
UNWATCHED = Rule(
    id="spec/health-pools",
    title="A cluster with health watches some nodes, and some with GPUs where it has any.",
    why="the detector runs nowhere, or beside no GPU, so that a run gets a broken GPU again and again",
    fix="name the pools to watch, or remove health",
    source="docs/health.md",
    layer="spec",
    may_warn=True,
)
UNTAINTED = Rule(
    id="ft-fault-taint",
    title="Nodes with a fault get a taint without a person.",
    why="a run that starts again gets the faulty node again until somebody taints it",
    fix="add node-readiness-controller to operators; waive this if other software taints the nodes",
    source="kubernetes-sigs/node-readiness-controller v0.5.0; kueue v0.19.2 pkg/controller/tas/node_controller.go",
    layer="pairing",
    severity=Severity.WARNING,
    may_waive=True,
)
ORDINARY = ("", "usb 1-1: new high-speed USB device number 2", "eth0: link becomes ready")
"""Lines of a kernel's log that tell of no fault."""


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield names in a cluster's `health` that mean nothing, and the programs that are not there."""
    health = cluster.health
    if health is None:
        return
    for index, name in enumerate(health.pools):
        if name not in cluster.pools:
            message = f"pool {name!r} does not exist; {did_you_mean(name, cluster.pools)}"
            yield UNKNOWN_POOL.at(source, ("health", "pools", index), message)
    for index, reason in enumerate(health.ignore):
        if reason not in reasons():
            message = f"fault {reason!r} is not known; {did_you_mean(reason, reasons())}"
            yield UNKNOWN.at(source, ("health", "ignore", index), message)
    for reason in health.faults:
        if reason in reasons() and reason not in health.ignore:
            message = f"fault {reason!r} is known already; use another name, or add it to ignore"
            yield UNKNOWN.at(source, ("health", "faults", reason), message, key=True)
    for reason, fault in health.faults.items():
        if all(compile_pattern(fault.pattern).search(line) for line in ORDINARY):
            message = f"pattern {fault.pattern!r} matches every line of the log; write the words of the fault"
            yield UNKNOWN.at(source, ("health", "faults", reason, "pattern"), message)
    if not watched_pools(cluster) and not health.pools:
        yield UNWATCHED.at(source, ("health",), "no pool has GPUs, so no node is watched; name pools", key=True)
    with_gpus, known = gpu_pools(cluster), all(name in cluster.pools for name in health.pools)
    if health.pools and known and with_gpus and not set(with_gpus) & set(health.pools):
        message = f"no pool with GPUs is watched; add {with_gpus[0]!r}, or remove pools"
        yield UNWATCHED.at(source, ("health", "pools"), message, severity=Severity.WARNING)
    yield from programs(cluster, source)


def programs(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield the detector where it is missing, else the controller that taints nodes with a condition."""
    if DETECTOR not in cluster.operators:
        message = f"health needs {DETECTOR}: it reads the kernel's log; add it to operators"
        yield NEEDS.at(source, ("health",), message, key=True, source="docs/health.md")
    elif (conditions(cluster) or marks(cluster)) and TAINTER not in cluster.operators:
        message = f"nothing taints nodes with a fault; add {TAINTER} to operators"
        yield UNTAINTED.at(source, ("health",), message, key=True)
