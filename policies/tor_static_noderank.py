"""A launcher on several nodes must get the rank of its node.

Why: Without it, or with one number for all, every node acts as the same one. Each waits for the others at its own
 address, or trains alone and writes the same checkpoint; accelerate exits at once.
Fix: add --node-rank=$(JOB_COMPLETION_INDEX) (accelerate: --machine_rank=…) in an Indexed Job or a JobSet.
Source: pytorch v2.9 torch/distributed/run.py; accelerate v1.15.0 src/accelerate/utils/launch.py prepare_multi_gpu_env
"""

import re
from collections.abc import Iterator

from trainyard.checks import Gang, Problem, World, gangs, injected, whole_number

VARIABLE = "PET_NODE_RANK"

BRANCHES = re.compile(r"\b(if|case)\b|&&|\|\||\n")
"""What a script has whose nodes do not all do the same."""


def check(world: World) -> Iterator[Problem]:
    """Check torchrun and accelerate with static rendezvous; c10d assigns ranks itself."""
    for job in world.all_jobs():
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
                elif pods.count > 1 and gang.static and is_fixed(gang):
                    message = f"{gang.launcher} gets rank {gang.rank} on each of {pods.count} pods"
                    yield Problem(gang.place, f"{message}; write the pod's index, as $(JOB_COMPLETION_INDEX)")


def is_fixed(gang: Gang) -> bool:
    """Whether a launcher is given a number for its rank, and no script decides which."""
    written = str(gang.place.manifest.get(*gang.place.path))
    return whole_number(gang.rank) is not None and BRANCHES.search(written) is None
