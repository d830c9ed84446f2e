"""How many ranks a job's command lines start, where they and the object say all of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from trainyard.base.documents import Path
from trainyard.base.quantities import whole_number
from trainyard.judge.policies.gangs import all_options, command_lines, launched
from trainyard.judge.policies.places import Place
from trainyard.judge.policies.world import Pods, TrainingJob
from trainyard.upstream.pods.resources import WHOLE_GPUS

Options = Mapping[str, tuple[Place, str]]

OPERATED = {"PyTorchJob", "TrainJob"}
"""Kinds whose operator tells torchrun how many nodes there are, by PET_NNODES."""

AUTO = {"gpu", "auto"}
"""By which torchrun starts a process for each GPU."""

RANGE = re.compile(r"(\d{1,6}):(\d{1,6})")
LARGEST = 10_000
"""Nodes above which no range is looked into."""

STARTERS = {"mpirun", "mpiexec", "orterun", "prterun"}
NUMBER = {"-np", "--np", "-n", "-c"}


class Ranks(NamedTuple):
    """The ranks of one gang, and the options that its launcher and its program are given."""

    total: int
    words: str
    """How many they are: `4 nodes × 8`."""
    gpus: int
    """Whole GPUs of the container that starts them; 0 where it has none, as MPI's launcher."""
    options: Options


def ranks(job: TrainingJob) -> Iterator[Ranks]:
    """Yield the ranks that each container's launcher starts, where their number is written."""
    if job.manifest.get("spec", "elasticPolicy"):
        return
    for pods in job.pod_sets():
        yield from of_mpi(pods)
        for container, launcher, own in launched(pods):
            gpus = gpus_of(pods, container)
            if launcher.startswith("accelerate"):
                total = number(own, "--num-processes")
                if total:
                    yield Ranks(total, f"{total} processes", gpus, own)
                continue
            nodes, each = nodes_of(job, pods, own), processes_of(job, pods, own, gpus)
            if nodes and each:
                yield Ranks(nodes * each, f"{nodes} {'node' if nodes == 1 else 'nodes'} × {each}", gpus, own)


class Elastic(NamedTuple):
    """The ranks of a gang whose number of nodes may change."""

    least: int
    most: int
    """The fewest and the most nodes."""
    each: int
    """Ranks on each."""
    gpus: int
    options: Options


def elastic_ranks(job: TrainingJob) -> Iterator[Elastic]:
    """Yield the ranks of torchrun where it is given a range of nodes."""
    for pods in job.pod_sets():
        for container, _, own in launched(pods):
            found = RANGE.fullmatch(own["--nnodes"][1]) if "--nnodes" in own else None
            gpus = gpus_of(pods, container)
            each = processes_of(job, pods, own, gpus) if found else None
            if found and each and 0 < int(found[1]) < int(found[2]) <= LARGEST:
                yield Elastic(int(found[1]), int(found[2]), each, gpus, own)


def number(given: Options, name: str) -> int | None:
    """Return the value of an option where it is a whole number."""
    return whole_number(given[name][1]) if name in given else None


def variable(pods: Pods, name: str) -> str | None:
    """Return the written value of a variable of the pods' containers, None where there is none."""
    return next((found.value for found in pods.variables(init=False) if found.name == name), None)


def nodes_of(job: TrainingJob, pods: Pods, given: Options) -> int | None:
    """Return how many nodes torchrun waits for; None where it is a range, a variable or the runtime's."""
    said = given["--nnodes"][1] if "--nnodes" in given else variable(pods, "PET_NNODES")
    if said is not None:
        return whole_number(said)
    return sum(found.count for found in job.pod_sets()) if job.manifest.kind in OPERATED else 1


def processes_of(job: TrainingJob, pods: Pods, given: Options, gpus: int) -> int | None:
    """Return how many processes torchrun starts in a container; None where it is not written."""
    said = given["--nproc-per-node"][1] if "--nproc-per-node" in given else variable(pods, "PET_NPROC_PER_NODE")
    if said is None and job.manifest.kind == "PyTorchJob":
        said = job.manifest.text("spec", "nprocPerNode")
    return (gpus or None) if said in AUTO else whole_number(said or "")


def of_mpi(pods: Pods) -> Iterator[Ranks]:
    """Yield the ranks of an mpirun that says how many it starts."""
    for path, words in pods.once(command_lines):
        starts = next((at for at, word in enumerate(words) if word.text.rpartition("/")[2] in STARTERS), None)
        if starts is None:
            continue
        for option, value in zip(words[starts:], words[starts + 1 :], strict=False):
            if option.text in NUMBER and (total := whole_number(value.text)):
                own = all_options(pods, path, words[starts:])
                yield Ranks(total, f"mpirun {option.text} {total}", gpus_of(pods, path), own)
                break


def gpus_of(pods: Pods, container: Path) -> int:
    """Return how many whole GPUs a container has."""
    return sum(
        amount.quantity.value()
        for amount in pods.limits(init=False)
        if amount.resource in WHOLE_GPUS and amount.place.path[: len(container)] == container
    )
