"""Launchers in the command lines of pods, and what they are told of the nodes that they run on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.policies.lines import listed
from trainyard.policies.places import Place
from trainyard.policies.world import Pods

LAUNCHERS = {
    "torchrun": ("--nnodes", "--node-rank"),
    "torch.distributed.run": ("--nnodes", "--node-rank"),
    "torch.distributed.launch": ("--nnodes", "--node-rank"),
    "accelerate": ("--num-machines", "--machine-rank"),
    "accelerate-launch": ("--num-machines", "--machine-rank"),
}
"""By executable or module: its option for the number of nodes, and for which of them this is.

Both write an option with a dash or an underscore (pytorch v2.9 torch/distributed/argparse_util.py, accelerate v1.15.0
src/accelerate/commands/launch.py).
"""


class Gang(NamedTuple):
    """A launcher that is told that there are several nodes."""

    place: Place
    """Where their number stands."""
    launcher: str
    nodes: int
    option: str
    """By which it is told which of them it is on."""
    ranked: bool
    """Whether it is told so, or its settings are in a file."""
    static: bool
    """Whether nodes have to know their number to meet."""


class Word(NamedTuple):
    """A word of a command line, within a script too, and where it stands."""

    place: Place
    text: str


def gangs(pods: Pods) -> Iterator[Gang]:
    """Yield the launchers of several nodes, where the number of them is written."""
    for path, container in pods.containers(init=False):
        words = [
            Word(Place(pods.manifest, (*path, field, index)), word.strip("\"'\\;"))
            for field in ("command", "args")
            for index, text in enumerate(listed(container.get(field)))
            for word in text.split()
        ]
        for name in [name for name in (word.text.rpartition("/")[2] for word in words) if name in LAUNCHERS][:1]:
            yield from gang(name, words)


def gang(launcher: str, words: list[Word]) -> Iterator[Gang]:
    """Yield a launcher with the options that it is given, if they say that there are several nodes."""
    count, rank = LAUNCHERS[launcher]
    options: dict[str, tuple[Place, str]] = {}
    for number, word in enumerate(words):
        name, given, value = word.text.partition("=")
        if name.startswith("--"):
            after = words[number + 1].text if number + 1 < len(words) else ""
            options[name.replace("_", "-")] = (word.place, value.strip("\"'") if given else after)
    place, nodes = options.get(count, (None, ""))
    if place is None or not nodes.isdigit() or int(nodes) < 2:
        return
    backend = options.get("--rdzv-backend", (place, "static"))[1]
    ranked = rank in options or "--config-file" in options
    yield Gang(place, launcher, int(nodes), rank, ranked=ranked, static=backend == "static")
