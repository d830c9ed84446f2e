"""A plan, put together: the change is read, its trees are compared, Kueue is asked, and findings are put in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from trainyard.base.findings import Finding
from trainyard.base.system.repository import GENERATED, job_file
from trainyard.change.plan.compare.syncing import mark_refused as with_refusals
from trainyard.change.plan.compare.trees import compare
from trainyard.change.plan.decide.costs import with_costs
from trainyard.change.plan.decide.decisions import Words, job_findings
from trainyard.change.plan.decide.maintenance import maintenance
from trainyard.change.plan.decide.outlook import ENDS, Outlook, outlook
from trainyard.change.plan.decide.rebuild import rebuild
from trainyard.change.plan.decide.sources import Known
from trainyard.change.plan.decide.steps import vain as vain_steps
from trainyard.change.plan.effects import Plan, RunEffect, SpecChange, Told
from trainyard.change.plan.read.change import Change, read_change
from trainyard.change.plan.read.refused import Verdict, judge_change
from trainyard.change.plan.words.clusters import Site
from trainyard.change.plan.words.platform import spec_changes
from trainyard.judge.admission.decided import stand_ins
from trainyard.render.tree import layout
from trainyard.render.tree.origins import at_field
from trainyard.render.tree.rules import STALE, UNKNOWN
from trainyard.render.tree.snapshot import Snapshot
from trainyard.specs import Cluster


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
    verdict = judge_change(root, version, ref=ref, automated=automated)
    return assemble(read_change(root, verdict, ref=ref, automated=automated))


def read_plan(root: Path, verdict: Verdict | None = None, *, ref: str | None = None, automated: bool = False) -> Plan:
    """Return the plan of the current change; without a synth's verdict, of the tree on disk."""
    return assemble(read_change(root, verdict, ref=ref, automated=automated))[0]


def assemble(change: Change) -> tuple[Plan, Known]:
    """Return the plan of a change, and the sources that it was made from."""
    told = change.verdict.told
    compared = compare(change.sides, live=change.live, specs=change.specs)
    outlooks = outlook(change, compared)
    platform = tuple(spec_changes(change.specs, Site(change.base.live, change.clusters, outlooks.asked)))
    findings = (*compared.findings, *change.base.findings, *change.notes, *verdicts(change, compared, outlooks))
    known = {key[0] for key in outlooks.asked}
    plan = replace(
        compared,
        runs=tuple(with_costs(change, with_verdicts(runs(change, compared), outlooks.decided.words))),
        objects=tuple(with_refusals(compared.objects, findings)),
        told=told,
        switched=compared.switched if told != "refused" or compared.switched == "off" else None,
        platform=platform,
        queues=outlooks.queues,
        decisions=outlooks.decided.told,
        decided_as=tuple(decided_as(change.read_clusters, outlooks)),
        next_runs=outlooks.next_runs,
        maintenance=tuple(maintenance(change, outlooks.asked)),
        dangers=tuple(dict.fromkeys((*dangers_of(platform, told), *compared.dangers))),
        findings=deduplicate(findings, compared, told),
        rebuild=rebuild(outlooks.asked, {name for name in known if change.sides.is_simulated(name)}),
        skipped=change.verdict.skipped,
    )
    return plan, Known(change.sides, change.read_clusters, change.cluster_names, change.memory)


def decided_as(clusters: Mapping[str, Cluster], outlooks: Outlook) -> Iterator[str]:
    """Yield which schedulers are decided as another release, of clusters with a new or changed verdict."""
    told = {decision.cluster for decision in outlooks.decided.told} | {run.cluster for run in outlooks.next_runs}
    for name in sorted(told & clusters.keys()):
        yield from (f"{text} on cluster {name}" for text in stand_ins(clusters[name]))


def verdicts(change: Change, compared: Plan, outlooks: Outlook) -> Iterator[Finding]:
    """Yield the findings of a synth, of the checks of objects, and of Kueue.

    Objects are judged in other processes meanwhile, so they are asked for last.
    """
    stands = (*change.verdict.findings, *change.verdict.objects())
    yield from stands
    yield from (at_field(change.root, finding) for finding in job_findings(outlooks.decided.told, compared.runs))
    if change.verdict.specs is not None:
        yield from vain_steps(change.verdict.specs, change.edited_jobs, stands)


def runs(change: Change, compared: Plan) -> Iterable[RunEffect]:
    """Return the effects on runs; a run that a synth would restore counts as edited."""
    if change.verdict.tree is None or not change.base.live:
        return compared.runs
    return (with_disk_edits(run, change.base, change.there) for run in compared.runs)


def dangers_of(platform: Iterable[SpecChange], told: Told) -> Iterator[str]:
    """Yield why a reviewer should stop at changes of specs, but for what their objects tell, where those are known."""
    yield from (change.danger for change in platform if change.danger and (not change.in_objects or told == "refused"))


def with_verdicts(effects: Iterable[RunEffect], words: Words) -> Iterator[RunEffect]:
    """Yield effects on runs with what becomes of those that are there after the change."""
    for effect in effects:
        word = words.get((effect.cluster, effect.team, effect.job)) if effect.word not in ENDS else None
        yield replace(effect, decided=word) if word else effect


def with_disk_edits(effect: RunEffect, base: Snapshot, there: Snapshot) -> RunEffect:
    """Return the effect of a run that a synth would restore, as that of its files on disk: somebody edited them."""
    folder = f"{effect.cluster}/{layout.run_folder(effect.team, effect.run)}"
    is_edited = effect.word == "keeps" and base.folder(folder) != there.folder(folder)
    return replace(effect, word="changes") if is_edited else effect


def deduplicate(findings: Iterable[Finding], plan: Plan, told: Told) -> tuple[Finding, ...]:
    """Return findings in order, each once.

    That the tree is behind the specs goes without saying where these are refused, since no synth writes it then, and
    that no job asks for a run where its job is refused or the plan says that it ends. That files differ from the specs
    is said by the job of which they lack a run.
    """
    ends = [(run.cluster, run.team, run.run) for run in plan.of(*ENDS)]
    ends += [(run.before_cluster or run.cluster, run.team, run.before or "") for run in plan.of("replaces")]
    over = {f"{GENERATED}/{cluster}/{layout.run_folder(team, run)}" for cluster, team, run in ends}
    found = dict.fromkeys(findings)
    errors = (item for item in found if item.is_error and item.rule != STALE.id)
    wrong = {error.location.file for error in errors if not error.location.file.startswith(GENERATED)}
    if told != "refused":
        wrong -= {item.location.file for item in found if item.rule == STALE.id}
    over |= {item.location.file for item in found if item.rule == UNKNOWN.id and job_of(item.location.file) in wrong}
    left = [item for item in found if item.rule != UNKNOWN.id or item.location.file not in over]
    by_job = any(item.rule == STALE.id and item.location.file != GENERATED for item in left)
    left = [
        item for item in left if item.rule != STALE.id or not (wrong or (by_job and item.location.file == GENERATED))
    ]
    return tuple(sorted(left, key=lambda finding: finding.order))


def job_of(folder: str) -> str:
    """Return the file of the job of a run, by the folder of its files."""
    *_, team, run = folder.split("/")
    return job_file(team, run.rpartition("-")[0])
