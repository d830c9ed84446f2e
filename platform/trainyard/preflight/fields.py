"""Fields of a job that contradict each other, wherever it runs."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.findings import Finding
from trainyard.rules import Rule
from trainyard.specs.sources import JobFile

MIN_NODES = Rule(
    id="spec/min-nodes",
    title="minNodes is at most nodes, and maxNodes at least.",
    why="a job cannot begin with more nodes than it asks for, or than it may ever have",
    fix="set minNodes, nodes and maxNodes in this order; maxNodes needs a minNodes",
    source="docs/jobs.md",
)
TWICE = Rule(
    id="spec/duplicate-variable",
    title="A variable stands in env or in secrets, not in both.",
    why="of two variables of one name the last one counts, and the other is ignored without a word",
    fix="remove one of them",
    source="kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go EnvVar",
)
GPU_PART = Rule(
    id="spec/gpu-part",
    title="A job asks for whole GPUs or for a part of one.",
    why="the two are different devices, and no pod can be given both as one",
    fix="remove gpu, or gpusPerNode",
    source="docs/jobs.md",
)


def check(file: JobFile) -> Iterator[Finding]:
    """Yield fields of a job that contradict each other."""
    job = file.job
    if job.min_nodes is not None and job.min_nodes > job.nodes:
        message = f"minNodes is {job.min_nodes}, but nodes is {job.nodes}; lower minNodes"
        yield MIN_NODES.at(file.source, ("minNodes",), message)
    if job.max_nodes is not None and job.min_nodes is None:
        message = f"maxNodes is {job.max_nodes}, but there is no minNodes, so the job is not elastic; add minNodes"
        yield MIN_NODES.at(file.source, ("maxNodes",), message)
    elif job.max_nodes is not None and job.max_nodes < job.nodes:
        message = f"maxNodes is {job.max_nodes}, but nodes is {job.nodes}; raise maxNodes"
        yield MIN_NODES.at(file.source, ("maxNodes",), message)
    for name in sorted(job.env.keys() & job.secrets.keys()):
        message = f"variable {name!r} is in env and in secrets; remove one"
        yield TWICE.at(file.source, ("secrets", name), message, key=True)
    for role, said in job.roles.items():
        for name in sorted(said.env.keys() & job.secrets.keys()):
            message = f"variable {name!r} is in env of role {role!r} and in secrets; remove one"
            yield TWICE.at(file.source, ("roles", role, "env", name), message, key=True)
    if job.gpu is not None and job.gpus_per_node:
        message = "gpu asks for a part of a GPU, but gpusPerNode for whole ones; remove one"
        yield GPU_PART.at(file.source, ("gpu",), message)
