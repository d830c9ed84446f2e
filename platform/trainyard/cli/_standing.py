"""What counts of programs that make jobs where somebody only asks: the runs that `generated/` has of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.cli._definitions import LAYERS
from trainyard.cli._out import say

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from trainyard.admission.verdicts import Verdict
    from trainyard.documents import Document
    from trainyard.findings import Finding
    from trainyard.preflight import Checked
    from trainyard.specs.sources import Specs
    from trainyard.tree.ledgers import JobKey
    from trainyard.tree.standing import Standing

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
        from trainyard.tree.standing import standing_runs

        theirs = {each.job.cluster for each in checked.specs.jobs if f"{each.team}/{each.name}" in jobs}
        there = [each for each in checked.specs.clusters if each in (clusters or theirs or checked.specs.clusters)]
        found = standing_runs(root, [place.path for place in checked.idle], there)
        return Idle(found).without({each.key: altered(each) for mine in found.values() for each in mine})

    @property
    def sound(self) -> Idle:
        """Those of the runs that a server would have at all: whoever writes into `generated/` may write anything."""
        return self.without({each.key: refused(each) for mine in self.runs.values() for each in mine})

    def without(self, wrong: Mapping[JobKey, str]) -> Idle:
        """Return the runs of which nothing is wrong, with what is wrong with the others."""
        runs = {program: [each for each in mine if not wrong[each.key]] for program, mine in self.runs.items()}
        return Idle(runs, (*self.faults, *filter(None, wrong.values())))

    @property
    def objects(self) -> dict[str, dict[str, tuple[dict[str, object], ...]]]:
        """By cluster and job, the objects of their runs."""
        found: dict[str, dict[str, tuple[dict[str, object], ...]]] = {}
        for each in (one for mine in self.runs.values() for one in mine):
            cluster, team, job = each.key
            found.setdefault(cluster, {})[f"{team}/{job}"] = tuple(document.value for document in each.objects)
        return found

    def told(self) -> None:
        """Say once what counts of these programs, and what helps; and which runs of theirs do not."""
        for each in self.faults:
            say(each, error=True)
        if not self.runs:
            return
        from trainyard.findings import counted

        names, runs = list(self.runs), sum(map(len, self.runs.values()))
        several = len(names) > 1
        who = f"{', '.join(names[:-1])} and {names[-1]}" if several else names[0]
        counts = "counts" if runs == 1 else "count"
        said = (
            f"{counted(runs, 'run')} in generated/ {counts} without a verdict"
            if runs
            else "no run of generated/ counts"
        )
        whose = "their" if several else "its"
        say(
            f"{who} {'are' if several else 'is'} not run here, so {said}; say --python to judge {whose} jobs",
            error=True,
        )


def beside(
    checked: Checked, root: Path, names: Sequence[str] = (), clusters: Sequence[str] = ()
) -> tuple[Idle, list[Verdict]]:
    """Return the verdicts on jobs as `verdicts` does, beside the runs of programs that were not run, and these runs.

    Runs are held to the definitions of their kinds only where nobody can judge jobs beside them, for that takes long.
    Raises SpecError where an object of the repository's own is none of its kind, and jobs cannot be judged for that.
    """
    from trainyard.admission.verdicts import verdicts
    from trainyard.errors import SpecError

    idle = Idle.of(checked, root, names, clusters)
    try:
        found = verdicts(checked, names, clusters, idle.objects)
        if all(each.survived for each in found) or (sound := idle.sound).faults == idle.faults:
            return idle, found
    except FAULTS as error:
        sound = idle.sound
        if sound.faults == idle.faults:
            if why := misshapen(checked.specs):
                raise SpecError(why) from error
            raise
    return sound, verdicts(checked, names, clusters, sound.objects)


def altered(run: Standing) -> str:
    """Return that a run's files are not those that its ledger remembers; empty where they are."""
    return "" if run.as_made else f"{uncounted(run)}: its files are not those of its ledger; restore them"


def refused(run: Standing) -> str:
    """Return what the definitions of kinds have against a run's objects, empty where that is nothing."""
    found = (each for document in run.objects for each in wrong_with(document))
    return next((f"{uncounted(run)}: {each.object}: {each.path}: {each.message}" for each in found), "")


def misshapen(specs: Specs) -> str:
    """Return where an object of the repository's own is none of its kind, and why; empty where all are."""
    documents = (file.source.document for file in specs.extra)
    whole = (each for each in documents if each is not None and isinstance(each.value, dict))
    found = (each for document in whole for each in wrong_with(document) if each.rule != "schema/unknown-kind")
    places = (
        f"{each.location.file}:{each.location.line}: {each.object}: {each.path}: {each.message}" for each in found
    )
    return next(places, "")


def wrong_with(document: Document) -> Iterator[Finding]:
    """Return what the definition of its kind has against an object."""
    from trainyard.cli import _definitions
    from trainyard.manifests import Manifest

    return _definitions.refused(Manifest(document, document.value), SAID)


def uncounted(run: Standing) -> str:
    """Return how a sentence begins that says why a run does not count."""
    return f"{run.folder}: the run does not count"
