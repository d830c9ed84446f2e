"""A launcher on several nodes must get the rank of its node.

Why: Without it every node acts as the first one. Each waits for the others at its own address, or trains alone and
 writes the same checkpoint; accelerate exits at once.
Fix: add --node-rank=$(JOB_COMPLETION_INDEX) (accelerate: --machine_rank=…) in an Indexed Job or a JobSet.
Source: pytorch v2.9 torch/distributed/run.py; accelerate v1.15.0 src/accelerate/utils/launch.py prepare_multi_gpu_env
"""

from collections.abc import Iterator

from trainyard.checks import Problem, World, gangs, injected

VARIABLE = "PET_NODE_RANK"


def check(world: World) -> Iterator[Problem]:
    """Check torchrun and accelerate with static rendezvous; c10d assigns ranks itself."""
    for job in world.training_jobs():
        for pods in job.pod_sets():
            names = {variable.name for variable in pods.variables(init=False)}
            for gang in gangs(pods):
                from_env = VARIABLE in names or injected(job, VARIABLE)
                has_rank = gang.ranked or (gang.option == "--node-rank" and from_env)
                if pods.count > 1 and gang.static and not has_rank:
                    message = (
                        f"{gang.launcher} runs on {gang.nodes} nodes, but does not get the rank of its node"
                        f"; add {gang.option}"
                    )
                    yield Problem(gang.place, message)
