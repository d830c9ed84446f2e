"""Judges a repository's own generated tree: each cluster against the releases it runs, with inventory and policies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from trainyard.base.findings import Finding, Location, Skipped
from trainyard.base.manifests import Manifest
from trainyard.base.system import files, reads
from trainyard.base.system import kubeconform as program
from trainyard.base.system.data import policy_files, schemas_dir
from trainyard.base.system.repository import GENERATED, cluster_file
from trainyard.judge import frozen, preflight
from trainyard.judge.checks import cel_policies, kubeconform, parallel, past, tenants, validate
from trainyard.judge.checks.kept_rules import open_for
from trainyard.judge.checks.of_runs import Said, compares, job_of, run_of, said_of_jobs
from trainyard.judge.checks.places import SPECIAL
from trainyard.judge.checks.result import Result
from trainyard.judge.checks.updates import Updates
from trainyard.judge.policies import run as python_policies
from trainyard.judge.policies.policy import Policy, usable
from trainyard.judge.policies.world import World
from trainyard.judge.preflight import Waivers
from trainyard.judge.preflight.between import trusted
from trainyard.judge.preflight.cluster.served import served_catalog
from trainyard.render.tenancy import policies as statement
from trainyard.render.tree import layout
from trainyard.render.tree.origins import SpecLine, spec_lines
from trainyard.render.tree.snapshot import Snapshot
from trainyard.specs import Cluster
from trainyard.specs.editing.named import cluster_of
from trainyard.specs.sources import Specs
from trainyard.upstream.apiserver import Catalog, Judge, Judgement, aware
from trainyard.upstream.apiserver.allowed import Allowed
from trainyard.upstream.apiserver.catalog.releases import Shelf
from trainyard.upstream.apiserver.neighbours import POLICY, SHAPING

BUILT_IN = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})


@dataclass(slots=True)
class Checking:
    """One pass over a repository."""

    root: Path
    specs: Specs
    home: Path
    """The repository whose schemas and policies count."""
    allow_unknown: Allowed = field(default_factory=Allowed)
    before: Mapping[str, Sequence[tuple[str, bytes]]] | None = None
    """By cluster, the generated files as they were, for the rules of updates."""
    both: bool = False
    """Whether objects have to pass as new ones too, and nothing is said of updates that pass."""
    spec_line: SpecLine = lambda _: None
    waivers: Waivers = field(default_factory=Waivers)
    said: frozenset[Said] = frozenset()
    """What was found of jobs before anything was rendered."""
    tree: Snapshot | None = None
    """The generated tree, where that is not the one on disk."""
    second: bool = True
    """Whether the second engine is asked too."""
    passed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By cluster, the runs that passed beside what is no run's, which did too: nothing is said of either again."""

    def cluster(self, name: str, policies: Sequence[Policy]) -> Result:
        """Judge one cluster's tree."""
        with reads.about(cluster_file(name)):
            return self.judged(name, policies)

    def judged(self, name: str, policies: Sequence[Policy]) -> Result:
        """Return the result of one cluster's tree."""
        result = Result()
        cluster = self.specs.clusters[name]
        known = self.catalog(name, cluster, result)
        inputs = list(self.inputs(name))
        passed = None if compares(policies, inputs) else self.passed.get(name)
        if passed is not None:
            inputs = [input_ for input_ in inputs if run_of(input_[0]) not in passed]
        manifests = validate.decode_all(inputs, result)
        rulebook = open_for(self.home)
        namespaces = self.namespaces(cluster, manifests)
        judge = Judge(known, self.allow_unknown, namespaces, self.line_of, rulebook=rulebook)
        judge = aware(judge, [*(manifest.value for manifest in manifests), *classes_of(cluster)])
        olds = [] if self.before is None else self.olds(name, self.before)
        updates = None if self.before is None else Updates(judge, olds, manifests, both=self.both)
        asked = (
            manifests
            if passed is None
            else [manifest for manifest in manifests if run_of(manifest.file) or counts(manifest)]
        )
        judgements = [judge.judge(manifest) if updates is None else updates.judge(manifest) for manifest in asked]
        rulebook.keep()
        for finding in tenants.check(self.specs, name, manifests):
            result.findings.append(replace(finding, spec=self.spec_line(finding.location.file)))
        world = World(tuple(manifests), cluster)
        self.policies(world, judge.catalog, judgements, policies, result, None if self.both else updates)
        if self.second:
            new = [input_ for input_ in inputs if passed is None or run_of(input_[0])]
            self.second_engine(judge.catalog, new, result)
        result.findings = [
            finding for finding in result.findings if not self.covers(finding) and not self.was_said(finding)
        ]
        result.waived, result.refused = set(self.waivers.used), set(self.waivers.refused)
        if any((self.root / GENERATED / name / layout.NODES).glob("*")):
            result.skipped.append(Skipped("schema", "files in nodes/ are for node images, not for an API server"))
        return result

    def size(self, name: str) -> int:
        """Return how many bytes there are to judge of a cluster."""
        return sum(
            found.stat.st_size for found in files.walk(self.root / GENERATED / name) if layout.is_object(found.path)
        )

    def catalog(self, name: str, cluster: Cluster, result: Result) -> Catalog:
        """Return the kinds that a cluster serves: its Kubernetes, its operators and its Argo CD."""
        source = self.specs.sources.get(f"cluster/{name}")

        def where(project: str) -> Location:
            path = SPECIAL.get(project, ("operators", project, "version"))
            return source.location(path) if source else Location(cluster_file(name))

        folder = schemas_dir(self.home)
        for operator in sorted(set(cluster.operators) - set(Shelf(folder).projects())):
            result.skipped.append(
                Skipped("schema", f"operator {operator!r} has no API types here; `make schemas` imports")
            )
        known, findings = served_catalog(cluster, folder, where)
        result.add(findings)
        return known

    def inputs(self, name: str) -> Iterable[tuple[str, bytes]]:
        """Yield path and bytes of every object of a cluster, in order."""
        if self.tree is not None:
            paths = [path for path in sorted(self.tree.of_cluster(name)) if layout.is_object(path.partition("/")[2])]
            with reads.apart():  # a tree is known by its contents
                contents = list(self.tree.read([self.tree.files[path] for path in paths]))
            yield from zip((f"{GENERATED}/{path}" for path in paths), contents, strict=True)
            return
        folder = self.root / GENERATED / name
        for found in sorted(files.walk(folder), key=lambda file_: file_.path):
            if found.regular and layout.is_object(found.path):
                yield f"{GENERATED}/{name}/{found.path}", files.read(folder / found.path) or b""

    def olds(self, name: str, before: Mapping[str, Sequence[tuple[str, bytes]]]) -> list[Manifest]:
        """Return the objects of a cluster as they were."""
        folder = f"{GENERATED}/{name}/"
        files = ((path, data) for path, data in before.get(name, ()) if layout.is_object(path.removeprefix(folder)))
        return validate.decode_all(files, Result())

    def namespaces(self, cluster: Cluster, manifests: Iterable[Manifest]) -> frozenset[str]:
        """Return the namespaces that exist on a cluster: Kubernetes' own, Argo CD's, and those in the tree."""
        made = {manifest.name for manifest in manifests if manifest.kind == "Namespace" and not manifest.group}
        return frozenset({*BUILT_IN, cluster.argocd.namespace, *made})

    def line_of(self, manifest: Manifest) -> Location | None:
        """Return the spec line of a generated object."""
        return self.spec_line(manifest.file)

    def second_engine(self, known: Catalog, inputs: Sequence[tuple[str, bytes]], result: Result) -> None:
        """Let kubeconform judge the same files, where it is installed; what ours refused already is not said twice."""
        if (missing := program.missing_program(self.home)) is not None:
            result.skipped.append(Skipped(kubeconform.RULE.id, missing))
            return
        refused = {
            (finding.location.file, finding.location.document) for finding in result.findings if finding.is_error
        }
        for finding in kubeconform.check(self.home, known, inputs):
            if (finding.location.file, finding.location.document) not in refused:
                result.findings.append(finding)

    def policies(
        self,
        world: World,
        known: Catalog,
        judgements: Sequence[Judgement],
        policies: Sequence[Policy],
        result: Result,
        updates: Updates | None,
    ) -> None:
        """Run the policies of both languages."""
        off = self.specs.repository.policies
        findings, skipped = python_policies.check(world, policies, off=off, line_of=self.line_of)
        result.add(findings)
        result.skipped += [skipped_check for skipped_check in skipped if skipped_check not in result.skipped]
        on = [policy for policy in policies if policy.id not in off]
        outcome = cel_policies.check_judged(
            judgements, known, on, complete=True, covered=self.covers, held=statement.NAMES
        )
        validate.collect(result, judgements, outcome, updates)
        if updates is not None:
            result.changes = [*(result.changes or ()), *updates.removed()]

    def covers(self, finding: Finding) -> bool:
        """Say whether a finding on an object is waived, by its job or in the spec that it is rendered from."""
        return self.waivers.covers(finding, job_of(finding))

    def was_said(self, finding: Finding) -> bool:
        """Say whether a policy said of the job what it says of its run's object."""
        job = job_of(finding)
        return job is not None and (finding.rule, *job) in self.said


def counts(manifest: Manifest) -> bool:
    """Whether an object that is no run's may matter to those of runs; what says whose runs may what is held by us."""
    return manifest.kind in SHAPING and not (manifest.kind == POLICY and manifest.name in statement.NAMES)


def classes_of(cluster: Cluster) -> Iterable[dict[str, Any]]:
    """Yield the existing storage classes of which a cluster's file says whether volumes may grow."""
    for name, choice in cluster.storage.items():
        if choice.existing and choice.allow_volume_expansion is not None:
            head = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}}
            yield {**head, "allowVolumeExpansion": choice.allow_volume_expansion}


def validate_repository(
    root: Path,
    *,
    clusters: Iterable[str] = (),
    allow_unknown: Iterable[str] = (),
    base: str | None = None,
    against: str | None = None,
    home: Path | None = None,
    tree: Snapshot | None = None,
    second: bool = True,
    watch: Callable[[float], None] = lambda _: None,
) -> Result:
    """Judge the specs, and the generated tree of every cluster or of those named.

    An error that a frozen run had at the base already is a warning; `base` leads to the base, over whose objects those
    of a live repository are judged. `against` is another commit to do that with, and to say what becomes of each.
    `home` is the repository whose schemas and policies count, where that is another than the one at `root`; `tree` is
    the generated tree, where that is not the one on disk. `second` says whether the second engine is asked too. `watch`
    is told the share that is done.

    Raises SpecError for a cluster that does not exist, and ToolError for a commit that does not.
    """
    home = home or root
    result = Result()
    checked = frozen.check_specs(root, home=home, ref=base)
    result.add(checked.findings)
    result.notes += trusted.edits(home)
    if checked.idle:
        count = len(checked.idle)
        what = "1 Python job file was" if count == 1 else f"{count} Python job files were"
        result.skipped.append(Skipped("run/python-idle", f"{what} not executed; run trainyard check, or use --python"))
    if checked.refused:
        return result
    names = [cluster_of(name, checked.specs.clusters) for name in clusters] or sorted(checked.specs.clusters)
    checking = Checking(
        root,
        checked.specs,
        home,
        Allowed(tuple(allow_unknown)),
        None if against is None else past.objects_at(root, against, names),
        spec_line=spec_lines(root, tree.text if tree is not None else None),
        waivers=checked.waivers,
        said=said_of_jobs(checked),
        tree=tree,
        second=second,
    )
    if against is None:
        before = past.before(root, checked.specs, names, tree=tree, ref=base)
        result.add(before.findings)
        result.skipped += before.skipped
        checking.before, checking.both = before.objects, True
    result.extend(judge_trees(checking, names, watch))
    checked.waivers.used |= result.waived
    checked.waivers.refused |= result.refused
    complete = set(names) == set(checked.specs.clusters)
    result.add(checked.waivers.unneeded(before=False, seen=lambda waiver: waiver.cluster in names or complete))
    result.say_once()
    result.hide()

    def found_at(folder: Path, clusters: Sequence[str]) -> list[Finding]:
        specs = preflight.check_repository(folder, home=home).specs
        there = [name for name in clusters if name in specs.clusters]
        return judge_trees(Checking(folder, specs, home, second=second), there).findings

    result.findings = frozen.weigh_findings(root, result.findings, checked.specs.repository, found_at, ref=base)
    return result


def judge_trees(checking: Checking, names: Sequence[str], watch: Callable[[float], None] = lambda _: None) -> Result:
    """Judge the trees of clusters together."""
    result = Result()
    for number, found in enumerate(each_tree(checking, names), 1):
        result.extend(found)
        watch(number / len(names))
    return result


def each_tree(checking: Checking, names: Sequence[str]) -> Iterator[Result]:
    """Judge the trees of clusters one by one; large ones with a process for each core, a cluster at a time."""
    judge = partial(checking.cluster, policies=usable(policy_files(checking.home)))
    if len(names) < 2 or not parallel.is_much(sum(map(checking.size, names))):
        yield from map(judge, names)
        return
    for result, seen in parallel.each(names, partial(reads.heard, judge, reads.digests())):
        reads.join(seen)
        yield result
