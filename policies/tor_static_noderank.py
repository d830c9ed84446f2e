"""A launcher that starts on several nodes gets the number of its node.

Why: without it every node takes itself for the first. Every node then waits for the others at its own address, or
 trains alone and writes the same checkpoint; accelerate ends at once.
Fix: add --node-rank=$(JOB_COMPLETION_INDEX), or --machine_rank=… for accelerate, in an Indexed Job or a JobSet.
Source: pytorch v2.9 torch/distributed/run.py; accelerate v1.15.0 src/accelerate/utils/launch.py prepare_multi_gpu_env
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World, gangs, injected

VARIABLE = "PET_NODE_RANK"


def check(world: World) -> Iterator[Problem]:
    """Look at torchrun and accelerate that meet statically; a rendezvous by c10d numbers nodes itself."""
    for job in world.training_jobs():
        for pods in job.pod_sets():
            said = {variable.name for variable in pods.variables(init=False)}
            for gang in gangs(pods):
                here = VARIABLE in said or injected(job, VARIABLE)
                told = gang.ranked or (gang.option == "--node-rank" and here)
                if pods.count > 1 and gang.static and not told:
                    message = f"{gang.launcher} runs on {gang.nodes} nodes, but is not told on which; add {gang.option}"
                    yield Problem(gang.place, message)
