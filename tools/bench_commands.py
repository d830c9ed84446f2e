"""Measures the everyday commands on this repository: seconds of processor, of all processes, beside a bound for each.

A copy of the last commit is measured, so that nothing here changes. Each row is the best of several runs: first with
nothing remembered, then as people run it. Exit code 1 where a bound is missed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import ROOT, measure

JOB = "jobs/nlp/llama3-8b.yaml"
"""The job that is asked about, and that changes."""

FRESH = count(1000)


def unchanged(_: Path) -> None:
    """Change nothing."""


def change_job(root: Path) -> None:
    """Change the job to what it never was."""
    path = root / JOB
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("maxHours:")]
    path.write_text("\n".join([*lines, f"maxHours: {next(FRESH)}", ""]), "utf-8")


def render(root: Path) -> None:
    """Render what has changed."""
    measure([*PROGRAM, "synth"], root, watch=False)


def change_and_render(root: Path) -> None:
    """Change the job, and render it."""
    change_job(root)
    render(root)


def forget(_: Path) -> None:
    """Remember nothing from here on."""
    os.environ["XDG_CACHE_HOME"] = f"{os.environ['BENCH_HOME']}/{next(FRESH)}"


@dataclass(frozen=True)
class Row:
    """A command, what happens before each run, and the seconds that it may take."""

    what: str
    arguments: tuple[str, ...]
    bound: float
    before: Callable[[Path], None] = unchanged


PROGRAM = (sys.executable, "-m", "trainyard")
ROWS = (
    Row("--help", ("--help",), 0.3),
    Row("rule ID", ("rule", "tas-domain-size"), 0.3),
    Row("check ONE-JOB, nothing changed", ("check", JOB), 1.0),
    Row("check ONE-JOB, that job changed", ("check", JOB), 1.0, change_job),
    Row("check, nothing changed", ("check",), 1.0, render),
    Row("check, one job changed", ("check",), 2.0, change_and_render),
    Row("check, all forgotten", ("check",), 10.0, forget),
    Row("synth --check, nothing changed", ("synth", "--check"), 1.0),
    Row("explain JOB", ("explain", "nlp/llama3-8b"), 1.0),
    Row("admit", ("admit",), 2.0),
    Row("admit JOB", ("admit", "nlp/llama3-8b"), 1.5),
    Row("plan, nothing changed", ("plan",), 1.5),
    Row("plan, one job changed", ("plan",), 1.5, change_and_render),
    Row("validate, nothing changed", ("validate",), 1.5),
    Row("validate one file", ("validate", "generated/kind/argocd/application.kind-argocd.yaml"), 0.25),
    Row("validate generated/kind", ("validate", "generated/kind"), 1.5),
)


def bench(root: Path, row: Row, times: int) -> float:
    """Return the least processor seconds of a command; the first run, which remembers, does not count."""
    found = []
    for _ in range(times + 1):
        row.before(root)
        found.append(measure([*PROGRAM, *row.arguments], root, watch=False).cpu)
    return min(found[1:])


def clone(root: Path) -> None:
    """Copy the last commit, as a branch that is compared with the same."""
    git = ("git", "-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "clone", "-q", str(ROOT), str(root)], check=True)
    subprocess.run([*git, "switch", "-q", "-C", "main"], cwd=root, check=True)
    (root / ".tools").symlink_to(ROOT / ".tools")
    subprocess.run([*git, "switch", "-q", "-c", "work"], cwd=root, check=True)
    os.environ["PYTHONPATH"] = str(root / "platform")
    render(root)


def main() -> None:
    """Print a row for each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3, help="runs of each command")
    times, missed = parser.parse_args().times, []
    with TemporaryDirectory(prefix="trainyard-bench-") as home:
        os.environ |= {"BENCH_HOME": home, "XDG_CACHE_HOME": f"{home}/cache"}
        root = Path(home) / "repository"
        clone(root)
        print("| command | CPU seconds | bound | |\n|---|---|---|---|")
        for row in ROWS:
            seconds = bench(root, row, times)
            missed += [row.what] if seconds > row.bound else []
            print(
                f"| {row.what} | {seconds:.2f} | {row.bound:g} | {'missed' if row.what in missed else ''} |", flush=True
            )
    if missed:
        raise SystemExit(f"{len(missed)} bounds are missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
