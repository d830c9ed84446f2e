"""A launcher must not wait for more nodes than there are pods that start it.

Why: Otherwise the pods wait at the rendezvous for others that never come, until it times out.
Fix: set the number of nodes to the number of pods, or add the missing pods.
Source: pytorch v2.9 torch/distributed/run.py; accelerate v1.15.0 src/accelerate/commands/launch.py
"""

from collections.abc import Iterator

from trainyard.checks import Problem, TrainingJob, World, gangs

OF_JOBSET = ("spec", "replicatedJobs", "*", "template", "spec", "completions")

ONE_BY_ONE = {"Job", "Pod"}
"""Kinds of which a user may create one object for each node, each with its own rank."""


def check(world: World) -> Iterator[Problem]:
    """Check launchers with a fixed number of nodes; a range or an elasticPolicy adapts to the pods."""
    for job in world.training_jobs():
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


def one_after_another(job: TrainingJob, nodes: int) -> bool:
    """Say whether a Job, or a JobSet's, has pods for all nodes of a launcher, but starts the last behind the first."""
    if job.manifest.kind == "Job":
        return job.manifest.get("spec", "completions") == nodes
    every = [count for _, count in job.manifest.at(*OF_JOBSET, of=int)] if job.manifest.kind == "JobSet" else []
    return every == [nodes]
