"""Which jobs to retire, now that their runs have ended, and why others are left as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trainyard.base.errors import SpecError
from trainyard.faces.live.finished import Seen, State
from trainyard.render.tree.wanted import wanted_entry
from trainyard.specs.editing.retirement import retire
from trainyard.specs.sources import JobFile


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is done about the job of a run."""

    seen: Seen
    retired: bool
    why: str = ""
    """Why the job is left as it is."""
    stuck: bool = False
    """Whether its run has ended well and a person has to do what this cannot."""

    @property
    def job(self) -> str:
        """The job, as people name it."""
        return "/".join(self.seen.workload.job[1:])


def decide(runs: Iterable[Seen], jobs: Iterable[JobFile], *, failed: bool) -> Iterator[Outcome]:
    """Yield the outcome for each run's job; failed runs are left to a person, unless `failed`."""
    files = {(job.team, job.name): job for job in jobs}
    for run in runs:
        file = files.get((run.workload.job[1], run.workload.job[2]))
        match run.state:
            case "going on":
                yield Outcome(run, retired=False, why="still active")
            case "absent":
                why = f"{run.workload.run} is not on the cluster; the next sync creates it"
                yield Outcome(run, retired=False, why=why)
            case "failed" if not failed:
                reason = f" ({run.why})" if run.why else ""
                why = f"{run.workload.run} failed{reason}; raise run: to try again, or retire it with --failed"
                yield Outcome(run, retired=False, why=why)
            case _:
                yield of_file(run, file)


def of_file(seen: Seen, file: JobFile | None) -> Outcome:
    """Return the outcome for a finished run, by its job's file."""
    ended = f"{seen.workload.run} {seen.state}"
    if file is None:
        return Outcome(seen, retired=False, why=f"{ended}, but its job's file cannot be read", stuck=True)
    asked = wanted_entry(file)
    if (asked.cluster, asked.run) != (seen.workload.job[0], seen.workload.run):
        where = "" if asked.cluster == seen.workload.job[0] else f" on {asked.cluster}"
        return Outcome(seen, retired=False, why=f"{ended}, but {file.source.file} now produces {asked.run}{where}")
    if asked.retired:
        return Outcome(seen, retired=False, why=f"{ended}, and {file.source.file} already has retired: true")
    if file.source.document is None:
        why = f"{ended}; set retired=True in {file.source.file}"
        return Outcome(seen, retired=False, why=why, stuck=True)
    return Outcome(seen, retired=True)


def write(root: Path, outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Set `retired: true` in the files of the jobs that are to be retired, and return what came of it."""
    done: list[Outcome] = []
    for outcome in outcomes:
        try:
            if outcome.retired:
                retire(root, *outcome.seen.workload.job[1:])
        except SpecError as error:
            done.append(replace(outcome, retired=False, why=str(error), stuck=True))
        else:
            done.append(outcome)
    return done


def render(outcomes: Sequence[Outcome], *, dry_run: bool) -> str:
    """Return the report: a line per job with the reason if it was skipped; active runs are only counted."""
    word = "would retire" if dry_run else "retired"
    lines = []
    for outcome in outcomes:
        if outcome.retired:
            lines.append(
                f"{word} {outcome.job}: {outcome.seen.workload.kind} {outcome.seen.workload.run} {outcome.seen.state}"
            )
        elif outcome.seen.state != "going on":
            lines.append(f"skipped {outcome.job}: {outcome.why}")
    states = Counter(outcome.seen.state for outcome in outcomes)
    said = [f"{states[state]} {words}" for state, words in WORDS.items() if states[state]]
    count = sum(outcome.retired for outcome in outcomes)
    files = f"{count} {'file' if count == 1 else 'files'} {'to change' if dry_run else 'changed'}"
    after = "; next: run trainyard synth" if count and not dry_run else ""
    lines.append(f"runs: {', '.join(said) or 'none'}; {files}{after}")
    return "\n".join(lines) + "\n"


WORDS: Mapping[State, str] = {
    "succeeded": "succeeded",
    "failed": "failed",
    "going on": "queued or running",
    "absent": "not on the cluster",
}
