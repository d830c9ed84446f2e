"""Scripts that a container gives to a shell, as the commands that follow each other in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trainyard.base.documents import Path
from trainyard.judge.policies.lines import SCRIPT, SHELLS, list_texts
from trainyard.judge.policies.places import Place, Variable
from trainyard.judge.policies.world import Pods, TrainingJob

BRANCHES = re.compile(
    r"(?:^|[;&|\s])(?:if|case|for|while|until|select|function|eval|trap|wait|source|kill)\s|<<|[`(){}]|(?<![&>])&(?![&>])",
    re.MULTILINE,
)
"""What lets a script run otherwise than its commands follow each other."""

CUT = re.compile(r"""("(?:\\.|[^"\\])*"|'[^']*'|\\.)|(\|\||&&|\||;|\n)|([^"'\\|;&\n]+|&|\\|["'])""", re.DOTALL)
"""A quoted text, an operator between two commands, or anything else."""

VALUE = re.compile(r"\$\{\w[^{}]*\}|\$\(\(?[^()|;&]*\)?\)")
"""A variable, or the output of a command, in a place where a value stands."""

COMMENT = re.compile(r"(?:^|(?<=\s))#.*$", re.MULTILINE)

BEFORE = re.compile(r"(?:[A-Za-z_]\w*=\S*|exec|time|nohup|env|stdbuf|unbuffer|-\S+|numactl|nice|sudo)$")
"""What may stand in front of a program."""

ASSIGNED = re.compile(r"([A-Za-z_]\w*)=([\"']?)([^\"'$`\\]*)\2")
"""A variable that a shell sets to a text without variables."""

TRAINS = re.compile(r"(?:python(?:3(?:\.\d+)?)?|torchrun|accelerate|deepspeed|mpirun|horovodrun|composer)$")
"""Programs that train, by the names of their files."""


AFTER = frozenset(
    (
        *("tee", "cat", "head", "tail", "grep", "awk", "sed", "ts", "logger", "echo", "printf", "date", "true", ":"),
        *(
            "exit",
            "cp",
            "mv",
            "rm",
            "ln",
            "touch",
            "mkdir",
            "chmod",
            "chown",
            "tar",
            "gzip",
            "sync",
            "sleep",
            "ls",
            "du",
        ),
        *("rsync", "rclone", "aws", "gsutil", "gcloud", "azcopy", "s5cmd", "mc", "curl", "wget", "wandb", "nvidia-smi"),
    )
)
"""Commands that train nothing, and follow a program to clean up, to store or to tell of its end."""


class Command(NamedTuple):
    """A command of a script."""

    text: str
    behind: str
    """The operator behind it, empty for the last command."""

    @property
    def trains(self) -> bool:
        """Whether a program that trains is started."""
        for word in self.text.split():
            if not BEFORE.match(word):
                return TRAINS.match(word.rpartition("/")[2]) is not None
        return False


class Shell(NamedTuple):
    """A script that a container gives to a shell."""

    place: Place
    container: Path
    text: str
    strict: bool
    """Whether the shell stops at the first command that fails."""
    commands: tuple[Command, ...]
    """In their order; none where the script branches, or starts something beside itself."""
    behind: tuple[str, ...] = ()
    """Texts behind it in the command line, which it sees as $0, $1 and so on."""

    @property
    def end(self) -> tuple[Command, ...]:
        """The program that trains, and the commands behind it; empty where another program may follow."""
        at = max((index for index, command in enumerate(self.commands) if command.trains), default=None)
        found = self.commands[at:] if at is not None else ()
        return found if all(command.text.split(maxsplit=1)[0] in AFTER for command in found[1:]) else ()


def shells(pods: Pods) -> Iterator[Shell]:
    """Yield the scripts of containers that stay, where a shell is what the container starts."""
    for path, container in pods.containers(init=False):
        said = [
            (Place(pods.manifest, (*path, field, index)), text)
            for field in ("command", "args")
            for index, text in enumerate(list_texts(container.get(field)))
        ]
        if not container.get("command") or not said or said[0][1].rpartition("/")[2] not in SHELLS:
            continue
        options = [text for _, text in said[1:-1]]
        at = next((index for index, text in enumerate(options, 1) if SCRIPT.fullmatch(text)), None)
        if at is None:
            continue
        place, text = said[at + 1]
        strict = any(re.fullmatch(r"-[a-z]*e[a-z]*", word) for word in options[:at])
        strict = strict or re.search(r"(?:^|[;\s])set\s+-[a-z]*e", text) is not None
        yield Shell(place, path, text, strict, commands(text), tuple(text for _, text in said[at + 2 :]))


def environment(pods: Pods, *, init: bool = True) -> Iterator[Variable]:
    """Yield the environment of every container, that which its script sets for the program too."""
    yield from pods.variables(init=init)
    yield from pods.once(exported)


def all_variables(job: TrainingJob) -> Iterator[Variable]:
    """Yield the environment of all containers of a job, and of a TrainJob's trainer."""
    yield from job.variables()
    for pods in job.pod_sets() if job.pods_in is job.manifest else ():
        yield from pods.once(exported)


def exported(pods: Pods) -> Iterator[Variable]:
    """Yield the variables that a script without branches exports, or sets in front of the one program that trains.

    What it sets twice, or takes back, may differ between its commands.
    """
    for shell in shells(pods):
        found = [one for command in shell.commands for one in assignments(command)]
        several = sum(command.trains for command in shell.commands) > 1
        for name, value, lasting in found:
            once = sum(name == other for other, *_ in found) == 1
            if once and value is not None and (lasting or not several):
                yield Variable(shell.place, shell.container, name, value)


def assignments(command: Command) -> Iterator[tuple[str, str | None, bool]]:
    """Yield name and value of variables that a command sets, and whether commands behind it have them; None unsets."""
    first, *others = command.text.split()
    if first == "unset":
        yield from ((name, None, True) for name in others)
    for word in others if first == "export" else (first, *others) if command.trains else ():
        if found := ASSIGNED.fullmatch(word):
            yield found[1], found[3], first == "export"
        elif first != "export" and not BEFORE.match(word):
            return


def commands(script: str) -> tuple[Command, ...]:
    """Return the commands of a script; none where it has branches, groups or commands beside others."""
    text = VALUE.sub("$", COMMENT.sub("", script.replace("\\\n", " ")))
    bare = "".join(" " if part[1] else part[0] for part in CUT.finditer(text))
    if BRANCHES.search(bare):
        return ()
    found, current = list[Command](), ""
    for part in CUT.finditer(text):
        if part[2] is None:
            current += part[0]
        elif current.strip():
            found.append(Command(current.strip(), part[2]))
            current = ""
    if current.strip():
        found.append(Command(current.strip(), ""))
    if found and found[-1].behind:
        found[-1] = found[-1]._replace(behind="")
    return tuple(found)
