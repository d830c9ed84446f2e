"""Command lines: what a job gives its launcher to start, which launcher a command starts, and ranks from variables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from trainyard.render.launchers import own_roles
from trainyard.render.launchers.launch import Wiring
from trainyard.render.sizing import WORKER, Sized
from trainyard.specs.run import Run

OWN: Mapping[str, str] = {
    "torchrun": "torchrun",
    "mpirun": "mpirun",
    "mpiexec": "mpirun",
    "accelerate": "accelerate",
    "accelerate-launch": "accelerate",
    "deepspeed": "deepspeed",
    "horovodrun": "horovod",
}
"""Launchers that are here, by executables of theirs, which none but them should start."""

MODULES: Mapping[str, str] = {
    "torch.distributed.run": "torchrun",
    "torch.distributed.launch": "torchrun",
    "accelerate.commands.launch": "accelerate-launch",
}
"""Executables of `OWN` by the modules that are the same."""

PYTHON, SHELLS = re.compile(r"python[\d.]*"), frozenset({"sh", "bash", "dash", "zsh"})
ASSIGNED, MODULE, SHELL_TEXT = re.compile(r"[A-Za-z_]\w*="), re.compile(r"-[a-zA-Z]*m"), re.compile(r"-[a-z]*c")
"""A variable before a command, and the options after which Python's module and a shell's commands stand."""


def program(run: Run, role: str = WORKER) -> tuple[str, ...]:
    """Return the program or module of a role as Python takes it, and its arguments."""
    start = own_roles.start(run.job, role)
    return (*(("-m", start.module) if start.module else (start.program or "",)), *start.args)


def threads(cpus: int, processes: int) -> Sized[str]:
    """Return OMP_NUM_THREADS: the CPUs divided among processes; torchrun says 1 where nobody says anything."""
    count = max(1, cpus // processes)
    return Sized(str(count), f"{count} = floor({cpus} CPUs / {processes} processes)")


def start_command(run: Run, role: str = WORKER) -> tuple[str, ...]:
    """Return the command of a launcher that takes commands and programs: the command itself, or Python's."""
    start = own_roles.start(run.job, role)
    if start.command is not None:
        return (*start.command, *start.args)
    return ("python", *program(run, role))


def started_by(words: Sequence[str]) -> str | None:
    """Return the launcher of `OWN` that a command line starts: by itself, by Python, `env` or a shell; None for none.

    A shell that names variables is left in peace, since it may tell the launcher its rank.
    """
    rest = list(words)
    while rest and (rest[0].rpartition("/")[2] in {"env", "exec"} or ASSIGNED.match(rest[0])):
        del rest[0]
    first = rest[0].rpartition("/")[2] if rest else ""
    if PYTHON.fullmatch(first):
        return MODULES.get(after(rest, MODULE))
    text = after(rest, SHELL_TEXT) if first in SHELLS else ""
    if text and "$" not in text:
        lines = (line.split() for line in re.split(r"[;&|\n]+", text))
        return next(filter(None, map(started_by, lines)), None)
    return first if first in OWN else None


def after(words: Sequence[str], option: re.Pattern[str]) -> str:
    """Return the word after an option that stands before any script of its interpreter; empty where there is none."""
    for index, word in enumerate(words[1:-1], 1):
        if option.fullmatch(word):
            return words[index + 1]
        if not word.startswith("-") and word != "pipefail":
            break
    return ""


def number_variables(
    names: Sequence[str], wiring: Wiring, command: tuple[str, ...]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the command, and variables from fields of the pod, by which variables of these names have its index.

    Where the operator tells the index by a variable of its own alone, no other variable can refer to that: then a shell
    hands it on, and is replaced by the command.
    """
    if wiring.rank_field is not None:
        return command, dict.fromkeys(names, wiring.rank_field)
    own = [name for name in names if name != wiring.rank]
    if not own:
        return command, {}
    said = " ".join(f'{name}="${wiring.rank}"' for name in own)
    return ("sh", "-c", f'export {said}; exec "$@"', "numbered", *command), {}
