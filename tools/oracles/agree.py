"""Asks the oracles that are built, and prints for each question how many cases were asked and how many differ.

Starts what a question needs and stops it again. Exit code 1 where anything differs, 2 where an oracle that is named is
not built or does not start.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path += [str(HERE)]

import build  # noqa: E402 - stands beside this file
from oracle import paths  # noqa: E402
from questions import SUBJECTS, Question, Subject, of_pytest  # noqa: E402

NOT_ASKED = 2
"""The exit code where an oracle could not be asked."""


@dataclass(frozen=True)
class Row:
    """A line of the table: what was asked of whom, how many cases, how many differ, how long it took."""

    subject: str
    what: str
    cases: int
    differ: int
    seconds: float
    failed: str = ""

    def text(self) -> str:
        """Return the line."""
        said = f"{self.subject:10} {self.what:56} {self.cases:6} {self.differ:7} {self.seconds:8.0f}"
        return f"{said}  {self.failed}".rstrip()


def missing(subject: Subject) -> list[str]:
    """Return the names of oracles that are not built."""
    return [name for name in subject.needs if not_built(name)]


def not_built(name: str) -> bool:
    """Whether an oracle, or a component of the cluster, is not built."""
    return bool(build.ORACLES[name].missing() if name in build.ORACLES else build.building.missing([name]))


def command(name: str) -> str:
    """Return the command that builds an oracle."""
    return f"make oracles O={name if name in build.ORACLES else 'cluster'}"


@contextmanager
def answering(name: str, subject: Subject) -> Iterator[dict[str, str]]:
    """Start what answers; yield the words that commands and variables are filled with."""
    words = {"python": sys.executable, "cluster": f"agreement-{name}"}
    if subject.program:
        yield words | {"program": str(build.program(subject.program))}
        return
    cluster = HERE / "cluster"
    try:
        start = "empty" if subject.empty else "up"
        up = [sys.executable, cluster / start, "--name", words["cluster"], *subject.cluster]
        started = subprocess.run(up, check=False)
        if started.returncode:
            raise RuntimeError("the cluster does not start; see the lines above")
        if subject.argocd:
            start = ["--name", words["cluster"], "start", "--release", subject.argocd]
            subprocess.run([sys.executable, cluster / "argocd", *start], check=True)
        yield words | {"kubeconfig": str(paths.run_dir(words["cluster"]) / "kubeconfig")}
    finally:
        if subject.argocd:
            subprocess.run([sys.executable, cluster / "argocd", "--name", words["cluster"], "stop"], check=False)
        subprocess.run([sys.executable, cluster / "down", "--name", words["cluster"]], check=False)


def environment(subject: Subject, words: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command: its variables name what answers, and its cluster may be changed."""
    named = dict.fromkeys(subject.variables, words.get("program") or words.get("kubeconfig", ""))
    rest = {"TRAINYARD_THROWAWAY": "1"} if subject.cluster or subject.empty else {}
    if subject.argocd:
        rest["TRAINYARD_ARGOCD_RELEASE"] = subject.argocd
    return {**os.environ, **named, **rest}


def ask(name: str, subject: Subject, question: Question, words: Mapping[str, str], times: float) -> Row:
    """Run one command, and read its counts."""
    begun = time.monotonic()
    filled = {**words, "count": str(max(1, round(question.count * times)))}
    line = [sys.executable, *(word.format(**filled) for word in question.command)]
    print(f"{name}: {' '.join(line)}", flush=True)
    done = subprocess.run(
        line, cwd=ROOT, env=environment(subject, words), stdout=subprocess.PIPE, text=True, check=False
    )
    print(done.stdout, flush=True)
    seconds = time.monotonic() - begun
    try:
        counts = (question.read or of_pytest)(done.stdout)
    except (ValueError, IndexError):
        return Row(name, question.what, 0, 0, seconds, f"stopped with exit code {done.returncode}")
    failed = "differs" if done.returncode or counts.differ else ("" if counts.cases else "nothing was asked")
    return Row(name, question.what, *counts, seconds, failed)


def ask_questions(name: str, subject: Subject, times: float) -> list[Row]:
    """Return a row for every question to one oracle."""
    try:
        with answering(name, subject) as words:
            return [ask(name, subject, question, words, times) for question in subject.questions]
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        return [Row(name, "start", 0, 0, 0, str(error))]


def main() -> int:
    """Ask, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"any of: {', '.join(SUBJECTS)}; by default all that are built")
    parser.add_argument("--times", type=float, default=1, help="ask so many times as many cases, as 0.1 or 20")
    given = parser.parse_args()
    if unknown := set(given.names) - set(SUBJECTS):
        parser.error(f"oracle {sorted(unknown)[0]!r} does not exist; there are {', '.join(SUBJECTS)}")
    rows, absent = [], {}
    for name in given.names or SUBJECTS:
        if lacking := missing(SUBJECTS[name]):
            absent[name] = lacking
            continue
        print(f"{name}: about {SUBJECTS[name].seconds * max(1, given.times):.0f} s", flush=True)
        rows += ask_questions(name, SUBJECTS[name], given.times)
    print(f"{'oracle':10} {'asked about':56} {'cases':>6} {'differ':>7} {'seconds':>8}")
    for row in rows:
        print(row.text())
    for name, lacking in absent.items():
        commands = " && ".join(dict.fromkeys(map(command, lacking)))
        print(f"{name:10} was not asked: {', '.join(lacking)} is not built; run {commands}", file=sys.stderr)
    if (absent and given.names) or not rows or any(row.failed not in {"", "differs"} for row in rows):
        return NOT_ASKED
    return int(any(row.failed for row in rows))


if __name__ == "__main__":
    sys.exit(main())
