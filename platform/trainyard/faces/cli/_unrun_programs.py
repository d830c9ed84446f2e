"""What counts of programs that make jobs where somebody only asks: the runs that `generated/` has of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.faces.cli._definitions import LAYERS
from trainyard.faces.cli._out import say

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from trainyard.base.documents import Document
    from trainyard.base.findings import Finding
    from trainyard.judge.admission.verdicts import Verdict
    from trainyard.judge.preflight import Checked
    from trainyard.render.tree.ledgers import JobKey
    from trainyard.render.tree.standing import Standing
    from trainyard.specs.sources import Specs

SAID = LAYERS | {"meta"}
"""Layers in which it is told whether an object is one at all; whom it names need not be among the run's own."""

FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What judging jobs ends in where an object is none of its kind."""


@dataclass(frozen=True)
class Idle:
    """Programs that were not run, and those of their runs that count, by program."""

    runs: Mapping[str, Sequence[Standing]]
    faults: Sequence[str] = ()
    """What is wrong with each run that does not count."""

    @staticmethod
    def of(checked: Checked, root: Path, jobs: Collection[str] = (), clusters: Collection[str] = ()) -> Idle:
        """Look for the runs of all programs that were not run, on these clusters or those of these jobs, or on all."""
        from trainyard.render.tree.standing import standing_runs

        theirs = {job.job.cluster for job in checked.specs.jobs if f"{job.team}/{job.name}" in jobs}
        there = [
            cluster for cluster in checked.specs.clusters if cluster in (clusters or theirs or checked.specs.clusters)
        ]
        found = standing_runs(root, [place.path for place in checked.idle], there)
        return Idle(found).keep_valid(
            {standing.key: ledger_error(standing) for mine in found.values() for standing in mine}
        )

    @property
    def sound(self) -> Idle:
        """Those of the runs that a server would have at all: whoever writes into `generated/` may write anything."""
        return self.keep_valid(
            {standing.key: schema_error(standing) for mine in self.runs.values() for standing in mine}
        )

    def keep_valid(self, wrong: Mapping[JobKey, str]) -> Idle:
        """Return the runs of which nothing is wrong, with what is wrong with the others."""
        runs = {
            program: [standing for standing in mine if not wrong[standing.key]] for program, mine in self.runs.items()
        }
        return Idle(runs, (*self.faults, *filter(None, wrong.values())))

    @property
    def objects(self) -> dict[str, dict[str, tuple[dict[str, object], ...]]]:
        """By cluster and job, the objects of their runs."""
        found: dict[str, dict[str, tuple[dict[str, object], ...]]] = {}
        for standing in (one for mine in self.runs.values() for one in mine):
            cluster, team, job = standing.key
            found.setdefault(cluster, {})[f"{team}/{job}"] = tuple(document.value for document in standing.objects)
        return found

    def print_notes(self) -> None:
        """Say once what counts of these programs, and what helps; and which runs of theirs do not."""
        for fault in self.faults:
            say(fault, error=True)
        if not self.runs:
            return
        from trainyard.base.findings import count_of

        names, runs = list(self.runs), sum(map(len, self.runs.values()))
        several = len(names) > 1
        who = f"{', '.join(names[:-1])} and {names[-1]}" if several else names[0]
        counts = "counts but gets no verdict" if runs == 1 else "count but get no verdict"
        said = f"{count_of(runs, 'run')} in generated/ {counts}" if runs else "no run in generated/ counts"
        say(f"{who} {'were' if several else 'was'} not executed: {said}; run with --python for verdicts", error=True)


def verdicts_with_idle(
    checked: Checked, root: Path, names: Sequence[str] = (), clusters: Sequence[str] = ()
) -> tuple[Idle, list[Verdict]]:
    """Return the verdicts on jobs as `verdicts` does, beside the runs of programs that were not run, and these runs.

    Runs are held to the definitions of their kinds only where nobody can judge jobs beside them, for that takes long.
    Raises SpecError where an object of the repository's own is none of its kind, and jobs cannot be judged for that.
    """
    from trainyard.base.errors import SpecError
    from trainyard.faces.cli._before import runs_before
    from trainyard.judge.admission.verdicts import verdicts

    idle = Idle.of(checked, root, names, clusters)
    theirs = {job.job.cluster for job in checked.specs.jobs if not names or f"{job.team}/{job.name}" in names}
    before = runs_before(root, checked.specs.repository, theirs & set(clusters) if clusters else theirs)
    try:
        found = verdicts(checked, names, clusters, idle.objects, before)
        if all(verdict.survived for verdict in found) or (sound := idle.sound).faults == idle.faults:
            return idle, found
    except FAULTS as error:
        sound = idle.sound
        if sound.faults == idle.faults:
            if why := extra_error(checked.specs):
                raise SpecError(why) from error
            raise
    return sound, verdicts(checked, names, clusters, sound.objects, before)


def ledger_error(run: Standing) -> str:
    """Return the error of a run whose files differ from its ledger; empty if they are equal."""
    return "" if run.as_made else f"{sentence_start(run)}: its files differ from its ledger; restore them"


def schema_error(run: Standing) -> str:
    """Return the first schema error of a run's objects, empty where there is none."""
    found = (finding for document in run.objects for finding in wrong_with(document))
    return next((f"{sentence_start(run)}: {finding.object}: {finding.full_message}" for finding in found), "")


def extra_error(specs: Specs) -> str:
    """Return where an object of the repository's own is none of its kind, and why; empty where all are."""
    documents = (file.source.document for file in specs.extra)
    whole = (document for document in documents if document is not None and isinstance(document.value, dict))
    found = (finding for document in whole for finding in wrong_with(document) if finding.rule != "schema/unknown-kind")
    places = (
        f"{finding.location.file}:{finding.location.line}: {finding.object}: {finding.full_message}"
        for finding in found
    )
    return next(places, "")


def wrong_with(document: Document) -> Iterator[Finding]:
    """Return the schema errors of an object."""
    from trainyard.base.manifests import Manifest
    from trainyard.faces.cli import _definitions

    return _definitions.schema_findings(Manifest(document, document.value), SAID)


def sentence_start(run: Standing) -> str:
    """Return how a sentence begins that says why a run does not count."""
    return f"{run.folder}: the run does not count"
