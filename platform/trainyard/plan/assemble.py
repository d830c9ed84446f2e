"""A plan, put together: the change is read, its trees are compared, Kueue is asked, and findings are put in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from trainyard.findings import Finding
from trainyard.plan.compare.syncing import refused as with_refusals
from trainyard.plan.compare.trees import compare
from trainyard.plan.decide.decisions import Words, hopeless
from trainyard.plan.decide.known import Known
from trainyard.plan.decide.outlook import ENDS, Outlook, outlook
from trainyard.plan.decide.rebuild import rebuild
from trainyard.plan.decide.steps import vain as vain_steps
from trainyard.plan.effects import Plan, RunEffect, SpecChange, Told
from trainyard.plan.read.change import Change, read_change
from trainyard.plan.read.refused import Verdict, refused
from trainyard.plan.words.clusters import Site
from trainyard.plan.words.platform import spec_changes
from trainyard.system.repository import GENERATED, job_file
from trainyard.tree import layout
from trainyard.tree.origins import at_field
from trainyard.tree.rules import STALE, UNKNOWN
from trainyard.tree.snapshot import Snapshot


def make_plan(root: Path, version: str, *, ref: str | None = None, automated: bool = False) -> Plan:
    """Return the plan of the repository at `root`; see `make_plan_with_sources`."""
    return make_plan_with_sources(root, version, ref=ref, automated=automated)[0]


def make_plan_with_sources(
    root: Path, version: str, *, ref: str | None = None, automated: bool = False
) -> tuple[Plan, Known]:
    """Return the plan of the repository at `root`, and all that was read for it.

    `version` is the release that renders, `ref` leads to the base.

    `automated` says that nobody watches: then a live repository has to be given a base, as in a synth.
    Raises ToolError without Git, which alone knows the base, and SpecError where the folder is no repository.
    """
    verdict = refused(root, version, ref=ref, automated=automated)
    return assemble(read_change(root, verdict, ref=ref, automated=automated))


def read_plan(root: Path, verdict: Verdict | None = None, *, ref: str | None = None, automated: bool = False) -> Plan:
    """Return what the change at hand does, told of the tree on disk where no verdict of a synth is given."""
    return assemble(read_change(root, verdict, ref=ref, automated=automated))[0]


def assemble(change: Change) -> tuple[Plan, Known]:
    """Return what a change does, and what was found out for it."""
    told = change.verdict.told
    compared = compare(change.sides, live=change.live, specs=change.specs)
    outlooks = outlook(change, compared)
    platform = tuple(spec_changes(change.specs, Site(change.base.live, change.clusters, outlooks.asked)))
    findings = (*compared.findings, *change.base.findings, *change.notes, *verdicts(change, compared, outlooks))
    plan = replace(
        compared,
        runs=tuple(judged(runs(change, compared), outlooks.decided.words)),
        objects=tuple(with_refusals(compared.objects, findings)),
        told=told,
        switched=compared.switched if told != "refused" or compared.switched == "off" else None,
        platform=platform,
        queues=outlooks.queues,
        decisions=outlooks.decided.told,
        next_runs=outlooks.next_runs,
        dangers=tuple(dict.fromkeys((*dangers_of(platform, told), *compared.dangers))),
        findings=settled(findings, compared, told),
        rebuild=rebuild(outlooks.asked),
    )
    return plan, Known(change.sides, change.known, change.cluster_names, change.memory)


def verdicts(change: Change, compared: Plan, outlooks: Outlook) -> Iterator[Finding]:
    """Yield what a synth, the checks of objects, and Kueue have against a change.

    Objects are judged in other processes meanwhile, so they are asked for last.
    """
    stands = (*change.verdict.findings, *change.verdict.objects())
    yield from stands
    yield from (at_field(change.root, each) for each in hopeless(outlooks.decided.told, compared.runs))
    if change.verdict.specs is not None:
        yield from vain_steps(change.verdict.specs, change.edited_jobs, stands)


def runs(change: Change, compared: Plan) -> Iterable[RunEffect]:
    """Return what happens to runs; of those that a synth would restore, that somebody edited their files."""
    if change.verdict.tree is None or not change.base.live:
        return compared.runs
    return (edited(each, change.base, change.there) for each in compared.runs)


def dangers_of(platform: Iterable[SpecChange], told: Told) -> Iterator[str]:
    """Yield why a reviewer should stop at changes of specs, but for what their objects tell, where those are known."""
    yield from (each.danger for each in platform if each.danger and (not each.in_objects or told == "refused"))


def judged(effects: Iterable[RunEffect], words: Words) -> Iterator[RunEffect]:
    """Yield effects on runs with what becomes of those that are there after the change."""
    for each in effects:
        word = words.get((each.cluster, each.team, each.job)) if each.word not in ENDS else None
        yield replace(each, decided=word) if word else each


def edited(effect: RunEffect, base: Snapshot, there: Snapshot) -> RunEffect:
    """Return the effect of a run that a synth would restore, as that of its files on disk: somebody edited them."""
    folder = f"{effect.cluster}/{layout.run_folder(effect.team, effect.run)}"
    is_edited = effect.word == "keeps" and base.folder(folder) != there.folder(folder)
    return replace(effect, word="changes") if is_edited else effect


def settled(findings: Iterable[Finding], plan: Plan, told: Told) -> tuple[Finding, ...]:
    """Return findings in order, each once.

    That the tree is behind the specs goes without saying where these are refused, since no synth writes it then, and
    that no job asks for a run where its job is refused or the plan says that it ends. That files differ from the specs
    is said by the job of which they lack a run.
    """
    ends = [(each.cluster, each.team, each.run) for each in plan.of(*ENDS)]
    ends += [(each.before_cluster or each.cluster, each.team, each.before or "") for each in plan.of("replaces")]
    over = {f"{GENERATED}/{cluster}/{layout.run_folder(team, run)}" for cluster, team, run in ends}
    found = dict.fromkeys(findings)
    errors = (each for each in found if each.is_error and each.rule != STALE.id)
    wrong = {each.location.file for each in errors if not each.location.file.startswith(GENERATED)}
    if told != "refused":
        wrong -= {each.location.file for each in found if each.rule == STALE.id}
    over |= {each.location.file for each in found if each.rule == UNKNOWN.id and job_of(each.location.file) in wrong}
    left = [each for each in found if each.rule != UNKNOWN.id or each.location.file not in over]
    by_job = any(each.rule == STALE.id and each.location.file != GENERATED for each in left)
    left = [
        each for each in left if each.rule != STALE.id or not (wrong or (by_job and each.location.file == GENERATED))
    ]
    return tuple(sorted(left, key=lambda finding: finding.order))


def job_of(folder: str) -> str:
    """Return the file of the job of a run, by the folder of its files."""
    *_, team, run = folder.split("/")
    return job_file(team, run.rpartition("-")[0])
