"""Judges a repository's own generated tree: each cluster against the releases it runs, with inventory and policies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from trainyard import preflight
from trainyard.apiserver import Catalog, Judge, Judgement, aware, catalog
from trainyard.apiserver.catalog.releases import Shelf
from trainyard.apiserver.validations.kept import open_for
from trainyard.checks import cel_policies, kubeconform, parallel, policies, validate
from trainyard.checks.places import GENERATED, SPECIAL
from trainyard.checks.policies import Waiver, Waivers
from trainyard.checks.policy import Policy, load_policies
from trainyard.checks.result import Result, Skipped
from trainyard.checks.updates import Updates
from trainyard.checks.world import World
from trainyard.errors import SpecError
from trainyard.findings import Location, did_you_mean
from trainyard.kinds import Resolved
from trainyard.manifests import Manifest
from trainyard.operators import Site
from trainyard.operators.install import sites
from trainyard.specs import Cluster
from trainyard.specs.sources import Specs
from trainyard.system import files
from trainyard.system.data import policy_files, schemas_dir

NOT_OBJECTS = ("index/", "ledger/")
"""Folders of a cluster that hold our own records."""
NODES = "nodes/"
"""Files for node images, which no API server ever sees."""
BUILT_IN = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})

SpecLine = Callable[[str], Location | None]
"""The spec line that a generated file, named by its path in the repository, comes from."""


@dataclass(slots=True)
class Checking:
    """One pass over a repository."""

    root: Path
    specs: Specs
    spec_line: SpecLine
    allow_unknown: frozenset[str] = frozenset()
    before: Mapping[str, Sequence[tuple[str, bytes]]] | None = None
    """By cluster, the generated files as they were, for the rules of updates."""
    rules_of: Path | None = None
    """The repository whose schemas and policies count; default: this one."""
    runs: tuple[Resolved, ...] = ()
    """The runs of the repository's jobs, for their waivers."""

    def cluster(self, name: str, rules: Sequence[Policy]) -> Result:
        """Judge one cluster's tree."""
        result = Result()
        cluster = self.specs.clusters[name]
        known = self.catalog(name, cluster, result)
        inputs = list(self.inputs(name))
        manifests = validate.decode_all(inputs, result)
        rulebook = open_for(self.rules_of or self.root)
        namespaces = self.namespaces(cluster, manifests)
        judge = Judge(known, self.allow_unknown, namespaces, self.line_of, rulebook=rulebook)
        judge = aware(judge, [each.value for each in manifests])
        updates = None if self.before is None else Updates(judge, self.olds(name, self.before), manifests)
        judgements = [judge.judge(each) if updates is None else updates.judge(each) for each in manifests]
        rulebook.keep()
        self.policies(name, judge.catalog, judgements, rules, result, updates)
        self.second_engine(judge.catalog, inputs, result)
        if any((self.root / GENERATED / name / NODES).glob("*")):
            result.skipped.append(Skipped("schema", "files below nodes/ are for node images, not for an API server"))
        return result

    def size(self, name: str) -> int:
        """Return how many bytes there are to judge of a cluster."""
        return sum(found.stat.st_size for found in files.walk(self.root / GENERATED / name) if is_object(found.path))

    def catalog(self, name: str, cluster: Cluster, result: Result) -> Catalog:
        """Return the kinds that a cluster serves: its Kubernetes, its operators and its Argo CD."""
        source = self.specs.sources.get(f"cluster/{name}")

        def where(project: str) -> Location:
            path = SPECIAL.get(project, ("operators", project, "version"))
            return source.location(path) if source else Location(f"platform/clusters/{name}.yaml")

        folder = schemas_dir(self.rules_of or self.root)
        shelf = Shelf(folder)
        typed = shelf.projects()
        projects = {site.name: judged(site, shelf) for site in sites(cluster) if site.name in typed}
        for operator in sorted(set(cluster.operators) - set(typed)):
            result.skipped.append(
                Skipped("schema", f"operator {operator!r} has no API types here; `make schemas` imports")
            )
        known, findings = catalog.load(
            folder,
            kubernetes=cluster.kubernetes,
            projects={**projects, "argo-cd": cluster.argocd.version},
            where=where,
        )
        result.add(findings)
        return known

    def inputs(self, name: str) -> Iterable[tuple[str, bytes]]:
        """Yield path and bytes of every object of a cluster, in order."""
        folder = self.root / GENERATED / name
        for found in sorted(files.walk(folder), key=lambda each: each.path):
            if found.regular and is_object(found.path):
                yield f"{GENERATED}/{name}/{found.path}", files.read(folder / found.path) or b""

    def olds(self, name: str, before: Mapping[str, Sequence[tuple[str, bytes]]]) -> list[Manifest]:
        """Return the objects of a cluster as they were."""
        folder = f"{GENERATED}/{name}/"
        files = ((path, data) for path, data in before.get(name, ()) if is_object(path.removeprefix(folder)))
        return validate.decode_all(files, Result())

    def namespaces(self, cluster: Cluster, manifests: Iterable[Manifest]) -> frozenset[str]:
        """Return the namespaces that exist on a cluster: Kubernetes' own, Argo CD's, and those in the tree."""
        made = {each.name for each in manifests if each.kind == "Namespace" and not each.group}
        return frozenset({*BUILT_IN, cluster.argocd.namespace, *made})

    def line_of(self, manifest: Manifest) -> Location | None:
        """Return the spec line of a generated object."""
        return self.spec_line(manifest.file)

    def second_engine(self, known: Catalog, inputs: Sequence[tuple[str, bytes]], result: Result) -> None:
        """Let kubeconform judge the same files; what ours refused already is not said twice."""
        refused = {(each.location.file, each.location.document) for each in result.findings if each.is_error}
        for finding in kubeconform.check(self.rules_of or self.root, known, inputs):
            if (finding.location.file, finding.location.document) not in refused:
                result.findings.append(finding)

    def policies(
        self,
        name: str,
        known: Catalog,
        judgements: Sequence[Judgement],
        rules: Sequence[Policy],
        result: Result,
        updates: Updates | None,
    ) -> None:
        """Run the policies of both languages, and look after the waivers."""
        waivers = Waivers(tuple(self.waivers(name)))
        world = World(tuple(each.manifest for each in judgements), self.specs.clusters[name])
        off = self.specs.repository.policies
        findings, skipped = policies.check(world, rules, waivers, off=off)
        result.add(findings)
        result.skipped += [each for each in skipped if each not in result.skipped]
        on = [rule for rule in rules if rule.id not in off]
        outcome = cel_policies.check_judged(judgements, known, on, waivers, complete=True)
        validate.collect(result, judgements, outcome, updates)
        if updates is not None:
            result.changes = [*(result.changes or ()), *updates.removed()]
        result.add(waivers.unneeded(rule.id for rule in rules))

    def waivers(self, name: str) -> Iterable[Waiver]:
        """Yield the waivers of a cluster's jobs."""
        for run in (each.run for each in self.runs):
            if run.cluster_name == name:
                for policy in run.job.waive:
                    place = run.source.location(("waive", policy), key=True)
                    yield Waiver(policy, run.namespace, run.name, place)


def judged(site: Site, shelf: Shelf) -> str:
    """Return the release of an operator that its objects are judged by.

    One that the schemas lack is judged as it is rendered, by the nearest that is known, which preflight has said.
    """
    return site.version if shelf.carries(site.name, site.version) else site.known


def is_object(path: str) -> bool:
    """Say whether a file, named by its path in a cluster's folder, is for an API server."""
    return path.endswith(".yaml") and not path.startswith((*NOT_OBJECTS, NODES))


def validate_repository(
    root: Path,
    spec_line: SpecLine,
    *,
    clusters: Iterable[str] = (),
    allow_unknown: Iterable[str] = (),
    before: Mapping[str, Sequence[tuple[str, bytes]]] | None = None,
    rules_of: Path | None = None,
    watch: Callable[[float], None] = lambda _: None,
) -> Result:
    """Judge the generated tree of every cluster, or of those named; raises SpecError for one that is not there.

    `rules_of` is the repository whose schemas and policies count, where that is another than the one at `root`.
    `watch` is told the share that is done. Large trees are judged with a process for each core, a cluster at a time.
    """
    result = Result()
    checked = preflight.check_repository(root, schemas=schemas_dir(rules_of or root))
    specs = checked.specs
    result.add(checked.findings)
    if checked.refused:
        return result
    checking = Checking(root, specs, spec_line, frozenset(allow_unknown), before, rules_of, checked.runs)
    rules = load_policies(policy_files(rules_of or root))
    names = list(clusters) or sorted(specs.clusters)
    for name in names:
        if name not in specs.clusters:
            raise SpecError(f"cluster {name!r} does not exist; {did_you_mean(name, specs.clusters)}")
    judge = partial(checking.cluster, rules=rules)
    several = len(names) > 1 and parallel.is_much(sum(map(checking.size, names)))
    for number, found in enumerate(parallel.each(names, judge) if several else map(judge, names), 1):
        result.extend(found)
        watch(number / len(names))
    result.say_once()
    return result
