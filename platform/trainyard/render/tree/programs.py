"""Programs that make jobs and are as at the base: their runs are those of the base, whatever they make by now."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from trainyard.base.findings import Location
from trainyard.base.system.git import Git
from trainyard.base.system.repository import JOBS
from trainyard.render.tree import index, layout
from trainyard.render.tree.snapshot import Snapshot
from trainyard.render.tree.wanted import Wanted


def as_at_base(
    jobs: Sequence[Wanted],
    base: Snapshot,
    git: Git,
    there: Mapping[str, str],
    small: Mapping[str, Collection[str]],
    unsteady: Collection[str],
) -> list[Wanted]:
    """Return the jobs, those of unchanged programs as their runs at the base.

    `there` are the content ids of spec files at hand, `small` the small files that each program's jobs name. Of an
    `unsteady` program, which makes other jobs each time, nothing but its runs at the base counts.
    """
    if base.commit is None:
        return list(jobs)
    programs = sorted(
        {*small, *unsteady, *(job.location.file for job in jobs)} & {path for path in there if path.endswith(".py")}
    )
    paths = sorted({*programs, *(path for program in programs for path in small.get(program, ()))})
    before = dict(zip(paths, git.object_ids(base.commit, *paths), strict=True)) if paths else {}
    kept: dict[tuple[str, str], Wanted] = {}
    dropped: set[str] = set()
    same = [
        program
        for program in programs
        if all(before[path] and before[path] == there.get(path) for path in (program, *small.get(program, ())))
    ]
    for program, runs in active_runs(same, base).items():
        kept |= {(run.team, run.job): run for run in runs}
        dropped |= {program} if runs and program in unsteady else set()
    others = (job for job in jobs if (job.team, job.job) not in kept and job.location.file not in dropped)
    return [*others, *kept.values()]


def active_runs(programs: Sequence[str], base: Snapshot) -> Mapping[str, Sequence[Wanted]]:
    """Return the runs of each program that are active at the base; all their indexes are read at once."""
    found: dict[str, list[Wanted]] = {program: [] for program in programs}
    maybe = list(called_runs(programs, base))
    folders = {(wanted.cluster, folder) for _, wanted, folder in maybe}
    files = {place: sources(entries) for place, entries in base.indexes_of(sorted(folders)).items()}
    for program, wanted, folder in maybe:
        if program in files[wanted.cluster, folder]:
            found[program].append(wanted)
    return found


def called_runs(programs: Sequence[str], base: Snapshot) -> Iterator[tuple[str, Wanted, str]]:
    """Yield the active runs that a program's name allows it, with the program and the run's folder."""
    names: dict[str, list[tuple[str, str]]] = {}
    for program in programs:
        team, _, name = program.removeprefix(f"{JOBS}/").removesuffix(".py").rpartition("/")
        names.setdefault(team, []).append((name, program))
    for (cluster, team, job), past in base.ledgers.items():
        for name, program in names.get(team, ()):
            if job == name or job.startswith(f"{name}-"):
                for entry in past:
                    if entry.state == "active":
                        wanted = Wanted(cluster, team, job, entry.spec, False, 1, Location(program, 1, 1))
                        yield program, wanted, layout.run_folder(team, entry.name)


def sources(entries: Mapping[str, index.Entry]) -> frozenset[str]:
    """Return the spec files that the files of an index come from."""
    return frozenset(entry.spec for entry in entries.values())
