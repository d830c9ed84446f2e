"""Judges a repository: its specs, and the generated tree of each cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainyard.base.findings import Finding, Skipped
from trainyard.base.memory import Memory
from trainyard.base.memory import World as Present
from trainyard.base.system import cache, files
from trainyard.base.system.data import policy_id
from trainyard.base.system.repository import GENERATED
from trainyard.judge import frozen, preflight
from trainyard.judge.admission import own_jobs
from trainyard.judge.causes.own_objects import below_objects
from trainyard.judge.checks import past
from trainyard.judge.checks.checking import Checking
from trainyard.judge.checks.left_out import JudgedSpecs, LeftOut, NamedJob, left_out
from trainyard.judge.checks.of_runs import said_of_jobs
from trainyard.judge.checks.origins import Origins
from trainyard.judge.checks.result import Result
from trainyard.judge.checks.trees import judge_trees
from trainyard.judge.checks.verdicts import KEPT
from trainyard.judge.preflight import Checked
from trainyard.judge.preflight.between import trusted
from trainyard.judge.preflight.waivers import Waiver
from trainyard.render.tree.origins import entries, spec_lines
from trainyard.render.tree.snapshot import Snapshot
from trainyard.specs.editing.named import cluster_of
from trainyard.upstream.apiserver.allowed import Allowed


def validate_repository(
    root: Path,
    *,
    clusters: Collection[str] | None = None,
    allow_unknown: Iterable[str] = (),
    base: str | None = None,
    against: str | None = None,
    home: Path | None = None,
    tree: Snapshot | None = None,
    second: bool = True,
) -> Result:
    """Judge the specs, and the generated tree of every cluster or of those named.

    An error that a frozen run had at the base already is a warning; `base` leads to the base, over whose objects those
    of a live repository are judged. `against` is another commit to do that with, and to say what becomes of each.
    `home` is the repository whose schemas and policies count, where that is another than the one at `root`; `tree` is
    the generated tree, where that is not the one on disk. `second` says whether the second engine is asked too.
    What has an error in its spec is left out of what is judged.

    Raises SpecError for a cluster that does not exist, and ToolError for a commit that does not.
    """
    checked = frozen.check_specs(root, home=home, ref=base)
    return judge_repository(
        root,
        judged_specs(checked, tree),
        clusters=clusters,
        allow_unknown=allow_unknown,
        base=base,
        against=against,
        home=home,
        second=second,
    )


def judged_specs(checked: Checked, tree: Snapshot | None = None) -> JudgedSpecs:
    """Return specs of which all jobs were read."""
    jobs = [NamedJob.of(job) for job in checked.specs.jobs]
    small = {job.source.file: job.small_files for job in checked.specs.jobs}
    rest = [NamedJob.of(job) for job in checked.rest]
    clusters = checked.specs.clusters
    without = left_out(checked.findings, jobs, rest=rest, lost=checked.lost, small=small, readable=clusters)
    return JudgedSpecs(checked, jobs, without, tree)


def judge_repository(
    root: Path,
    specs: JudgedSpecs,
    *,
    clusters: Collection[str] | None = None,
    allow_unknown: Iterable[str] = (),
    base: str | None = None,
    against: str | None = None,
    home: Path | None = None,
    second: bool = True,
) -> Result:
    """Judge the generated tree of every cluster or of those named, for specs that were judged; see above."""
    home, checked, without, tree = home or root, specs.checked, specs.without, specs.tree
    result = Result()
    result.add(checked.findings)
    result.notes += trusted.edits(home)
    if checked.idle:
        count = len(checked.idle)
        what = "1 Python job file was" if count == 1 else f"{count} Python job files were"
        result.skipped.append(Skipped("run/python-idle", f"{what} not executed; run trainyard check, or use --python"))
    if without.sentence:
        result.skipped.append(Skipped("objects", without.sentence))
    if without.everything:
        return result
    everywhere = sorted(checked.specs.clusters)
    chosen = [name for name in (everywhere if clusters is None else clusters) if name not in without.clusters]
    names = [cluster_of(name, checked.specs.clusters) for name in chosen]
    checking = Checking(
        root,
        checked.specs,
        home,
        Allowed(tuple(allow_unknown)),
        None if against is None else past.objects_at(root, against, names),
        spec_line=spec_lines(root, tree.text if tree is not None else None),
        origins=Origins(checked.specs, entries(root, tree.text if tree is not None else None), root),
        waivers=checked.waivers,
        said=said_of_jobs(checked.findings, specs.jobs),
        tree=tree,
        second=second,
        context=context_of(root, specs),
        wrong=without.extra,
    )
    objects = Result()
    if against is None:
        checking.now = tree or past.on_disk(root, specs.disk)
        if checking.now is not None and home == root:
            world = specs.memory.world or Present(checking.now.algorithm)
            checking.memory = Memory(cache.private(KEPT, outside=root), world)
        before = past.before(
            root,
            checked.specs,
            names,
            now=checking.now,
            base=specs.base,
            ref=base,
            context=checking.context,
            memory=specs.memory,
        )
        objects.add(checked.waivers.left(before.findings))
        objects.skipped += before.skipped
        checking.before, checking.both = before.objects, True
    objects.extend(judge_trees(checking, names))
    told = [*result.findings, *objects.findings]
    objects.add(checked.waivers.left(own_jobs.findings(checked.specs, names, told, without.extra)))
    checked.waivers.used |= objects.waived
    checked.waivers.refused |= objects.refused
    seen = Seen(frozenset(names), without, is_whole=set(names) == set(everywhere), broken=broken_policies(checked))
    objects.add(checked.waivers.unneeded(before=False, seen=seen.has))

    def found_at(folder: Path, clusters: Sequence[str]) -> list[Finding]:
        then = preflight.check_repository(folder, home=home).specs
        there = [name for name in clusters if name in then.clusters]
        return judge_trees(Checking(folder, then, home, second=second), there).findings

    objects.findings = frozen.weigh_findings(root, objects.findings, checked.specs.repository, found_at, ref=base)
    result.extend(objects)
    result.findings = below_objects(result.findings, {(job.file, job.cluster) for job in specs.jobs})
    result.say_once()
    result.hide()
    return result


def context_of(root: Path, specs: JudgedSpecs) -> frozenset[str]:
    """Return the files below `generated/` of which nothing is said, since what they are rendered from has an error."""
    if specs.context is not None or not specs.without:
        return specs.context or frozenset()
    if specs.tree is not None:
        quiet = filter(specs.without.is_quiet, specs.tree.files)
        return specs.without.paths(specs.tree.files, specs.tree.text).union(quiet)
    folder = root / GENERATED
    there = [found.path for found in files.walk(folder) if found.regular]
    quiet = filter(specs.without.is_quiet, there)
    return specs.without.paths(there, lambda path: files.read(folder / path)).union(quiet)


@dataclass(frozen=True, slots=True)
class Seen:
    """What was looked at, so that a waiver of which nothing came there is needed by nothing."""

    clusters: frozenset[str]
    without: LeftOut
    is_whole: bool
    """Whether the trees of all clusters were judged."""
    broken: Collection[str] = ()
    """Ids of policies that nobody could ask."""

    def has(self, waiver: Waiver) -> bool:
        """Say whether everything was looked at that a waiver may be for."""
        if waiver.rule in self.broken:
            return False
        if waiver.job is not None:
            return not self.without.has_job(*waiver.job) and (waiver.cluster in self.clusters or self.is_whole)
        if waiver.cluster is None:
            return self.is_whole and not self.without
        return waiver.cluster in self.clusters and not (
            self.without.teams or self.without.extra or waiver.cluster in self.without.own
        )


def broken_policies(checked: Checked) -> set[str]:
    """Return the ids of the repository's policies that have an error."""
    errors = (finding.location.file for finding in checked.findings if finding.is_error)
    return {policy_id(Path(file)) for file in errors if file.startswith("policies/")}
