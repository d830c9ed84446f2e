"""Programs that make jobs and that whoever only looks does not run: their runs are those that `generated/` has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from trainyard.base.findings import Finding, Location, Severity
from trainyard.base.rules import Rule
from trainyard.base.system.git import Git
from trainyard.base.system.repository import GENERATED, JOBS
from trainyard.change.synth.facts import FileFact, RunFact
from trainyard.render.tree import layout
from trainyard.render.tree.disk import Disk
from trainyard.render.tree.programs import active_runs
from trainyard.render.tree.snapshot import Snapshot, from_disk
from trainyard.render.tree.wanted import Wanted
from trainyard.specs.load import Loaded

IDLE = Rule(
    id="run/python-idle",
    title="Trainyard has executed all Python job files.",
    why="a plan does not execute files of an unreviewed branch, and shows their runs in generated/",
    fix="run `trainyard check`, which executes them in a sandbox, or use --python",
    source="docs/jobs.md",
    layer="run",
    severity=Severity.WARNING,
)


def facts(loaded: Loaded, disk: Disk) -> dict[str, FileFact]:
    """Return the facts in the tree at hand about programs that were not run, by their files."""
    if not loaded.idle:
        return {}
    now = of_disk(disk)
    programs = {place.path for place in loaded.places if place.path.endswith(".py")}
    found = active_runs([place.path for place in loaded.idle], now)
    beside = disk.scan(JOBS)
    return {
        place.path: FileFact(
            {},
            list(small(place.folder, beside, programs)),
            [
                RunFact(entry.cluster, entry.job, entry.spec, False, 1, *of_run(now, entry.key))
                for entry in found[place.path]
            ],
        )
        for place in loaded.idle
    }


def small(team: str, beside: Iterable[str], programs: Collection[str]) -> Iterator[str]:
    """Yield the small files that a team's program may name: all that are neither jobs nor programs."""
    for path in beside:
        if path.startswith(f"{team}/") and not path.endswith(".yaml") and f"{JOBS}/{path}" not in programs:
            yield f"{JOBS}/{path}"


def of_run(now: Snapshot, key: tuple[str, str, str]) -> tuple[Mapping[str, str], str]:
    """Return the files of a job's run with its index, and their digest, as the tree and its ledger have them."""
    cluster, team, _ = key
    entry = now.active[key]
    folder = layout.run_folder(team, entry.name)
    files = {f"{cluster}/{folder}/{name}": oid for name, oid in now.folder(f"{cluster}/{folder}").items()}
    index = f"{cluster}/{layout.index_file(folder)}"
    return {**files, **({index: now.files[index]} if index in now.files else {})}, entry.files


def with_ended(jobs: list[Wanted], facts: Mapping[str, FileFact], base: Snapshot, disk: Disk) -> list[Wanted]:
    """Return the jobs, of programs that were not run also those that end, as the ledgers at hand tell it.

    What is retired there is retired. What is replaced, and asked for no more, has another name: that of a new job of
    the same fields, or else of a new one of the program.
    """
    files = [file for file, fact in facts.items() if fact.is_idle]
    have = {(job.team, job.job) for job in jobs}
    gone = [(file, entry) for file, mine in active_runs(files, base).items() for entry in mine]
    gone = [(file, entry) for file, entry in gone if (entry.team, entry.job) not in have]
    if not gone:
        return jobs
    ledgers, running = of_disk(disk).ledgers, {key[1:] for key in base.active}
    fresh = [job for job in jobs if (job.team, job.job) not in running and job.location.file in files]
    retired, formers = list[Wanted](), dict[Wanted, str]()
    for file, entry in gone:
        state = next((one.state for one in ledgers.get(entry.key, ()) if one.name == entry.run), "")
        mine = [one for one in fresh if one.location.file == file and one not in formers]
        if state == "retired":
            retired.append(replace(entry, retired=True))
        elif state == "replaced" and mine:
            formers[next((one for one in mine if one.spec == entry.spec), mine[0])] = entry.job
    return [*(replace(job, former=formers.get(job, job.former)) for job in jobs), *retired]


def of_disk(disk: Disk) -> Snapshot:
    """Return the tree at hand."""
    there = {path: oid for path, oid in disk.scan(GENERATED).items() if oid is not None}
    return from_disk(disk.root / GENERATED, there)


def unrun_programs(
    facts: Mapping[str, FileFact], specs: Mapping[str, str], base: Snapshot, git: Git | None
) -> Iterator[Finding]:
    """Yield a warning for each changed Python job file that was not executed."""
    idle = sorted(file for file, fact in facts.items() if fact.is_idle)
    before = git.object_ids(base.commit, *idle) if git and base.commit and idle else [None] * len(idle)
    for file, oid in zip(idle, before, strict=True):
        if oid is None or oid != specs.get(file):
            message = "this Python job file was not executed, so its runs are those in generated/"
            yield IDLE.of(Location(file, 1, 1), message)
