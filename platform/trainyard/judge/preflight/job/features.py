"""Whether nodes of a run's pools have the features that its pods need, as their kubelets declare them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.declared import ALL
from trainyard.judge.preflight.job import patched
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.render.kinds.starts import Start, starts
from trainyard.upstream.kubelet.features import declared_features
from trainyard.upstream.pods.features import features_needed

FEATURES = Rule(
    id="node/features",
    title="Kubelets of the pool declare each feature that a pod needs.",
    why="from Kubernetes 1.36 on the scheduler leaves out nodes without the feature, so the pod waits for ever",
    fix="remove the field that needs the feature, or upgrade the nodes and `kubernetes` of the pool",
    source="kubernetes v1.37.2 pkg/scheduler/framework/plugins/nodedeclaredfeatures/nodedeclaredfeatures.go Filter",
    layer="node",
)


@RESOLVED.check(after=(ALL,))
def check(run: Resolved) -> Iterator[Finding]:
    """Yield roles whose pods no node of their pool may have, by the feature that it lacks."""
    for start in starts(run):
        for feature in lacking(run, start):
            release = run.run.cluster.kubelet_of(start.pool)
            message = f"role {start.role.name!r} needs {feature}, but kubelets {release} of pool {start.pool!r} lack it"
            yield FEATURES.at(run.run.source, place(run, start, feature), message)


def lacking(run: Resolved, start: Start) -> list[str]:
    """Return the features of a role's pods that kubelets of its pool do not declare."""
    needed = features_needed(start.pod["spec"], run.run.cluster.kubernetes, run.run.cluster.feature_gates)
    there = declared_features(start.node.kubelet.configuration.gates)
    return [feature for feature in needed if feature not in there]


def place(run: Resolved, start: Start, feature: str) -> Path:
    """Return the patch with which pods need the feature, or the container of the job's own that does."""
    job, name = run.run.job, start.role.name
    if job.patches:
        patch = patched.first(run, lambda some: is_lacked(some, name, feature))
        if patch is not None:
            return ("patches", patch, "merge")
    for index, own in enumerate(job.containers):
        if features_needed({"containers": [own]}, run.run.cluster.kubernetes):
            return ("containers", index)
    return ("pool",)


def is_lacked(run: Resolved, role: str, feature: str) -> bool:
    """Whether a role's pods need a feature that their nodes lack."""
    return any(feature in lacking(run, start) for start in starts(run) if start.role.name == role)
