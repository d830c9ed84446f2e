"""One object's verdict, layer by layer, in the order of the API server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from trainyard.apiserver import core, webhooks
from trainyard.apiserver.catalog import Catalog, Missing
from trainyard.apiserver.catalog.served import Kind
from trainyard.apiserver.core import defaults as core_defaults
from trainyard.apiserver.core import updates
from trainyard.apiserver.meta import metadata
from trainyard.apiserver.problems import UNKNOWN, Problem
from trainyard.apiserver.schema import apply, defaults, nulls, structural
from trainyard.apiserver.validations.kept import Rulebook
from trainyard.documents import Path, format_path
from trainyard.findings import Finding, Layer, Location, Severity
from trainyard.manifests import Manifest

if TYPE_CHECKING:
    from trainyard.apiserver.admission.podsecurity.plugin import Admission

Verdict = Literal["valid", "invalid", "unknown"]

ENUM = "schema/enum"
"""What a closed set of a core type refuses: the server asks for it after it has dropped what it does not look at."""
DUPLICATE = "schema/duplicate"
"""What server-side apply refuses before it merges lists, after which nothing is there twice."""
POLICY = ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the server would say of one object, and why."""

    manifest: Manifest
    verdict: Verdict
    findings: tuple[Finding, ...]
    value: dict[str, Any] | None = None
    """The object with its defaults, as rules and policies see it; None where its kind is unknown."""
    kind: Kind | None = None
    old: dict[str, Any] | None = None
    """The object before, with its defaults, where it is known."""
    spec: Location | None = None


@dataclass(frozen=True)
class Judge:
    """Judges objects as a server of one Kubernetes release with these kinds would."""

    catalog: Catalog
    allow_unknown: frozenset[str] = frozenset()
    """Kinds, as `GROUP/KIND` or `KIND`, whose unknown verdict does not fail."""
    namespaces: frozenset[str] | None = None
    """Namespaces that exist; None where that cannot be known."""
    spec_of: Callable[[Manifest], Location | None] = field(default=lambda _: None)
    """The spec line that a person should edit when the object is generated."""
    around: webhooks.Around = field(default_factory=webhooks.Around)
    """Other objects of the cluster, as far as they are known: queues and runtimes that webhooks look up."""
    refused_later: Severity = Severity.ERROR
    """How much it weighs that a controller never runs what admission lets pass."""
    rulebook: Rulebook = field(default_factory=Rulebook)
    """The rules of CRDs that were compiled already."""
    security: Admission | None = None
    """Pod Security, where a namespace among the objects enforces a level."""

    def judge(self, manifest: Manifest, *, old: dict[str, Any] | None = None) -> Judgement:
        """Return the verdict; `old` is the object before, where it is known."""
        found = self.catalog.lookup(*manifest.gvk)
        if isinstance(found, Missing):
            return self._unknown(manifest, found)
        before = None if old is None else self._prepared(old, found)
        value = defaults.apply(manifest.value, found)
        decoding = list(self._structure(value, found)) if found.typed else None
        doubled: list[Problem] = []
        if before is not None and decoding is not None and all(each.rule == ENUM for each in decoding):
            merged = apply.merge(updates.stored(before), old, manifest.value, found.schema)
            value = defaults.apply(merged, found)
            updates.keep(value, before)
        elif before is not None and decoding is None:
            doubled = [each for each in self._structure(value, found) if each.rule == DUPLICATE]
            value = defaults.apply(apply.merge(before, old, manifest.value, found.schema), found)
        self._prepare(value, found, manifest.value, before)
        if decoding:
            decoding = [each for each in decoding if each.rule != ENUM or is_there(value, manifest.value, each.path)]
        findings = tuple(self._finding(manifest, each, "schema") for each in doubled)
        findings += tuple(self._findings(manifest, found, value, before, decoding))
        verdict = verdict_of(findings)
        if verdict == "valid":
            findings += tuple(self._webhooks(manifest, found, value, before))
            verdict = verdict_of(findings)
            if self.security is not None:
                refused, said = self._security(self.security, manifest, found, value, before)
                verdict = "invalid" if refused else verdict
                findings += said
        return Judgement(manifest, verdict, findings, value, found, before, self.spec_of(manifest))

    def _findings(
        self,
        manifest: Manifest,
        kind: Kind,
        value: dict[str, Any],
        old: dict[str, Any] | None,
        decoding: Iterable[Problem] | None,
    ) -> Iterator[Finding]:
        """Run the layers; rules in CEL run on a sound structure only, as they do on a server.

        `decoding` is what a core kind's types refuse; a custom resource is held against its schema last of all.
        """
        kubernetes = self.catalog.kubernetes
        refused: set[Path] = set()
        for problem in self._structure(value, kind) if decoding is None else decoding:
            refused.add(problem.path)
            yield self._finding(manifest, problem, "schema")
        malformed = bool(refused)
        for problem in metadata.check(value, kubernetes=kubernetes, namespaced=kind.namespaced, old=old):
            if not beneath(problem.path, refused):
                refused.add(problem.path)
                yield self._finding(manifest, problem, "meta")
        if kind.namespaced and self.namespaces is not None:
            yield from self._namespace(manifest)
        yield from self._rules(manifest, kind, value, old, refused, malformed=malformed)
        if kind.deprecated:
            problem = Problem(("apiVersion",), "schema/deprecated", kind.deprecated, f"{kind.project} {kind.release}")
            yield self._finding(manifest, problem, "schema", Severity.WARNING)

    def _structure(self, value: dict[str, Any], kind: Kind) -> Iterator[Problem]:
        """Yield what types and schemas refuse; of kinds whose own rules nobody restates, also what OpenAPI requires."""
        unrestated = kind.typed and (kind.group, kind.kind) not in core.CHECKS
        return structural.check(value, kind, kubernetes=self.catalog.kubernetes, required=unrestated)

    def _prepared(self, value: dict[str, Any], kind: Kind) -> dict[str, Any]:
        """Return a copy with all defaults, the installed operators' too."""
        filled: dict[str, Any] = defaults.apply(value, kind)
        self._prepare(filled, kind, value, None)
        return filled

    def _prepare(self, filled: dict[str, Any], kind: Kind, given: dict[str, Any], old: dict[str, Any] | None) -> None:
        """Put Go's and the operators' defaults into an object that has its schema's: what rules see."""
        if kind.typed:
            nulls.put(filled, kind.schema)
            if filled.get("spec") is None and "spec" in kind.schema["properties"]:
                filled["spec"] = {}
            core_defaults.apply(filled, self.catalog.kubernetes)
        projects = self.catalog.projects
        webhooks.default(filled, kind=kind, projects=projects, old=old, given=given, around=self.around)

    def _rules(
        self,
        manifest: Manifest,
        kind: Kind,
        value: dict[str, Any],
        old: dict[str, Any] | None,
        refused: set[Path],
        *,
        malformed: bool,
    ) -> Iterator[Finding]:
        """Run the rules of Kubernetes' own kinds in code, and those of custom resources in CEL.

        CEL is imported for objects that need it: many files hold none.
        """
        kubernetes = self.catalog.kubernetes
        if kind.typed:
            for problem in core.check(value, kubernetes=kubernetes, old=old):
                if not beneath(problem.path, refused):
                    yield self._finding(manifest, problem, "core")
            if (kind.group, kind.kind) == POLICY and not refused:
                from trainyard.apiserver.admission.policies import typecheck

                for problem in typecheck.compilation(value, kubernetes=kubernetes):
                    yield self._finding(manifest, problem, "cel")
        elif kind.ruled and not malformed:
            from trainyard.apiserver.validations import walk

            for problem in walk.check(value, kind, kubernetes=kubernetes, old=old, rulebook=self.rulebook):
                yield self._finding(manifest, problem, "cel")

    def _webhooks(
        self, manifest: Manifest, kind: Kind, value: dict[str, Any], old: dict[str, Any] | None
    ) -> Iterator[Finding]:
        """Ask the installed operators' rules of what the server itself would take."""
        projects = self.catalog.projects
        refused = False
        for problem in webhooks.check(
            value, kind=kind, projects=projects, old=old, around=self.around, given=manifest.value
        ):
            refused = True
            yield self._finding(manifest, problem, "webhook")
        if not refused:
            for problem in webhooks.reconcile(value, kind=kind, projects=projects, around=self.around):
                yield self._finding(manifest, problem, "webhook", self.refused_later)

    def _security(
        self,
        security: Admission,
        manifest: Manifest,
        kind: Kind,
        value: dict[str, Any],
        old: dict[str, Any] | None,
    ) -> tuple[bool, tuple[Finding, ...]]:
        """Hold pods against the level of their namespace; say whether the server refuses the object itself."""
        refused, findings = False, []
        for each in security.check(value, group=kind.group, kind=kind.kind, old=old, around=self.around):
            severity = Severity.ERROR if each.certain else Severity.WARNING
            findings.append(replace(self._finding(manifest, each.problem, "policy", severity), fix=each.fix))
            refused = refused or each.refused
        return refused, tuple(findings)

    def _namespace(self, manifest: Manifest) -> Iterator[Finding]:
        """Yield a namespace that does not exist: the server answers 404 before it looks at the object."""
        name = manifest.namespace or "default"
        if self.namespaces is not None and name not in self.namespaces:
            message = f"namespace {name!r} does not exist on this cluster"
            problem = Problem(
                ("metadata", "namespace"), "meta/namespace-exists", message, "kube-apiserver NamespaceLifecycle"
            )
            yield self._finding(manifest, problem, "meta")

    def _unknown(self, manifest: Manifest, why: Missing) -> Judgement:
        """Return the verdict on a kind that nothing here serves: it fails unless it is allowed."""
        names = {manifest.kind, f"{manifest.group}/{manifest.kind}"}
        severity = Severity.WARNING if names & self.allow_unknown else Severity.ERROR
        problem = Problem(("kind",), "schema/unknown-kind", why.message, "API discovery")
        return Judgement(manifest, "unknown", (self._finding(manifest, problem, "schema", severity),))

    def _finding(
        self, manifest: Manifest, problem: Problem, layer: Layer, severity: Severity = Severity.ERROR
    ) -> Finding:
        """Add place, layer and severity to what a layer found."""
        return Finding(
            rule=problem.rule,
            layer=layer,
            message=problem.message,
            location=manifest.location(problem.path),
            severity=severity,
            object=manifest.ref,
            path=format_path(problem.path) or None,
            spec=self.spec_of(manifest),
            source=problem.source,
        )


def verdict_of(findings: Iterable[Finding]) -> Verdict:
    """Return what findings come to: a rule that cannot be decided leaves the object unknown, unless it is refused."""
    errors = [each for each in findings if each.is_error]
    if not errors:
        return "valid"
    return "unknown" if all(each.rule == UNKNOWN for each in errors) else "invalid"


def is_there(value: Any, given: Any, path: Path) -> bool:
    """Whether a field is looked at as it is given: what a release drops or keeps as it was may hold any word."""
    for part in path:
        try:
            value, given = value[part], given[part]
        except (KeyError, IndexError, TypeError):
            return False
    return bool(value == given)


def beneath(path: Path, refused: set[Path]) -> bool:
    """Say whether a field, or what it stands in, was refused already: one mistake is one finding."""
    return bool(refused) and any(path[:length] in refused for length in range(1, len(path) + 1))


def judge_all(judge: Judge, manifests: Iterable[Manifest]) -> Iterator[Judgement]:
    """Judge objects one by one, in their order."""
    return (judge.judge(manifest) for manifest in manifests)
