"""A leader that needs its workers to become ready does not hold them back.

Why: With startupPolicy LeaderReady the workers are created when the leader is ready. A program over all pods of the
 group answers its probe when the workers have joined, so neither ever comes.
Fix: remove startupPolicy; the default LeaderCreated starts workers beside the leader.
Source: kubernetes-sigs/lws v0.9.0 pkg/controllers/pod_controller.go; vllm v0.11 docs/serving/distributed_serving.md
"""

from collections.abc import Iterator
from math import prod

from trainyard.checks import Place, Problem, TrainingJob, World, arguments, gpus_of, whole_number

SIZES = ("--tensor-parallel-size", "--pipeline-parallel-size")
NODES = "--nnodes"
GROUP = "LWS_GROUP_SIZE"
PROBES = ("readinessProbe", "startupProbe")


def check(world: World) -> Iterator[Problem]:
    """Look at leaders with a probe whose program has parts in other pods."""
    for job in world.training_jobs():
        ready = job.manifest.get("spec", "startupPolicy") == "LeaderReady"
        wanted = reason(job) if ready and job.manifest.kind == "LeaderWorkerSet" else ""
        if wanted:
            message = f"workers start when the leader is ready, but its program needs {wanted}; remove startupPolicy"
            yield Problem(Place(job.manifest, ("spec", "startupPolicy")), message)


def reason(job: TrainingJob) -> str:
    """Return the part of its workers that the program of a leader with a probe needs; empty without any."""
    own = job.manifest.get("spec", "leaderWorkerTemplate", "leaderTemplate") is not None
    for pods in job.pod_sets():
        if own and "leaderTemplate" not in pods.template:
            continue
        containers = dict(pods.containers(init=False))
        for path, options in arguments(pods):
            if not any(is_http(containers.get(path, {}).get(probe)) for probe in PROBES):
                continue
            told = {name: value for name, (_, value) in options.items()}
            nodes = told.get(NODES, "")
            if GROUP in nodes or (whole_number(nodes) or 0) > 1:
                return f"{NODES} {nodes}"
            size = prod(whole_number(told.get(name, "")) or 1 for name in SIZES)
            if 0 < gpus_of(pods, path) < size:
                return f"{size} GPUs of several pods"
    return ""


def is_http(probe: object) -> bool:
    """Say whether a probe asks the server itself: a port of Ray, or a command, may answer before it."""
    return isinstance(probe, dict) and "httpGet" in probe
