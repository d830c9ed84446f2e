"""Measures a synthetic fleet: synth from nothing, then one job changed, its plan, and kubeconform on the tree.

Wall time, CPU time and the peak of resident memory of all processes together, as the kernel counts them (Linux). The
everyday commands have a bound of CPU time, beside which it is printed; exit code 1 where one is missed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "platform"))
sys.path.insert(0, str(ROOT / "tools"))

import fleet  # noqa: E402  # after the path is set
from trainyard.base.system import kubeconform  # noqa: E402  # after the path is set

POLL_SECONDS = 0.2

BOUNDS = {1_000: (1.5, 3.0, 3.0), 10_000: (2.0, 5.0, 5.0)}
"""Seconds of CPU by jobs of the fleet: to check one job, all when one has changed, and to validate the tree then."""

PROGRAM = (sys.executable, "-m", "trainyard")


@dataclass(frozen=True, slots=True)
class Measured:
    """One command: seconds on the clock, seconds of CPU, and the peak of memory in MiB."""

    wall: float
    cpu: float
    memory: float


def measure(command: Sequence[str | Path], cwd: Path, *, watch: bool = True) -> Measured:
    """Run a command to its end; raises SystemExit where it fails.

    To `watch` its memory, the kernel goes through its pages every time, which a run of two seconds shows.
    """
    settings = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"} | {"CI": ""}
    before, start, peak = os.times(), time.perf_counter(), 0
    with TemporaryDirectory() as folder, (Path(folder) / "out").open("w+") as out:
        process = subprocess.Popen(
            [str(word) for word in command], cwd=cwd, stdout=out, stderr=subprocess.STDOUT, env=settings
        )
        running = True
        while running:
            peak = max(peak, resident(process.pid)) if watch else 0
            with suppress(subprocess.TimeoutExpired):
                process.wait(POLL_SECONDS if watch else None)
                running = False
        wall = time.perf_counter() - start
        if process.returncode:
            out.seek(0)
            raise SystemExit(f"{command[0]} failed:\n{out.read()[-2000:]}")
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Measured(wall, cpu, peak / 2**20)


def resident(pid: int) -> int:
    """Return the resident memory of a process and its descendants, in bytes; pages that they share count once."""
    total = 0
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        total = sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (OSError, IndexError):
        return total
    return total + sum(resident(int(child)) for child in children)


def clusters_of(jobs: int) -> int:
    """Return how many clusters a fleet of that many jobs has."""
    return max(10, jobs // 200)


def bench(jobs: int) -> list[str]:
    """Measure one size, print its rows, and return the bounds that are missed."""
    with TemporaryDirectory(prefix="trainyard-bench-") as folder, TemporaryDirectory() as cache:
        root = Path(folder)
        os.environ["XDG_CACHE_HOME"] = cache
        fleet.write_fleet(root, jobs=jobs, clusters=clusters_of(jobs))
        git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "commit.gpgsign=false"]
        for command in (["init", "-q", "-b", "main"], ["add", "jobs", "platform"], ["commit", "-q", "-m", "specs"]):
            subprocess.run([*git, *command], cwd=root, check=True)
        (root / ".git/info/exclude").write_text(".tools\n", encoding="utf-8")
        (root / ".tools").symlink_to(ROOT / ".tools")
        synth = [*PROGRAM, "synth"]
        os.environ["PYTHONPATH"] = str(ROOT / "platform")
        row(jobs, "synth, cold", measure(synth, root))
        for command in (["add", "generated"], ["commit", "-q", "-m", "generated"], ["switch", "-qc", "work"]):
            subprocess.run([*git, *command], cwd=root, check=True)
        row(jobs, "synth, first after that commit", measure(synth, root))
        row(jobs, "synth, nothing changed", warm(synth, root))
        row(jobs, "synth, one job changed", warm(synth, root, sorted((root / "jobs").rglob("job-*.yaml"))))
        plan = [*PROGRAM, "plan"]
        row(jobs, "plan, all judged", measure(plan, root))
        row(jobs, "plan, another job changed", planned(synth, plan, root))
        program = kubeconform.find(ROOT)
        place = f"{ROOT}/schemas/{{}}/{{{{.Group}}}}/{{{{.ResourceKind}}}}_{{{{.ResourceAPIVersion}}}}.json"
        locations = [f"-schema-location={place.format(release)}" for release in ("jobset/0.12.0", "kubernetes/1.35")]
        runs = sorted((root / "generated").glob("*/runs"))
        measured = measure([program, "-summary", "-ignore-missing-schemas", *locations, *runs], root)
        row(jobs, "kubeconform on the runs", measured)
        return everyday(jobs, root)


def warm(synth: Sequence[str | Path], root: Path, changing: Sequence[Path] = ()) -> Measured:
    """Measure twice, by the clock alone and watching the memory, each time with another file changed."""
    found = []
    for number in range(2):
        for changed in changing[number : number + 1]:
            text = changed.read_text(encoding="utf-8")
            changed.write_text(longer(text), encoding="utf-8")
        found.append(measure(synth, root, watch=number == 1))
    return replace(found[0], memory=found[1].memory)


def planned(synth: Sequence[str | Path], plan: Sequence[str | Path], root: Path) -> Measured:
    """Measure the first plan after a job changed, and was rendered, that no plan saw before: twice, as in `warm`."""
    files = sorted((root / "jobs").rglob("job-*.yaml"))
    before = {file: file.read_text(encoding="utf-8") for file in files[:4]}
    found = []
    for number in (2, 3):
        for path, text in before.items():
            asked = text.replace("maxHours: 1", "maxHours: ") if path != files[number] else longer(text)
            path.write_text(asked, encoding="utf-8")
        measure(synth, root, watch=False)
        found.append(measure(plan, root, watch=number == 3))
    return replace(found[0], memory=found[1].memory)


def everyday(jobs: int, root: Path) -> list[str]:
    """Measure the commands that have a bound, each as the best of two after one that remembers.

    Return the rows in which it is missed.
    """
    one_job, check, validate = BOUNDS.get(jobs, (None, None, None))
    files = iter(sorted((root / "jobs").rglob("job-*.yaml"))[10:])
    asked = str(next(files).relative_to(root))
    return [
        *bounded(jobs, "check ONE-JOB", root, ("check", asked), one_job),
        *bounded(jobs, "check, one job changed", root, ("check",), check, files),
        *bounded(jobs, "validate, one job changed", root, ("validate",), validate, files),
    ]


def bounded(
    jobs: int, what: str, root: Path, words: Sequence[str], bound: float | None, changing: Iterator[Path] | None = None
) -> list[str]:
    """Print the row of a command, before which another job is changed and rendered each time; return it if missed."""
    found = []
    for _ in range(3):
        if changing is not None:
            path = next(changing)
            path.write_text(longer(path.read_text(encoding="utf-8")), encoding="utf-8")
            measure([*PROGRAM, "synth"], root, watch=False)
        found.append(measure([*PROGRAM, *words], root, watch=False))
    best = min(found[1:], key=lambda one: one.cpu)
    row(jobs, what, best, bound)
    return [f"{what} of {jobs:,} jobs"] if bound is not None and best.cpu > bound else []


def longer(text: str) -> str:
    """Return a job that may take longer."""
    return text.replace("maxHours: ", "maxHours: 1")


def row(jobs: int, what: str, found: Measured, bound: float | None = None) -> None:
    """Print one row of a Markdown table; a peak of 0 was not looked at."""
    memory = f"{found.memory:.0f}" if found.memory else ""
    limit = "" if bound is None else f"{bound:g} (missed)" if found.cpu > bound else f"{bound:g}"
    print(f"| {jobs:,} | {what} | {found.wall:.1f} | {found.cpu:.1f} | {memory} | {limit} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1_000, 10_000])
    print("| jobs | what | seconds | CPU seconds | peak MiB | bound |\n|---|---|---|---|---|---|")
    missed = [what for size in parser.parse_args().jobs for what in bench(size)]
    if missed:
        raise SystemExit(f"{len(missed)} bounds are missed: {', '.join(missed)}")
