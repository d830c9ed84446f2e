"""Reads the two trees of a plan: the one at the base from Git, and the one that a merge would bring."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from trainyard.errors import SpecError, ToolError
from trainyard.findings import Finding, Location, counted
from trainyard.plan.applied import refused
from trainyard.plan.cluster_words import Site
from trainyard.plan.compare import compare
from trainyard.plan.decided import Words, decisions, hopeless
from trainyard.plan.effects import Plan, RunEffect, RunWord, SpecChange, Told
from trainyard.plan.known import Known
from trainyard.plan.memory import Memory
from trainyard.plan.next_runs import JobFiles, next_runs
from trainyard.plan.platform import spec_changes
from trainyard.plan.queues import rows
from trainyard.plan.rebuild import all_asked, rebuild
from trainyard.plan.refused import Verdict
from trainyard.plan.sides import Sides
from trainyard.plan.specs import SpecFiles
from trainyard.plan.steps import vain as vain_steps
from trainyard.specs.load import read_repository
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.run import written
from trainyard.specs.sources import Specs
from trainyard.system import cache, files
from trainyard.system import git as system_git
from trainyard.system.repository import CLUSTERS, GENERATED, JOBS, SETTINGS, TEAMS, is_repository, job_file
from trainyard.tree import layout
from trainyard.tree.commit import ASK, base_of
from trainyard.tree.disk import CACHE, Disk
from trainyard.tree.origins import at_field
from trainyard.tree.rules import STALE, UNKNOWN
from trainyard.tree.settings import settings
from trainyard.tree.snapshot import Snapshot, from_disk, from_git
from trainyard.tree.wanted import wanted


def read(root: Path, verdict: Verdict | None = None, *, ref: str | None = None, automated: bool = False) -> Plan:
    """Return what the change at hand does, compared with the base; see `reading`."""
    return reading(root, verdict, ref=ref, automated=automated)[0]


def reading(
    root: Path, verdict: Verdict | None = None, *, ref: str | None = None, automated: bool = False
) -> tuple[Plan, Known]:
    """Return what the change at hand does, compared with the base, and all that was read; it need not be committed.

    `verdict` is what a synth makes of it; without one the plan is told of the tree on disk. `automated` says that
    nobody watches: then a live repository has to be given a base, as in a synth.
    Raises ToolError without Git, which alone knows the base, and SpecError where the folder is no repository.
    """
    data = files.read(root / SETTINGS)
    if data is None and not is_repository(root):
        raise SpecError(f"folder {str(root)!r} has no {SETTINGS}; go to a repository")
    git = system_git.find(root)
    if git is None:
        raise ToolError(f"a plan compares two commits, but {system_git.absent()}")
    live, revision = settings(data or b"")
    if automated and live and ref is None:
        raise ToolError(ASK)
    store = cache.private(CACHE, outside=root)
    base = verdict.base if verdict else None
    base = base or from_git(git, base_of(git, ref, revision=revision), store)
    disk = verdict.disk if verdict else None
    disk = disk or Disk(root, store, git.algorithm)
    there = from_disk(root / GENERATED, disk.scan(GENERATED), base)
    tree = verdict.tree if verdict else None
    now = there if tree is None else tree
    spec = SpecFiles(root, git, base.commit, disk)
    edited_jobs = spec.changed(JOBS)
    notes = [*unreadable(now), *behind(root, edited_jobs, disk, there)] if tree is None else []
    notes += unsynthesised(edited_jobs, tree, there) if tree is not None else ()
    disk.save()

    sides = Sides(base, now, spec, edited_jobs, Programs(root, disk, verdict.specs if verdict else None))
    changed = changed_specs(spec, sides)
    found = compare(sides, live=live, specs=changed)
    told = verdict.told if verdict else "disk"
    memory = Memory(store, verdict.code if verdict else "")
    asked = all_asked((base, now), memory)
    platform = tuple(spec_changes(changed, Site(base.live, clusters(root, disk, verdict, changed), asked[1])))
    touched = {*clusters_of(found), *redeclared(changed)} if told != "refused" else ()
    specs = verdict.specs.clusters if verdict and verdict.specs else {}
    decided = decisions(sides, touched, specs, memory)
    renewed = redeclared(changed) & set(touched) if base.live else ()
    runs = (edited(each, base, there) for each in found.runs) if tree is not None and base.live else found.runs
    stands = (*verdict.findings, *verdict.objects()) if verdict else ()
    vain = (at_field(root, each) for each in hopeless(decided.told, found.runs))
    steps = vain_steps(verdict.specs, edited_jobs, stands) if verdict and verdict.specs else ()
    findings = (*found.findings, *base.findings, *notes, *stands, *vain, *steps)
    names = tuple(sorted(PurePosixPath(path).stem for path in disk.scan(CLUSTERS) if path.endswith(".yaml")))
    plan = replace(
        found,
        runs=tuple(judged(runs, decided.words)),
        objects=tuple(refused(found.objects, findings)),
        told=told,
        switched=found.switched if told != "refused" or found.switched == "off" else None,
        platform=platform,
        queues=tuple(rows(base, now, touched, (asked[0], asked[1]), decided)),
        decisions=decided.told,
        next_runs=tuple(next_runs(sides, renewed, decided, JobFiles(root, disk.scan(JOBS)), specs, memory)),
        dangers=tuple(dict.fromkeys((*dangers_of(platform, told), *found.dangers))),
        findings=settled(findings, found, told),
        rebuild=rebuild(asked[1]),
    )
    return plan, Known(sides, specs, names, memory)


def dangers_of(platform: Iterable[SpecChange], told: Told) -> Iterator[str]:
    """Yield why a reviewer should stop at changes of specs, but for what their objects tell, where those are known."""
    yield from (each.danger for each in platform if each.danger and (not each.in_objects or told == "refused"))


def clusters(root: Path, disk: Disk, verdict: Verdict | None, changed: Collection[str]) -> Mapping[str, Cluster]:
    """Return the clusters as their files say them, as far as those are right; none where none of them changed."""
    if verdict is not None and verdict.specs is not None:
        return verdict.specs.clusters
    if not any(file.startswith(f"{CLUSTERS}/") for file in changed) or not is_repository(root):
        return {}
    return read_repository(root, skip=frozenset(f"{JOBS}/{path}" for path in disk.scan(JOBS))).specs.clusters


def clusters_of(plan: Plan) -> set[str]:
    """Return the clusters whose queues a change may touch."""
    return {each.cluster for each in plan.of(*NEW, *ENDS)} | {each.cluster for each in plan.objects}


def redeclared(changed: Mapping[str, tuple[Any, Any]]) -> set[str]:
    """Return the clusters whose files say something else than before, by the values of the files that changed."""
    files = (file for file, (before, after) in changed.items() if before != after)
    return {PurePosixPath(file).stem for file in files if file.startswith(f"{CLUSTERS}/")}


def judged(effects: Iterable[RunEffect], words: Words) -> Iterator[RunEffect]:
    """Yield effects on runs with what becomes of those that are there after the change."""
    for each in effects:
        word = words.get((each.cluster, each.team, each.job)) if each.word not in ENDS else None
        yield replace(each, decided=word) if word else each


NEW: tuple[RunWord, ...] = ("starts", "returns", "replaces", "moves")
ENDS: tuple[RunWord, ...] = ("stops", "leaves")
"""What happens to runs that ask something of their queues, or do so no more."""


def changed_specs(spec: SpecFiles, sides: Sides) -> dict[str, tuple[Any, Any]]:
    """Return the files of clusters, of teams and of the repository that changed, as they were and as they are."""
    names = [name for top in (CLUSTERS, TEAMS) for name in spec.changed(top) if name.endswith(".yaml")]
    spec.fetch([*names, SETTINGS, *sides.changed])
    values = sides.values(SETTINGS)
    found = {name: sides.values(name) for name in names}
    return found | ({SETTINGS: values} if values[0] != values[1] else {})


class Programs:
    """The jobs that programs make, as they are written: a program runs once, and only where one of its jobs begins."""

    def __init__(self, root: Path, disk: Disk, specs: Specs | None) -> None:
        self._root, self._disk = root, disk
        self._known = {(each.team, each.name): each for each in specs.jobs} if specs else {}
        self._read: set[str] = set()

    def job(self, team: str, name: str, file: str) -> Any:
        """Return the fields of a job, None where its program does not make it."""
        if (team, name) not in self._known and file not in self._read:
            self._read.add(file)
            there = {f"{JOBS}/{path}" for path in self._disk.scan(JOBS)}
            loaded = read_repository(self._root, skip=frozenset(there - {file}))
            self._known.update({(each.team, each.name): each for each in loaded.specs.jobs})
        found = self._known.get((team, name))
        return written(found.job) if found else None


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


def unreadable(now: Snapshot) -> Iterator[Finding]:
    """Yield the ledgers at hand that cannot be read, whose runs the plan would else take for stopped."""
    message = "this ledger cannot be read, so its runs look stopped; restore it with `trainyard synth`"
    yield from (replace(each, message=message) for each in now.findings)


BEHIND = "generated/ does not have what this file says of job {!r}{}; run `trainyard synth` first"


def unsynthesised(changed: frozenset[str], tree: Snapshot, there: Snapshot) -> Iterator[Finding]:
    """Yield the first of the changed job files of which the tree at hand lacks runs, with how many others there are."""
    places = {file: tuple(file.removeprefix(f"{JOBS}/").removesuffix(".yaml").split("/")) for file in sorted(changed)}
    wanted, found = (runs_of(side, {*places.values()}) for side in (tree, there))
    lacks = [file for file, place in places.items() if file.endswith(".yaml") and wanted.get(place) != found.get(place)]
    for file in lacks[:1]:
        others = f", nor what {counted(len(lacks) - 1, 'other says', 'others say')}" if len(lacks) > 1 else ""
        yield STALE.of(Location(file, 1, 1), BEHIND.format(places[file][-1], others))


def runs_of(side: Snapshot, jobs: Collection[tuple[str, ...]]) -> Mapping[tuple[str, ...], list[tuple[str, str]]]:
    """Return the active runs of some jobs, by team and job, with their clusters."""
    found: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for (cluster, team, job), entry in side.active.items():
        if (team, job) in jobs:
            found.setdefault((team, job), []).append((cluster, entry.name))
    return {place: sorted(runs) for place, runs in found.items()}


def behind(root: Path, changed: frozenset[str], disk: Disk, now: Snapshot) -> Iterator[Finding]:
    """Yield the changed job files whose runs are not in the tree at hand, which a plan therefore says nothing of."""
    there = {f"{JOBS}/{path}" for path in disk.scan(JOBS)}
    if not changed & there or not is_repository(root):
        return
    loaded = read_repository(root, skip=frozenset(there - changed))
    for each in map(wanted, loaded.specs.jobs):
        entry = now.active.get(each.key)
        if (entry.name if entry else None) != (None if each.retired else each.run):
            yield STALE.of(each.location, BEHIND.format(each.job, ""))
