"""Programs that make jobs and are as at the base: their runs are those of the base, whatever they make by now."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from trainyard.findings import Location
from trainyard.system.git import Git
from trainyard.system.repository import JOBS
from trainyard.tree import layout
from trainyard.tree.snapshot import Snapshot
from trainyard.tree.wanted import Wanted


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
    for program in programs:
        same = all(before[path] and before[path] == there.get(path) for path in (program, *small.get(program, ())))
        runs = list(standing(program, base)) if same else []
        kept |= {(run.team, run.job): run for run in runs}
        dropped |= {program} if runs and program in unsteady else set()
    others = (job for job in jobs if (job.team, job.job) not in kept and job.location.file not in dropped)
    return [*others, *kept.values()]


def standing(program: str, base: Snapshot) -> Iterator[Wanted]:
    """Yield the runs of a program that are active at the base."""
    team, _, name = program.removeprefix(f"{JOBS}/").removesuffix(".py").rpartition("/")
    for (cluster, owner, job), past in base.ledgers.items():
        if owner == team and (job == name or job.startswith(f"{name}-")):
            for entry in past:
                if entry.state == "active" and program in sources(base, cluster, layout.run_folder(team, entry.name)):
                    yield Wanted(cluster, team, job, entry.spec, False, 1, Location(program, 1, 1))


def sources(base: Snapshot, cluster: str, folder: str) -> Iterable[str]:
    """Return the spec files that a run's folder at the base comes from."""
    return {entry.spec for entry in base.index(cluster, folder).values()}
