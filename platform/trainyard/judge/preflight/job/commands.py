"""What a job writes for a shell where none runs, and folders in a pod that are not there for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.policies.lines import SCRIPT, SHELLS
from trainyard.judge.preflight.job.volumes import targets
from trainyard.judge.preflight.subjects import RESOLVED
from trainyard.render.kinds import Resolved
from trainyard.specs import Job

SHELL = Rule(
    id="run/shell-words",
    title="Commands and args are lists of words, without shell syntax.",
    why="no shell parses them, so the program gets pipes, redirections and whole lines as plain arguments",
    fix="write each word as a separate entry; for shell syntax start one: [bash, -c, 'line \"$@\"', name]",
    source="kubernetes v1.35 staging/src/k8s.io/api/core/v1/types.go Container.Command; POSIX.1-2024 sh",
    layer="run",
    severity=Severity.WARNING,
)
FOLDER = Rule(
    id="run/folder",
    title="Folders in args and variables exist and are accessible in the pod.",
    why="/scratch exists only if the job sets scratch, and only root may open /root",
    fix="set scratch, or use a folder that the job mounts",
    source="docs/jobs.md; Debian base-passwd and base-files, mode 0700 of /root",
    layer="run",
    severity=Severity.WARNING,
)

OPERATOR = re.compile(r"[0-9&]?>{1,2}(?:&[0-9-])?|<|\|{1,2}|&{1,2}|;")
"""A word that a shell takes for itself: a redirection, a pipe, an end of a command."""

LINE = re.compile(r"--?[A-Za-z][-\w.]*\s+\S[\s\S]*")
"""An option and its value in one word, as no program that reads options takes them."""

INSIDE = re.compile(r"(?:^|=)/(?P<top>scratch|root)(?:/|$)")
"""A folder in a text that is a path, or an option with one."""

Words = Sequence[str]


@RESOLVED.check()
def check(run: Resolved) -> Iterator[Finding]:
    """Yield words of command lines that are a shell's, and paths to folders that are not there."""
    job = run.run.job
    for path, words, before in lines(job):
        for index, message in shells(words, before):
            yield SHELL.at(run.run.source, (*path, index), message)
    for path, text in texts(job):
        wrong = missing_path(run, text)
        if wrong is not None:
            yield FOLDER.at(run.run.source, path, wrong)


def lines(job: Job) -> Iterator[tuple[Path, Words, Words]]:
    """Yield every list of words that a job starts, with the words before it."""
    if job.command is not None:
        yield ("command",), job.command, ()
    yield ("args",), job.args, job.command or ()
    for name, role in job.roles.items():
        if role.command is not None:
            yield ("roles", name, "command"), role.command, ()
        if role.args is not None:
            yield ("roles", name, "args"), role.args, role.command or ()


def shells(words: Words, before: Words) -> Iterator[tuple[int, str]]:
    """Yield the places of words that only a shell would take apart; what a shell is given to run is its own."""
    said = [*before, *words]
    start = len(before)
    script = script_at(said)
    if script is not None:
        if re.search(r"[^&]&\s*$", said[script]) and script >= start:
            message = "the script ends in '&', so the pod ends at once with exit code 0; remove it"
            yield script - start, message
        extra = max(script + 1, start)
        if "$" not in said[script] and script + 1 < len(said) and extra < len(said) and extra == script + 1:
            message = (
                f"the shell runs only {short(said[script])}, and {short(said[extra])} becomes its $0; "
                "put both into one argument"
            )
            yield extra - start, message
        return
    for index, word in enumerate(words):
        previous = said[start + index - 1] if start + index else ""
        if OPERATOR.fullmatch(word):
            yield index, f"{word!r} is shell syntax, but no shell runs here; remove it, or start one with bash -c"
            return
        if LINE.fullmatch(word) and not (previous.startswith("-") and "=" not in previous):
            yield index, f"{short(word)} is one argument that contains blanks; write each word as a separate entry"


def script_at(words: Words) -> int | None:
    """Return where the script stands that a shell is given by `-c`; None where no shell is."""
    for index, word in enumerate(words[:-1]):
        if word.rpartition("/")[2] in SHELLS:
            behind = next((at for at in range(index + 1, len(words) - 1) if SCRIPT.fullmatch(words[at])), None)
            return None if behind is None else behind + 1
    return None


def short(word: str) -> str:
    """Quote the beginning of a word."""
    return repr(word if len(word) <= 24 else f"{word[:24]}…")


def texts(job: Job) -> Iterator[tuple[Path, str]]:
    """Yield the arguments and variables of a job, of its roles too."""
    for path, words, _ in lines(job):
        yield from (((*path, index), word) for index, word in enumerate(words))
    yield from ((("env", name), value) for name, value in job.env.items())
    for role, said in job.roles.items():
        yield from ((("roles", role, "env", name), value) for name, value in said.env.items())


def missing_path(run: Resolved, text: str) -> str | None:
    """Return the problem with a path: in a scratch that nobody asked for, or at root's home."""
    found, job = INSIDE.search(text), run.run.job
    if found is None:
        return None
    if found["top"] == "root":
        user = job.run_as_user if job.run_as_user is not None else run.run.team.run_as_user
        return None if user == 0 else (f"{short(text)} is in root's home, which this user may not open; mount a folder")
    mounted = [path for path, _ in targets(job)]
    if job.scratch or any(path.startswith("/scratch") for path in mounted):
        return None
    return f"{short(text)} is in /scratch, which exists only if the job sets scratch; add scratch: 100Gi"
