"""Parallel sizes must divide the ranks of a job, or be all of them; batches must divide among them.

Why: The trainer stops at other sizes, on every rank and at every restart.
Fix: change a size, or the number of nodes or of processes.
Source: NVIDIA/Megatron-LM d98e8a64dd megatron/core/parallel_state.py, megatron/core/num_microbatches_calculator.py;
 pytorch/torchtitan v0.2.2 and b5bcd76c66 torchtitan/distributed/parallel_dims.py, 785c34c996
 torchtitan/config_manager.py; pytorch/torchtune 0.7.0
 torchtune/training/_distributed.py; NVIDIA/NeMo 8cfedd7203 examples/nlp/language_modeling/conf;
 huggingface/accelerate 1.15.0.dev0 src/accelerate/parallelism_config.py
"""

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from trainyard.checks import Elastic, Place, Problem, Ranks, Severity, World, elastic_ranks, ranks, whole_number

TENSOR, PIPELINE, CONTEXT = "--tensor-model-parallel-size", "--pipeline-model-parallel-size", "--context-parallel-size"
EXPERT, EXPERT_TENSOR = "--expert-model-parallel-size", "--expert-tensor-parallel-size"
GLOBAL, MICRO = "--global-batch-size", "--micro-batch-size"

SIZES: dict[str, dict[str, str]] = {
    "Megatron-LM": {TENSOR: "tensor", PIPELINE: "pipeline", CONTEXT: "context"},
    "NeMo": {f"model.{name}_model_parallel_size": name for name in ("tensor", "pipeline")}
    | {"model.context_parallel_size": "context"},
    "torchtitan": {f"--parallelism.{name}-parallel-degree": name for name in ("tensor", "pipeline", "context")}
    | {
        "--parallelism.data-parallel-shard-degree": "data shard",
        "--parallelism.data-parallel-replicate-degree": "data replicate",
    },
    "torchtune": {
        "tensor_parallel_dim": "tensor",
        "context_parallel_dim": "context",
        "data_parallel_shard_dim": "data shard",
        "data_parallel_replicate_dim": "data replicate",
    },
    "Accelerate": {
        "--parallelism-config-tp-size": "tensor",
        "--parallelism-config-cp-size": "context",
        "--parallelism-config-dp-shard-size": "data shard",
        "--parallelism-config-dp-replicate-size": "data replicate",
    },
}
"""By trainer, the options whose product divides the ranks, whatever its settings elsewhere say of the others."""

OLDER = {
    "--parallelism.tensor-parallel-degree": "--training.tensor-parallel-degree",
    "--parallelism.pipeline-parallel-degree": "--experimental.pipeline-parallel-degree",
    "--parallelism.context-parallel-degree": "--experimental.context-parallel-degree",
    "--parallelism.data-parallel-shard-degree": "--training.data-parallel-shard-degree",
    "--parallelism.data-parallel-replicate-degree": "--training.data-parallel-replicate-degree",
}
"""The names that torchtitan's options had before its first release."""

SIZES["older torchtitan"] = {OLDER[name]: size for name, size in SIZES["torchtitan"].items()}

EXACT = {"torchtitan", "older torchtitan", "torchtune", "Accelerate"}
"""Trainers that stop where the product of all sizes is not the number of ranks."""

TITAN_FILE = "--job.config-file"
"""By which torchtitan is given the settings of all its sizes; those that it leaves out are 1."""

REPLICAS = "--fault-tolerance."
"""What options of torchtitan begin with by which several runs make one world."""

OWN = {
    f"--{name}{end}": kind
    for kind, names in {
        "tensor": ("tensor-parallel", "tp"),
        "pipeline": ("pipeline-parallel", "pp"),
        "context": ("context-parallel", "cp"),
        "expert": ("expert-parallel", "ep"),
    }.items()
    for name in names
    for end in ("", "-size", "-degree")
}
"""Options of one's own programs, whose names say what they are; how such a program uses them is not known."""

FROM_ELSEWHERE = {"--yaml-cfg", "--use-checkpoint-args", "--tensor-parallel-num-weight-shards"}
"""Options by which Megatron-LM takes its sizes from somewhere else, or counts one more."""

OF_ENCODER = "--encoder-"
"""What options begin with by which older releases of Megatron-LM give an encoder ranks of its own."""

UNEVEN = {"--rampup-batch-size", "--decrease-batch-size-if-needed", "--step-batch-size-schedule"}
"""Options with which Megatron-LM makes batches of other sizes."""


def check(world: World) -> Iterator[Problem]:
    """Hold the sizes in command lines against the ranks that their launcher starts."""
    for job in world.training_jobs():
        for found in elastic_ranks(job):
            yield from fixed(found)
        for found in ranks(job):
            for trainer, sizes in SIZES.items():
                yield from dense(found, sizes)
                if trainer in EXACT:
                    yield from all_ranks(found, sizes)
            yield from of_own_program(found)
            if moved(found):
                continue
            yield from experts(found)
            yield from batches(found)
            yield from spread(found)


def fixed(found: Elastic) -> Iterator[Problem]:
    """Yield sizes of Megatron-LM and NeMo that do not divide the ranks that a loss of nodes leaves."""
    for sizes in (SIZES["Megatron-LM"], SIZES["NeMo"]):
        for nodes in range(found.least, found.most + 1):
            left = Ranks(nodes * found.each, f"{nodes} of {found.most} nodes × {found.each}", found.gpus, found.options)
            problems = list(dense(left, sizes))
            if problems:
                yield from (replace(problem, severity=Severity.WARNING) for problem in problems)
                return


def moved(found: Ranks) -> bool:
    """Say whether Megatron-LM takes its sizes from elsewhere."""
    return any(name in FROM_ELSEWHERE or name.startswith(OF_ENCODER) for name in found.options)


def unused(found: Ranks, sizes: dict[str, str]) -> bool:
    """Say whether Accelerate leaves its sizes alone: nobody tells it to use them, or they are of a node each."""
    own = "--parallelism-config-tp-size" in sizes
    return own and ("--use-parallelism-config" not in found.options or "--parallelism-config-sp-size" in found.options)


def size(found: Ranks, name: str) -> int | None:
    """Return a size that is written, and is one: torchtitan takes -1 for what is left."""
    value = whole_number(found.options[name][1]) if name in found.options else None
    return value if value and value > 0 else None


def place(found: Ranks, *names: str) -> Place:
    """Return where the last of these options stands that is given."""
    return next(found.options[name][0] for name in reversed(names) if name in found.options)


def product(parts: dict[str, int]) -> str:
    """Write a product in words: `tensor 4 × pipeline 2 = 8`."""
    shown = " × ".join(f"{name} {value}" for name, value in parts.items())
    return f"{shown} = {prod(parts.values())}" if len(parts) > 1 else shown


def no_divisor(found: Ranks, parts: dict[str, int]) -> str:
    """Say that the product of parallel sizes does not divide the ranks."""
    does = "sizes {} do not" if len(parts) > 1 else "size {} does not"
    words = does.format(product(parts))
    return f"parallel {words} divide the {found.total} ranks ({found.words}); change one of them"


def dense(found: Ranks, sizes: dict[str, str]) -> Iterator[Problem]:
    """Yield sizes of one trainer whose product does not divide the ranks."""
    given = {name: value for name in sizes if (value := size(found, name)) and value > 1}
    if (
        not given
        or (TENSOR in sizes and moved(found))
        or unused(found, sizes)
        or found.total % prod(given.values()) == 0
    ):
        return
    parts = {sizes[name]: value for name, value in given.items()}
    yield Problem(place(found, *given), no_divisor(found, parts))


def of_own_program(found: Ranks) -> Iterator[Problem]:
    """Yield sizes of a program of one's own by which the ranks cannot be grouped, whatever else it does."""
    given = {kind: (name, value) for name, kind in OWN.items() if (value := size(found, name)) and value > 1}
    groups = [{kind: found_size} for kind, found_size in given.items()]
    dense_sizes = {kind: found_size for kind, found_size in given.items() if kind != "expert"}
    for group in [*groups, dense_sizes] if len(dense_sizes) > 1 else groups:
        parts = {kind: value for kind, (_, value) in group.items()}
        if found.total > 1 and found.total % prod(parts.values()):
            names = [name for name, _ in group.values()]
            yield Problem(place(found, *names), no_divisor(found, parts), severity=Severity.WARNING)
            return


def all_ranks(found: Ranks, sizes: dict[str, str]) -> Iterator[Problem]:
    """Yield sizes of one trainer that divide the ranks, where it takes no fewer and nothing else may be a size."""
    given = {name: size(found, name) for name in sizes if name in found.options}
    shard = next(name for name, kind in sizes.items() if kind == "data shard")
    values = {name: value for name, value in given.items() if value is not None}
    told = len(values) == len(sizes) or (len(values) == len(given) and settled(found))
    total = prod(values.values())
    if shard not in values or not told or unused(found, sizes) or total == found.total or found.total % total:
        return
    parts = {sizes[name]: value for name, value in values.items() if value > 1 or name == shard}
    use = found.total // (total // values[shard])
    message = f"parallel sizes {product(parts)} are fewer than the {found.total} ranks ({found.words})"
    yield Problem(found.options[shard][0], f"{message}; use data shard {use}")


def settled(found: Ranks) -> bool:
    """Say whether torchtitan's settings are at hand, so that every size that they leave out has its default."""
    own = found.options.get(TITAN_FILE)
    return own is not None and own[1] in found.options and not any(name.startswith(REPLICAS) for name in found.options)


def experts(found: Ranks) -> Iterator[Problem]:
    """Yield expert parallel sizes of Megatron-LM that do not divide the ranks."""
    expert = size(found, EXPERT)
    if expert is None or expert == 1:
        return
    tensor = size(found, EXPERT_TENSOR) or size(found, TENSOR) or 1
    parts = {"expert": expert, "tensor": tensor, "pipeline": size(found, PIPELINE) or 1}
    parts = {name: value for name, value in parts.items() if value > 1}
    if found.total % prod(parts.values()):
        yield Problem(place(found, EXPERT), no_divisor(found, parts))


def batches(found: Ranks) -> Iterator[Problem]:
    """Yield a global batch of Megatron-LM that does not divide among micro batches and ranks."""
    whole, micro = size(found, GLOBAL), size(found, MICRO)
    model = prod(size(found, name) or 1 for name in (TENSOR, PIPELINE, CONTEXT))
    if whole is None or micro is None or found.total % model or not UNEVEN.isdisjoint(found.options):
        return
    parts = {"micro batch": micro, "data parallel": found.total // model}
    if whole % prod(parts.values()):
        message = f"global batch {whole} is no multiple of {product(parts)}; use a multiple"
        yield Problem(place(found, GLOBAL), message)


def spread(found: Ranks) -> Iterator[Problem]:
    """Yield tensor parallel groups that are larger than a node of eight GPUs; NVLink may span smaller ones."""
    tensor = size(found, TENSOR)
    if tensor is not None and found.gpus == WHOLE_NODE and tensor > WHOLE_NODE and found.total % tensor == 0:
        message = f"tensor parallel size {tensor} spans nodes of {WHOLE_NODE} GPUs, so each layer waits for the network"
        yield Problem(place(found, TENSOR), f"{message}; use {WHOLE_NODE}", severity=Severity.WARNING)


WHOLE_NODE = 8
"""GPUs of a node of which none has NVLink to another: nodes of GB200 have four."""
