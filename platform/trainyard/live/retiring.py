"""Which jobs to retire, now that their runs have ended, and why others are left as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trainyard.errors import SpecError
from trainyard.live.finished import Seen, State
from trainyard.specs.editing.retirement import retire
from trainyard.specs.sources import JobFile
from trainyard.tree.wanted import wanted


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
    """Yield what is to be done about each run's job; one that failed is a person's to look at, unless `failed`."""
    files = {(each.team, each.name): each for each in jobs}
    for each in runs:
        file = files.get((each.workload.job[1], each.workload.job[2]))
        match each.state:
            case "going on":
                yield Outcome(each, retired=False, why="goes on")
            case "absent":
                why = f"{each.workload.run} is not on the cluster; the next sync makes it"
                yield Outcome(each, retired=False, why=why)
            case "failed" if not failed:
                reason = f" ({each.why})" if each.why else ""
                why = f"{each.workload.run} failed{reason}; raise run: to try again, or retire it with --failed"
                yield Outcome(each, retired=False, why=why)
            case _:
                yield of_file(each, file)


def of_file(seen: Seen, file: JobFile | None) -> Outcome:
    """Return what is to be done about a run that has ended, by what the job's file says."""
    ended = f"{seen.workload.run} {seen.state}"
    if file is None:
        return Outcome(seen, retired=False, why=f"{ended}, but its job's file cannot be read", stuck=True)
    asked = wanted(file)
    if (asked.cluster, asked.run) != (seen.workload.job[0], seen.workload.run):
        where = "" if asked.cluster == seen.workload.job[0] else f" on {asked.cluster}"
        return Outcome(seen, retired=False, why=f"{ended}, but {file.source.file} asks for {asked.run}{where} now")
    if asked.retired:
        return Outcome(seen, retired=False, why=f"{ended}, and {file.source.file} says retired: true already")
    if file.source.document is None:
        why = f"{ended}; set retired=True where {file.source.file} makes the job"
        return Outcome(seen, retired=False, why=why, stuck=True)
    return Outcome(seen, retired=True)


def write(root: Path, outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Set `retired: true` in the files of the jobs that are to be retired, and return what came of it."""
    done: list[Outcome] = []
    for each in outcomes:
        try:
            if each.retired:
                retire(root, *each.seen.workload.job[1:])
        except SpecError as error:
            done.append(replace(each, retired=False, why=str(error), stuck=True))
        else:
            done.append(each)
    return done


def render(outcomes: Sequence[Outcome], *, dry_run: bool) -> str:
    """Return what was done and why the rest was left, a line a job; those that go on are only counted."""
    word = "would retire" if dry_run else "retired"
    lines = []
    for each in outcomes:
        if each.retired:
            lines.append(f"{word} {each.job}: {each.seen.workload.kind} {each.seen.workload.run} {each.seen.state}")
        elif each.seen.state != "going on":
            lines.append(f"left {each.job}: {each.why}")
    states = Counter(each.seen.state for each in outcomes)
    said = [f"{states[state]} {words}" for state, words in WORDS.items() if states[state]]
    count = sum(each.retired for each in outcomes)
    files = f"{count} {'file' if count == 1 else 'files'} {'to change' if dry_run else 'changed'}"
    after = "; next: trainyard synth" if count and not dry_run else ""
    lines.append(f"runs: {', '.join(said) or 'none'}; {files}{after}")
    return "\n".join(lines) + "\n"


WORDS: Mapping[State, str] = {
    "succeeded": "succeeded",
    "failed": "failed",
    "going on": "queued or running",
    "absent": "not on the cluster",
}
