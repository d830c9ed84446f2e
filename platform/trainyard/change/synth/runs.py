"""Which runs are new, which are frozen and which have ended, compared with the base."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from trainyard.base.findings import Finding, Location
from trainyard.base.system.repository import JOBS, job_file
from trainyard.render.tree import layout, ledger
from trainyard.render.tree.ledgers import JobKey
from trainyard.render.tree.rules import JOB_GONE, LIVE, NAME_USED
from trainyard.render.tree.snapshot import Snapshot
from trainyard.render.tree.wanted import Wanted


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of every run; `ledgers` still lack the runs in `fresh`, whose files are not rendered yet."""

    fresh: tuple[Wanted, ...] = ()
    frozen: tuple[Wanted, ...] = ()
    ledgers: Mapping[JobKey, tuple[ledger.Entry, ...]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def with_findings(self, findings: Iterable[Finding]) -> Decision:
        """Return the decision with more to say."""
        return replace(self, findings=(*self.findings, *findings))


def decide(jobs: Iterable[Wanted], base: Snapshot, *, live: bool, setting: Location) -> Decision:
    """Compare what the job files ask for with what exists at the base.

    `setting` is where `live` stands. While nothing syncs the repository, nothing is frozen and the ledgers hold
    only what is.
    """
    jobs = tuple(jobs)
    if not live:
        decision = Decision(fresh=tuple(job for job in jobs if not job.retired))
        if not base.live:
            return decision
        message = "live is false, but true at the base, so clusters sync this repository; set it to true"
        return decision.with_findings([replace(LIVE.of(setting, message), path="live")])
    asked = [(job, past_run(job, base)) for job in jobs if not job.retired]
    return Decision(
        fresh=tuple(job for job, before in asked if before is None),
        frozen=tuple(job for job, before in asked if before and before.is_of(job.spec) and before.state == "active"),
        ledgers=dict(closed_ledgers(jobs, base)),
        findings=(
            *base.findings,
            *(found for job, before in asked if before for found in used_name(job, before, base)),
            *gone_jobs(jobs, base),
        ),
    )


def past_run(wanted: Wanted, base: Snapshot) -> ledger.Entry | None:
    """Return the entry of a run in its ledger at the base, None where there was no run of that name."""
    return next((entry for entry in reversed(base.ledgers.get(wanted.key, ())) if entry.name == wanted.run), None)


def closed_ledgers(jobs: Sequence[Wanted], base: Snapshot) -> Iterator[tuple[JobKey, tuple[ledger.Entry, ...]]]:
    """Yield the ledgers of the base, with the runs ended that no job file asks for any more."""
    by_job, renamed = {(job.team, job.job): job for job in jobs}, renames(jobs, base)
    for key, past in base.ledgers.items():
        now = by_job.get(key[1:])
        yield key, ledger.advance(past, None) if now is None and key[1:] in renamed else close(key, past, now)


def gone_jobs(jobs: Sequence[Wanted], base: Snapshot) -> Iterator[Finding]:
    """Yield a finding for each active job whose file was deleted or renamed."""
    kept = {(job.team, job.job) for job in jobs} | renames(jobs, base)
    for key, past in base.ledgers.items():
        if key[1:] not in kept and any(entry.state == "active" for entry in past):
            yield gone(key, past, base, jobs)


def renames(jobs: Iterable[Wanted], base: Snapshot) -> frozenset[tuple[str, str]]:
    """Return team and former name of the jobs that this change renames: under their new one nothing ran at the base."""
    running = {key[1:] for key in base.active}
    return frozenset((job.team, job.former) for job in jobs if job.former and (job.team, job.job) not in running)


def used_name(wanted: Wanted, before: ledger.Entry, base: Snapshot) -> Iterator[Finding]:
    """Yield the finding for a run whose name an earlier one used up."""
    if not before.is_of(wanted.spec):
        message = (
            f"run {wanted.run!r} has the name of an earlier run with other fields; set run: {next_number(wanted, base)}"
        )
        yield replace(NAME_USED.of(wanted.location, message, fix=NAME_USED.fix), path="run")
    elif before.state != "active":
        message = f"run {wanted.run!r} was {before.state} and cannot start again; set run: {next_number(wanted, base)}"
        yield replace(NAME_USED.of(wanted.location, message, fix=NAME_USED.fix), path="run")


def next_number(wanted: Wanted, base: Snapshot) -> int:
    """Return a value for `run:` that is higher than the job's and than the number of runs it had on all clusters."""
    past = (entries for key, entries in base.ledgers.items() if key[1:] == (wanted.team, wanted.job))
    return max(wanted.number, sum(map(len, past))) + 1


def close(key: JobKey, past: Sequence[ledger.Entry], now: Wanted | None) -> tuple[ledger.Entry, ...]:
    """Return a ledger with the runs ended that the job file does not ask for any more."""
    if now is None:
        return tuple(past)
    running = None
    if not now.retired and now.key == key:
        running = next((entry for entry in past if entry.name == now.run), None)
    return ledger.advance(past, running, retired=now.retired)


def gone(key: JobKey, past: Sequence[ledger.Entry], base: Snapshot, jobs: Sequence[Wanted]) -> Finding:
    """Return the finding for an active job whose file was deleted or renamed."""
    cluster, team, job = key
    entry = next(entry for entry in past if entry.state == "active")
    files = {one_entry.spec for one_entry in base.index(cluster, layout.run_folder(team, entry.name)).values()}
    file = next((one_file for one_file in sorted(files) if one_file.startswith(f"{JOBS}/")), job_file(team, job))
    known = {key[1:] for key in base.ledgers}
    new = (
        one_entry for one_entry in jobs if entry.is_of(one_entry.spec) and (one_entry.team, one_entry.job) not in known
    )
    renamed = next(
        (one_entry.job if one_entry.team == team else f"{one_entry.team}/{one_entry.job}" for one_entry in new), None
    )
    what, way, fix = "its file is gone", "restore it with retired: true, merge, then delete it", JOB_GONE.fix
    if renamed:
        what = f"its file is now {renamed!r}"
        if "/" not in renamed:
            way = f"write renamedFrom: {job} into that file"
            fix = f"move it back and run `trainyard rename {team}/{job} {renamed}`, which keeps its checkpoints"
    elif file.endswith(".py"):
        what, way = f"{file} no longer yields it", "yield it with retired=True, merge, then remove it"
    message = f"job {job!r} is still active, but {what}; {way}"
    return JOB_GONE.of(Location(file), message, fix=fix)


def finish(decision: Decision, fresh: Mapping[JobKey, ledger.Entry]) -> dict[JobKey, tuple[ledger.Entry, ...]]:
    """Return all ledgers, with the runs that were rendered entered."""
    ledgers = dict(decision.ledgers)
    for key, entry in fresh.items():
        ledgers[key] = ledger.advance(ledgers.get(key, ()), entry)
    return ledgers


def frozen_files(frozen: Sequence[Wanted], base: Snapshot) -> dict[str, str]:
    """Return path and content id of every file of the frozen runs, and of their indexes."""
    files: dict[str, str] = {}
    for entry in frozen:
        folder = f"{entry.cluster}/{entry.folder}"
        files |= {f"{folder}/{name}": oid for name, oid in base.folder(folder).items()}
        listed = f"{entry.cluster}/{layout.index_file(entry.folder)}"
        if listed in base.files:
            files[listed] = base.files[listed]
    return files
