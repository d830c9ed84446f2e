"""All pods of a gang give NCCL the same algorithm, protocol and way to the network.

Why: Each rank decides by its own variables, and asks no other. Two choices do not meet, so the job fails as its ranks
 connect, or hangs in its first collective.
Fix: set the variable to one value in all pods that train together, or remove it.
Source: NVIDIA/nccl 2.30 src/enqueue.cc, src/graph/tuning.cc, src/init.cc; user guide, environment variables
"""

from collections.abc import Iterator, Mapping

from trainyard.checks import Pods, Problem, Severity, TrainingJob, Variable, World, environment, gangs, is_gpu

SAME = ("NCCL_ALGO", "NCCL_PROTO", "NCCL_NET", "NCCL_NET_PLUGIN", "NCCL_IB_DISABLE", "NCCL_SOCKET_FAMILY")
SIZES = ("NCCL_BUFFSIZE", "NCCL_LL_BUFFSIZE", "NCCL_LL128_BUFFSIZE")
"""Bytes of buffers that two ranks divide alike."""

LISTS = ("NCCL_ALGO", "NCCL_PROTO")
"""Lists of which the order says nothing."""

NARROWING = ("NCCL_ALGO", "NCCL_PROTO", "NCCL_IB_DISABLE")
"""Those without which a rank may choose what another has excluded."""

ONE_GANG = {"PyTorchJob", "PaddleJob", "LeaderWorkerSet"}
"""Kinds whose pods train or serve together; of others a launcher tells that it waits for all of them."""


def check(world: World) -> Iterator[Problem]:
    """Compare the variables of the pods of each job that have GPUs and are one gang."""
    for job in world.all_jobs():
        sets = [pods for pods in job.pod_sets() if pods.count and any(map(is_gpu, pods.needs))]
        if len(sets) > 1 and is_one_gang(job, sets):
            first, *others = [(pods, variables(pods)) for pods in sets]
            for pods, found in others:
                yield from differing(first[0], first[1], pods, found)


def is_one_gang(job: TrainingJob, sets: list[Pods]) -> bool:
    """Say whether the pods of several sets are ranks of one group."""
    total = sum(pods.count for pods in sets)
    return job.manifest.kind in ONE_GANG or all(any(gang.nodes == total for gang in gangs(pods)) for pods in sets)


def variables(pods: Pods) -> Mapping[str, Variable]:
    """Return the variables of the containers with GPUs, by name; none that differ between two containers."""
    with_gpus = {amount.place.path[:-3] for amount in pods.limits(init=False) if is_gpu(amount.resource)}
    found: dict[str, Variable] = {}
    several: set[str] = set()
    for variable in environment(pods, init=False):
        if variable.container in with_gpus and variable.name in {*SAME, *SIZES}:
            several |= {variable.name} & found.keys()
            found[variable.name] = variable
    return {name: variable for name, variable in found.items() if name not in several}


def differing(
    first: Pods, known: Mapping[str, Variable], pods: Pods, found: Mapping[str, Variable]
) -> Iterator[Problem]:
    """Yield the variables of which two sets of pods have different values, or one of them none."""
    for name in (*SAME, *SIZES):
        one, other = known.get(name), found.get(name)
        if one is not None and other is not None:
            left, right = value(one), value(other)
            if left and right and left != right:
                message = f"{name} is {other.value!r} here, but {one.value!r} in pods of {first.name}; use one value"
                yield Problem(other.place, message)
        elif name in NARROWING and not (from_elsewhere(first) or from_elsewhere(pods)):
            there, lacking = (one, pods) if one is not None else (other, first)
            if there is not None and value(there) not in {"", "0"}:
                message = f"{name} is {there.value!r} here, but not set in pods of {lacking.name}; set it there, too"
                yield Problem(there.place, message, severity=Severity.WARNING)


def value(variable: Variable) -> str:
    """Return a value as NCCL compares it; empty where it is not written."""
    text = (variable.value or "").strip().lower()
    if variable.name in LISTS and not set(text) & set(":;"):
        sign, names = ("^", text[1:]) if text.startswith("^") else ("", text)
        text = sign + ",".join(sorted(name.strip() for name in names.split(",")))
    return "" if "$" in text else text


def from_elsewhere(pods: Pods) -> bool:
    """Say whether containers get variables that are not in the manifest."""
    return any(container.get("envFrom") for _, container in pods.containers(init=False))
