"""Judges the generated tree of one cluster against the releases it runs, with inventory and policies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from trainyard.base.findings import Finding, Location, Skipped, parse_path
from trainyard.base.manifests import Manifest
from trainyard.base.memory import NOTHING_KNOWN, Memory
from trainyard.base.system import files, reads
from trainyard.base.system import kubeconform as program
from trainyard.base.system.data import schemas_dir
from trainyard.base.system.git import blob_id
from trainyard.base.system.repository import GENERATED, cluster_file
from trainyard.judge.checks import cel_policies, kubeconform, tenants, validate
from trainyard.judge.checks.of_runs import Said, compares, job_of, run_of
from trainyard.judge.checks.origins import Origins
from trainyard.judge.checks.places import SPECIAL
from trainyard.judge.checks.result import Result
from trainyard.judge.checks.updates import Updates
from trainyard.judge.checks.verdicts import AROUND, Known, Parts, join_known, part_of, parts
from trainyard.judge.policies import run as python_policies
from trainyard.judge.policies.kept_rules import open_for
from trainyard.judge.policies.policy import Policy
from trainyard.judge.policies.world import World
from trainyard.judge.preflight import Waivers
from trainyard.judge.preflight.cluster.served import served_catalog
from trainyard.render.operators import kueue
from trainyard.render.tenancy import policies as statement
from trainyard.render.tree import layout
from trainyard.render.tree.origins import SpecLine
from trainyard.render.tree.snapshot import Snapshot
from trainyard.specs import Cluster
from trainyard.specs.releases import release
from trainyard.specs.releases.gates import cluster_gates
from trainyard.specs.sources import Specs
from trainyard.upstream.apiserver import Around, Catalog, Judge, Judgement, aware
from trainyard.upstream.apiserver.allowed import Allowed
from trainyard.upstream.apiserver.catalog.releases import Shelf
from trainyard.upstream.apiserver.neighbours import POLICY, SHAPING

BUILT_IN = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})


class Fresh(NamedTuple):
    """What is said of one cluster's tree, before waivers count."""

    result: Result
    unsteady: frozenset[str]
    """Parts of the tree on which a policy decides that somebody may waive."""
    compares: bool
    """Whether a policy compares runs."""


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
    spec_line: SpecLine = lambda path, field=(): None  # noqa: ARG005
    origins: Origins | None = None
    """The fields of specs from which fields of objects come."""
    waivers: Waivers = field(default_factory=Waivers)
    said: frozenset[Said] = frozenset()
    """What was found of jobs before anything was rendered."""
    tree: Snapshot | None = None
    """The generated tree, where that is not the one on disk."""
    second: bool = True
    """Whether the second engine is asked too."""
    memory: Memory = NOTHING_KNOWN
    """What was said before, where `now` names the contents of the tree."""
    now: Snapshot | None = None
    context: frozenset[str] = frozenset()
    """Files below `generated/` that others refer to, and of which nothing is said."""
    wrong: frozenset[str] = frozenset()
    """Spec files with errors, of whose objects nothing is said either."""

    def parts(self, name: str) -> Parts | None:
        """Return the parts of a cluster's tree, None where nothing tells its contents without reading them."""
        if self.now is None:
            return None
        olds = () if self.before is None else self.before.get(name, ())
        judges = (str(self.both), str(self.before is None), str(self.second), *self.allow_unknown.patterns)
        return parts(name, self.now, olds, *judges)

    def finish(self, result: Result) -> Result:
        """Return a cluster's result with the lines of specs, and without what is waived or was said of a job."""
        left = {f"{GENERATED}/{path}" for path in self.context}
        result.objects = [judged for judged in result.objects if judged.file not in left] if left else result.objects
        kept = [
            finding
            for finding in map(self.with_spec_line, result.findings)
            if not (self.is_context(finding) or self.covers(finding) or self.was_said(finding))
        ]
        with reads.apart():
            result.findings = kept if self.origins is None else self.origins.trace_all(kept)
        return result

    def is_context(self, finding: Finding) -> bool:
        """Say whether a finding is on an object of which nothing is said, since what it comes from has an error."""
        is_wrong = finding.spec is not None and finding.spec.file in self.wrong
        return is_wrong or finding.location.file.removeprefix(f"{GENERATED}/") in self.context

    def with_spec_line(self, finding: Finding) -> Finding:
        """Return a finding with the line of the spec that its object is rendered from."""
        with reads.apart():  # lines move without another verdict
            spec = finding.spec or self.spec_line(finding.location.file, parse_path(finding.path or ""))
            return replace(finding, spec=spec)

    def cluster(self, name: str, known: Known | None, policies: Sequence[Policy]) -> Fresh:
        """Judge one cluster's tree, as far as nothing is known of it."""
        with reads.about(cluster_file(name)):
            return self.judged(name, known, policies)

    def judged(self, name: str, before: Known | None, policies: Sequence[Policy]) -> Fresh:
        """Return the result of one cluster's tree, with what was known before."""
        result = Result()
        cluster = self.specs.clusters[name]
        known = self.catalog(name, cluster, result)
        inputs = list(self.inputs(name))
        compared = compares(policies, inputs)
        passed = None if before is None or compared else before.runs
        if passed is not None:
            inputs = [input_ for input_ in inputs if run_of(input_[0]) not in passed]
        manifests = validate.decode_all(inputs, result)
        rulebook = open_for(self.home)
        namespaces = self.namespaces(cluster, manifests)
        around = Around(gates=cluster_gates(cluster), scope=kueue.scope(cluster))
        judge = Judge(known, self.allow_unknown, namespaces, around=around, rulebook=rulebook)
        judge = aware(judge, [*(manifest.value for manifest in manifests), *classes_of(cluster)])
        olds = [] if self.before is None else self.olds(name, self.before)
        updates = None if self.before is None else Updates(judge, olds, manifests, both=self.both)
        ours = {*statement.NAMES, *(policy.id for policy in policies)}
        asked = (
            manifests
            if passed is None
            else [manifest for manifest in manifests if run_of(manifest.file) or counts(manifest, ours)]
        )
        judgements = [judge.judge(manifest) if updates is None else updates.judge(manifest) for manifest in asked]
        rulebook.keep()
        result.add(tenants.check(self.specs, name, manifests))
        world = World(tuple(manifests), cluster)
        unsteady = self.policies(world, judge.catalog, judgements, policies, result, None if self.both else updates)
        if self.second:
            new = [input_ for input_ in inputs if passed is None or run_of(input_[0])]
            self.second_engine(judge.catalog, new, result)
        if any((self.root / GENERATED / name / layout.NODES).glob("*")):
            why = "files in nodes/ are for node images, not for an API server"
            result.skipped.append(Skipped("schema", why, partial=True))
        if before is not None and passed is not None:
            result = join_known(before, result)
        if self.tree is None and self.now is not None and not all(is_named(self.now, *input_) for input_ in inputs):
            unsteady |= {AROUND}
        return Fresh(result, unsteady, compared)

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
        typed = {name for name in cluster.operators if (facts := release(name)) is None or facts.has_types}
        for operator in sorted(typed - set(Shelf(folder).projects())):
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
        """Return the namespaces that exist on a cluster: Kubernetes' own, Argo CD's, those in the tree, Prometheus'."""
        made = {manifest.name for manifest in manifests if manifest.kind == "Namespace" and not manifest.group}
        existing = cluster.monitoring.existing if cluster.monitoring else None
        theirs = {existing.namespace} if existing else set[str]()
        return frozenset({*BUILT_IN, cluster.argocd.namespace, *theirs, *made})

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
    ) -> frozenset[str]:
        """Run the policies of both languages; return the parts of the tree whose verdicts hang on what is waived."""
        off = self.specs.repository.policies
        findings, skipped = python_policies.check(world, policies, off=off)
        result.add(findings)
        result.skipped += [skipped_check for skipped_check in skipped if skipped_check not in result.skipped]
        on = [policy for policy in policies if policy.id not in off]
        waived: set[str] = set()
        used, refused = set(self.waivers.used), set(self.waivers.refused)

        def covered(finding: Finding) -> bool:
            is_covered = self.covers(self.with_spec_line(finding))
            waived.update([part_of(finding.location.file)] if is_covered else ())
            return is_covered

        outcome = cel_policies.check_judged(judgements, known, on, complete=True, covered=covered, held=statement.NAMES)
        validate.collect(result, judgements, outcome, updates)
        if updates is not None:
            result.changes = [*(result.changes or ()), *updates.removed()]
        result.waived, result.refused = self.waivers.used - used, self.waivers.refused - refused
        decided = (judged.manifest for judged in judgements if id(judged.manifest) in outcome.verdicts)
        return frozenset(waived).union(part_of(manifest.file) for manifest in decided)

    def covers(self, finding: Finding) -> bool:
        """Say whether a finding on an object is waived, by its job or in the spec that it is rendered from."""
        return self.waivers.covers(finding, job_of(finding))

    def was_said(self, finding: Finding) -> bool:
        """Say whether a policy said of the job what it says of its run's object."""
        job = job_of(finding)
        return job is not None and (finding.rule, *job) in self.said


def is_named(tree: Snapshot, file: str, data: bytes) -> bool:
    """Say whether a file that was read is what the tree says of it: it may have been written meanwhile."""
    return tree.files.get(file.removeprefix(f"{GENERATED}/")) == blob_id(data, tree.algorithm)


def counts(manifest: Manifest, ours: Collection[str]) -> bool:
    """Say whether an object that is no run's may matter to those of runs; copies of `ours` are asked as ours."""
    return manifest.kind in SHAPING and not (manifest.kind == POLICY and manifest.name in ours)


def classes_of(cluster: Cluster) -> Iterable[dict[str, Any]]:
    """Yield the existing storage classes of which a cluster's file says whether volumes may grow."""
    for name, choice in cluster.storage.items():
        if choice.existing and choice.allow_volume_expansion is not None:
            head = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}}
            yield {**head, "allowVolumeExpansion": choice.allow_volume_expansion}
