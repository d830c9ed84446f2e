"""The exit code of a shell is that of the program that trains.

Why: A pipe ends with the code of its last command, and a script with that of its last line. Behind them a program that
 crashed counts as a success: the job is complete, and nothing starts it again.
Fix: add `set -eo pipefail` in bash, or start the program with exec as the last command.
Source: POSIX.1-2024 Shell Command Language 2.9.2; kubernetes v1.35 pkg/controller/job/job_controller.go
"""

import re
from collections.abc import Iterator

from trainyard.checks import Problem, Severity, Shell, World, shells

SEVERITY = Severity.WARNING

SERVE = {"LeaderWorkerSet", "RayCluster"}
"""Kinds that never complete, whatever the exit code."""

KEPT = re.compile(r"pipefail|PIPESTATUS|\$\?")
"""What a script looks at codes with."""

ALWAYS = re.compile(r"(?:true|:|exit\s+0|echo\b.*)$", re.DOTALL)
"""A command that succeeds."""


def check(world: World) -> Iterator[Problem]:
    """Look at scripts that start a program which trains, in kinds that complete."""
    for job in world.training_jobs():
        if job.manifest.kind not in SERVE:
            for pods in job.pod_sets():
                for shell in shells(pods):
                    if reason := lost(shell):
                        message = f"the exit code is that of {reason}, so a crash of the program counts as success"
                        yield Problem(shell.place, message)


def lost(shell: Shell) -> str:
    """Return the command whose exit code counts in place of the program's; empty where the program's does."""
    if KEPT.search(shell.text):
        return ""
    rest = shell.end
    piped = next((index for index, command in enumerate(rest) if command.behind != "|"), 0)
    if not rest or not rest[0].behind:
        return ""
    if piped:
        return name(rest[piped].text)
    after = rest[1].text
    if rest[0].behind == "||":
        return name(after) if ALWAYS.match(after) else ""
    return name(rest[-1].text) if rest[0].behind in {";", "\n"} and not shell.strict else ""


def name(command: str) -> str:
    """Return a command by its first word, in quotes."""
    return repr(command.split(maxsplit=1)[0])
