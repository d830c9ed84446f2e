"""Launchers in the command lines of pods, with their options for the number and the rank of nodes."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from trainyard.base.documents import Path
from trainyard.base.manifests import Manifest
from trainyard.base.quantities import whole_number
from trainyard.judge.policies.lines import list_texts
from trainyard.judge.policies.places import Place
from trainyard.judge.policies.world import Pods
from trainyard.upstream.trainers import settings

LAUNCHERS = {
    "torchrun": ("--nnodes", "--node-rank"),
    "torch.distributed.run": ("--nnodes", "--node-rank"),
    "torch.distributed.launch": ("--nnodes", "--node-rank"),
    "accelerate": ("--num-machines", "--machine-rank"),
    "accelerate-launch": ("--num-machines", "--machine-rank"),
}
"""For each executable or module, its options for the number of nodes and for the rank of this node.

Both write an option with a dash or an underscore (pytorch v2.9 torch/distributed/argparse_util.py, accelerate v1.15.0
src/accelerate/commands/launch.py).
"""

PREFIX = "PET_"
"""How variables begin that torchrun reads as options (pytorch v2.9 torch/distributed/argparse_util.py)."""

OPERATED = frozenset({"PyTorchJob", "TrainJob"})
"""Kinds whose operator sets these."""

HYDRA_FOLDER, HYDRA_FILE = "--config-path", "--config-name"
"""By which Hydra is given its file of settings."""

ACCELERATE_FILE = "--config-file"
"""By which Accelerate is given its own, in which names stand without dashes."""

HYDRA = re.compile(r"\+{0,2}([A-Za-z_][\w.]*)")
"""Settings of a program by their path, without dashes."""


class Gang(NamedTuple):
    """A launcher of several nodes."""

    place: Place
    """Where the number of nodes is written."""
    launcher: str
    nodes: int
    option: str
    """The option for the rank of its node."""
    ranked: bool
    """Whether it has this option, or its settings are in a file."""
    static: bool
    """Whether each node must get its rank, as in a static rendezvous."""
    rank: str = ""
    """The rank of its node as it is written; empty where it is not."""


class Word(NamedTuple):
    """A word of a command line, or of a script in it, with its path in the object."""

    path: Path
    text: str


class Launched(NamedTuple):
    """A launcher in a container's command line."""

    container: Path
    """The container's path in its object."""
    launcher: str
    options: dict[str, tuple[Place, str]]
    """By name with dashes: the place of each option, and its value or the next word."""


def gangs(pods: Pods) -> Iterator[Gang]:
    """Yield the launchers of several nodes whose number is written."""
    for container, launcher, options in launched(pods):
        count, rank = LAUNCHERS[launcher]
        given = {**torchrun_variables(pods, container, launcher), **options}
        place, nodes = given.get(count, (None, ""))
        number = whole_number(nodes)
        if place is None or number is None or number < 2:
            continue
        backend = given.get("--rdzv-backend", (place, "static"))[1]
        ranked = rank in given or "--config-file" in given
        said = given.get(rank, (place, ""))[1]
        yield Gang(place, launcher, number, rank, ranked=ranked, static=backend == "static", rank=said)


def torchrun_variables(pods: Pods, container: Path, launcher: str) -> dict[str, tuple[Place, str]]:
    """Return the options that a container gives to torchrun by variables; operators that set those replace them."""
    if launcher.startswith("accelerate") or pods.manifest.kind in OPERATED:
        return {}
    return {
        f"--{found.name.removeprefix(PREFIX).lower().replace('_', '-')}": (found.place, found.value or "$")
        for found in pods.variables(init=False)
        if found.container == container and found.name.startswith(PREFIX)
    }


def launched(pods: Pods) -> Iterator[Launched]:
    """Yield the first launcher of each container with its options, and those of its program."""
    return iter(pods.once(_launched))


def _launched(pods: Pods) -> Iterator[Launched]:
    for path, words in pods.once(command_lines):
        for name in [name for name in (word.text.rpartition("/")[2] for word in words) if name in LAUNCHERS][:1]:
            own = options(pods.manifest, words[: program_at(words, name)])
            yield Launched(path, name, {**all_options(pods, path, words), **own})


def program_at(words: list[Word], launcher: str) -> int:
    """Return where the program of a launcher begins, whose own options come after it; the end where none is seen."""
    names = [word.text.rpartition("/")[2] for word in words]
    first = names.index(launcher)
    return next(
        (at for at in range(first, len(words)) if names[at].endswith(".py") or names[at] in {"-m", "--module"}),
        len(words),
    )


def arguments(pods: Pods) -> Iterator[tuple[Path, dict[str, tuple[Place, str]]]]:
    """Yield each container that stays with the options of its command line."""
    for path, words in pods.once(command_lines):
        yield path, all_options(pods, path, words)


def command_lines(pods: Pods) -> Iterator[tuple[Path, list[Word]]]:
    """Yield each container that stays with the words of its command line, those within scripts too."""
    for path, container in pods.containers(init=False):
        words = [
            Word(at, word.strip("\"'\\;"))
            for field in ("command", "args")
            for index, text in enumerate(list_texts(container.get(field)))
            for at in [(*path, field, index)]
            for word in text.split()
        ]
        files = pods.files(path) if any(word.text.endswith(settings.SCRIPTS) for word in words) else {}
        scripts = [
            Word(word.path, text.strip("\"'\\;()"))
            for word in words
            if word.text.endswith(settings.SCRIPTS)
            for text in settings.words(files.get(posixpath.normpath(word.text), ""))
        ]
        yield path, [*words, *scripts]


def all_options(pods: Pods, container: Path, words: list[Word]) -> dict[str, tuple[Place, str]]:
    """Return the options of a command line; those of the settings that it names count where it has no others."""
    said = options(pods.manifest, words)
    return {**dict(configured(pods, container, words, said)), **said}


def configured(
    pods: Pods, container: Path, words: list[Word], said: dict[str, tuple[Place, str]]
) -> Iterator[tuple[str, tuple[Place, str]]]:
    """Yield the settings in files that a command line names, and the path of each file, at the word that names it."""
    named = [(word.text.rpartition("=")[2].strip("\"'"), Place(pods.manifest, word.path)) for word in words]
    named = [(path, place) for path, place in named if path.endswith(settings.SETTINGS)]
    if HYDRA_FOLDER in said and HYDRA_FILE in said:
        place, file = said[HYDRA_FILE]
        named.append((f"{said[HYDRA_FOLDER][1]}/{file.removesuffix('.yaml')}.yaml", place))
    files = pods.files(container) if named else {}
    for path, place in named:
        if text := files.get(posixpath.normpath(path)):
            yield path, (place, "")
            own = said.get(ACCELERATE_FILE, (place, ""))[1] == path
            for name, value in settings.flat(path, text).items():
                yield name, (place, value)
                option = name.removeprefix("parallelism_config.") if own else name
                if own or "." in name:
                    yield f"--{option.replace('_', '-')}", (place, value)
                if option != name:
                    yield "--use-parallelism-config", (place, "true")


def options(manifest: Manifest, words: list[Word]) -> dict[str, tuple[Place, str]]:
    """Return the options of a command line by name; those of Hydra (`trainer.devices=8`) as they are written."""
    found: dict[str, tuple[Place, str]] = {}
    for number, word in enumerate(words):
        name, given, value = word.text.partition("=")
        if given and (hydra := HYDRA.fullmatch(name)):
            found[hydra[1]] = (Place(manifest, word.path), value.strip("\"'"))
        if name.startswith("--"):
            after = words[number + 1].text if number + 1 < len(words) else ""
            found[name.replace("_", "-")] = (Place(manifest, word.path), value.strip("\"'") if given else after)
    return found
