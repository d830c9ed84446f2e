"""Texts in command lines of containers, which the kubelet expands and a shell does not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trainyard.judge.policies.places import Place
from trainyard.judge.policies.world import Pods, TrainingJob

SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh", "busybox"})
INTERPRETERS = SHELLS | {"python", "python3", "perl", "ruby", "node", "awk", "gawk", "envsubst", "ssh", "eval", "su"}
"""Programs that run texts as programs."""

TEXTS = INTERPRETERS - SHELLS
BLANK = re.compile(r"\s")

SCRIPT = re.compile(r"-[a-z]*[ce]")
"""The option before such a text: `-c`, `-lc`, `-euxc`, `-e`."""


class Text(NamedTuple):
    """A text of a command line, and where it is written; the kubelet expands it, a shell does not."""

    place: Place
    text: str


def texts(job: TrainingJob, path: tuple[str | int, ...], container: Mapping[str, Any]) -> Iterator[Text]:
    """Yield the texts of a container's command line that reach a program as they are.

    What an interpreter is given as its program is left out, and everything behind it. Without a command the image's
    entry point takes the arguments: those with blanks in them may be its program.
    """
    named = [
        (field, index, text)
        for field in ("command", "args")
        for index, text in enumerate(list_texts(container.get(field)))
    ]
    inside = False
    for number, (field, index, text) in enumerate(named):
        if inside or "\n" in text:
            return
        if not container.get("command") and BLANK.search(text):
            continue
        yield Text(Place(job.manifest, (*path, field, index)), text)
        program = text.rpartition("/")[2]
        follows = named[number + 1][2] if number + 1 < len(named) else ""
        inside = program in TEXTS and not program.startswith("python")
        inside = inside or SCRIPT.fullmatch(text) is not None or (program in SHELLS and not follows.startswith("-"))


RANGE = re.compile(r"(?:^|[\s=])--nnodes(?:=|\s+)[\"']?(\d+):(\d+)")
PAIR = re.compile(r"(\d+):(\d+)")


def elastic(pods: Pods) -> Text | None:
    """Return the text with torchrun's range of nodes, such as `--nnodes=2:4`; None without a range."""
    for variable in pods.variables(init=False):
        found = PAIR.fullmatch(variable.value or "") if variable.name == "PET_NNODES" else None
        if found and found[1] != found[2]:
            return Text(variable.place, f"nnodes {found[0]}")
    for path, container in pods.containers(init=False):
        for field in ("command", "args"):
            said = list_texts(container.get(field))
            for index, text in enumerate(said):
                found = RANGE.search(text)
                if text == "--nnodes" and index + 1 < len(said):
                    found = PAIR.fullmatch(said[index + 1])
                if found and found[1] != found[2]:
                    return Text(Place(pods.manifest, (*path, field, index)), f"nnodes {found[1]}:{found[2]}")
    return None


def list_texts(value: Any) -> list[str]:
    """Return the texts of a list; none if the value is not a list."""
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
