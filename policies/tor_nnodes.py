"""A launcher waits for no more nodes than there are pods that start it.

Why: those that are there wait at the rendezvous for others that never come, until it times out.
Fix: write as many nodes as pods start the launcher, or give the pods that are missing.
Source: pytorch v2.9 torch/distributed/run.py; accelerate v1.15.0 src/accelerate/commands/launch.py
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World, gangs

ONE_BY_ONE = {"Job", "Pod"}
"""Kinds of which somebody may make one object for each node, with its number written in."""


def check(world: World) -> Iterator[Problem]:
    """Look at launchers whose number of nodes is written; one that takes a range finds its own, as does elasticity."""
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
                yield Problem(gang.place, f"{gang.launcher} waits for {gang.nodes} nodes, but {start} it")
