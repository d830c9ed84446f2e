"""Fields of a job that contradict each other, wherever it runs."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import JOB, OneJob

MIN_NODES = Rule(
    id="spec/min-nodes",
    title="minNodes ≤ nodes ≤ maxNodes.",
    why="a job cannot start with more nodes than nodes says, or with more than maxNodes allows",
    fix="set minNodes, nodes and maxNodes in this order; maxNodes needs a minNodes",
    source="docs/jobs.md",
)
TWICE = Rule(
    id="spec/duplicate-variable",
    title="A variable is set in env or in secrets, not in both.",
    why="Kubernetes uses the last of two variables with one name, and ignores the other silently",
    fix="remove one of them",
    source="kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go EnvVar",
)
GPU_PART = Rule(
    id="spec/gpu-part",
    title="A job uses whole GPUs or parts of GPUs, not both.",
    why="they are different devices, and a pod gets only one kind",
    fix="remove gpu, or gpusPerNode",
    source="docs/jobs.md",
)


@JOB.check()
def check(one: OneJob) -> Iterator[Finding]:
    """Yield fields of a job that contradict each other."""
    file, job = one.file, one.file.job
    if job.min_nodes is not None and job.min_nodes > job.nodes:
        message = f"minNodes is {job.min_nodes}, but nodes is only {job.nodes}; lower minNodes"
        yield MIN_NODES.at(file.source, ("minNodes",), message)
    if job.max_nodes is not None and job.min_nodes is None:
        message = f"maxNodes is {job.max_nodes} without minNodes, so the job is not elastic; add minNodes"
        yield MIN_NODES.at(file.source, ("maxNodes",), message)
    elif job.max_nodes is not None and job.max_nodes < job.nodes:
        message = f"maxNodes is {job.max_nodes}, but nodes is {job.nodes}; raise maxNodes"
        yield MIN_NODES.at(file.source, ("maxNodes",), message)
    for name in sorted(job.env.keys() & job.secrets.keys()):
        message = f"variable {name!r} is in both env and secrets; remove one"
        yield TWICE.at(file.source, ("secrets", name), message, key=True)
    for role, said in job.roles.items():
        for name in sorted(said.env.keys() & job.secrets.keys()):
            message = f"variable {name!r} is in env of role {role!r} and in secrets; remove one"
            yield TWICE.at(file.source, ("roles", role, "env", name), message, key=True)
    if job.gpu is not None and job.gpus_per_node:
        message = "gpu requests part of a GPU, but gpusPerNode whole ones; remove one"
        yield GPU_PART.at(file.source, ("gpu",), message)
