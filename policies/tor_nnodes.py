"""A launcher must not wait for more nodes than there are pods that start it.

Why: Otherwise the pods wait at the rendezvous for others that never come, until it times out. A range that begins below
 1, or ends below its begin, stops torchrun at once.
Fix: set the number of nodes to the number of pods, or add the missing pods.
Source: pytorch v2.9 torch/distributed/run.py; accelerate v1.15.0 src/accelerate/commands/launch.py
"""

from collections.abc import Iterator

from trainyard.checks import Pods, Problem, TrainingJob, World, gangs, launched, whole_number

WORLD_SIZE = frozenset({"$(WORLD_SIZE)", "$WORLD_SIZE", "${WORLD_SIZE}"})
"""A variable of the training operator: processes of all pods, where nprocPerNode is a number."""

OF_JOBSET = ("spec", "replicatedJobs", "*", "template", "spec", "completions")

ONE_BY_ONE = {"Job", "Pod"}
"""Kinds of which a user may create one object for each node, each with its own rank."""


def check(world: World) -> Iterator[Problem]:
    """Check launchers with a fixed number of nodes; a range or an elasticPolicy adapts to the pods."""
    for job in world.all_jobs():
        for pods in job.pod_sets():
            yield from impossible(job, pods)
        if job.manifest.get("spec", "elasticPolicy"):
            continue
        found = [(pods.count, gang) for pods in job.pod_sets() for gang in gangs(pods)]
        there = sum(count for count, _ in found)
        if there == 1 and job.manifest.kind in ONE_BY_ONE:
            continue
        for _, gang in found:
            if gang.nodes > there:
                start = "1 pod starts" if there == 1 else f"{there} pods start"
                remedy = f"set parallelism: {gang.nodes}" if one_after_another(job, gang.nodes) else f"use {there}"
                if not there:
                    remedy = f"start {gang.nodes}"
                yield Problem(
                    gang.place, f"{gang.launcher} waits for {gang.nodes} nodes, but only {start} it; {remedy}"
                )


def impossible(job: TrainingJob, pods: Pods) -> Iterator[Problem]:
    """Yield numbers of nodes that no number of pods is: a range of none, or the number of all processes."""
    each = whole_number(job.manifest.text("spec", "nprocPerNode")) if job.manifest.kind == "PyTorchJob" else None
    for _, launcher, options in launched(pods):
        place, said = options.get("--nnodes", (None, ""))
        least, _, most = said.partition(":")
        first, last = whole_number(least), whole_number(most)
        if place is not None and first is not None and last is not None and not 0 < first <= last:
            yield Problem(place, f"{launcher} stops at the range {said}; write the fewest nodes, at least 1, first")
        elif place is not None and said in WORLD_SIZE and each is not None and each > 1:
            message = f"WORLD_SIZE counts {each} processes on each node, so {launcher} waits for too many nodes"
            yield Problem(place, f"{message}; remove --nnodes")


def one_after_another(job: TrainingJob, nodes: int) -> bool:
    """Say whether a Job, or a JobSet's, has pods for all nodes of a launcher, but starts the last behind the first."""
    if job.manifest.kind == "Job":
        return job.manifest.get("spec", "completions") == nodes
    every = [count for _, count in job.manifest.at(*OF_JOBSET, of=int)] if job.manifest.kind == "JobSet" else []
    return every == [nodes]
