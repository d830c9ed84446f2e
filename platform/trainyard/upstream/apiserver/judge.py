"""The verdict on one object, layer by layer, in the order of the API server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from trainyard.base.documents import Path, format_path
from trainyard.base.findings import Finding, Layer, Location, Severity
from trainyard.base.limits import DEFAULTED_VALUES, FINDINGS
from trainyard.base.manifests import Manifest
from trainyard.base.system.unforeseen import UNFORESEEN, judge_safely
from trainyard.upstream.apiserver import core, encrypted, made, webhooks
from trainyard.upstream.apiserver.admission import families, resize
from trainyard.upstream.apiserver.allowed import Allowed
from trainyard.upstream.apiserver.catalog import Catalog, Kind, Missing
from trainyard.upstream.apiserver.core import gangs
from trainyard.upstream.apiserver.meta import metadata
from trainyard.upstream.apiserver.prepare import Preparation, Prepared
from trainyard.upstream.apiserver.problems import UNKNOWN, Problem, Rule
from trainyard.upstream.apiserver.schema.defaults import TooMany
from trainyard.upstream.apiserver.sentences import sentence
from trainyard.upstream.apiserver.validations.kept import Rulebook
from trainyard.upstream.workloads import carrier, held_in

if TYPE_CHECKING:
    from trainyard.upstream.apiserver.admission.podsecurity.plugin import Admission

Verdict = Literal["valid", "invalid", "unknown"]
Apply = Literal["client", "server", "create"]

DOUBTS = frozenset({resize.UNKNOWN.id, families.UNKNOWN.id})
"""Rules of what cannot be told, for what decides it is not at hand."""

POLICY = ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy")
SCHEDULING = "scheduling.k8s.io"


DEPRECATED = Rule(
    "schema/deprecated",
    "the definition of the kind",
    title="The API version of an object is not deprecated.",
    fix="use the version that the message names",
    why="a later release of the project no longer serves this version",
    severity=Severity.WARNING,
)
NAMESPACE = Rule(
    "meta/namespace-exists",
    "k8s.io/apiserver v0.35.4 pkg/admission/plugin/namespace/lifecycle/admission.go",
    title="The namespace of an object exists on the cluster.",
    fix="correct metadata.namespace, or add the Namespace to the inputs",
)
SEVERAL = Rule(
    "schema/several-definitions",
    "docs/apiserver.md",
    title="An object is valid under at least one of several definitions of its kind.",
    fix="write the value that one of the definitions expects, or remove the wrong CRD from the inputs",
    may_warn=True,
)
DEFAULTED = Rule(
    "schema/defaults-size",
    "etcd v3.6 server/embed/config.go",
    title="Defaults from the schema keep an object small enough for etcd.",
    fix="shorten the lists whose entries get defaults",
)
MORE = Rule(
    "schema/more-faults",
    "docs/validation.md",
    title="An object has few enough findings to show all of them.",
    fix="correct the findings that are shown, and run again",
    why="further findings of this object are not shown",
)
UNKNOWN_KIND = Rule(
    "schema/unknown-kind",
    "API discovery",
    title="The cluster serves the kind of each object.",
    fix="correct apiVersion or kind, add the operator or the CRD, or use --allow-unknown",
    why="the API server refuses the object, and Trainyard cannot check it",
    may_warn=True,
)


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
    allow_unknown: Allowed = field(default_factory=Allowed)
    """Kinds whose unknown verdict does not fail."""
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
    apply: Apply = "server"
    """How objects come to the server: what server-side apply alone refuses warns who applies from the client."""
    security: Admission | None = None
    """Pod Security, where a namespace among the objects enforces a level."""
    decrypts: bool = False
    """Whether somebody decrypts what SOPS has encrypted before the server sees it; Argo CD alone does not."""

    def judge(self, manifest: Manifest, *, old: dict[str, Any] | None = None) -> Judgement:
        """Return the verdict; `old` is the object before, where it is known.

        A kind that inputs describe in several ways takes what any of them takes; nothing is known of the others. An
        object that stops Trainyard itself is an error, and those beside it are judged.
        """
        if self.decrypts and encrypted.is_encrypted(manifest):
            return judge_safely(lambda: self._decrypted(manifest, old), lambda why: self._unforeseen(manifest, why))
        return judge_safely(lambda: self._by_any(manifest, old), lambda why: self._unforeseen(manifest, why))

    def _decrypted(self, manifest: Manifest, old: dict[str, Any] | None) -> Judgement:
        """Return the verdict on what is readable of an encrypted object; nothing is said of values that are not."""
        if encrypted.is_kind_hidden(manifest):
            rule, message = encrypted.HIDDEN, "the kind of this object is encrypted; encrypt data and stringData alone"
            problem = Problem(("kind",), rule.id, message, rule.source)
            return Judgement(manifest, "unknown", (self._finding(manifest, problem, "schema", Severity.WARNING),))
        before = None if old is None else encrypted.readable(old)
        found = self._by_any(replace(manifest, value=encrypted.readable(manifest.value)), before)
        hidden = {format_path(path) for path in encrypted.paths(manifest.value, manifest.base)}
        findings = tuple(finding for finding in found.findings if finding.path not in hidden)
        verdict = found.verdict if findings == found.findings else verdict_of(findings)
        return replace(found, manifest=manifest, findings=findings, verdict=verdict)

    def _unforeseen(self, manifest: Manifest, why: str) -> Judgement:
        """Return that an object could not be judged."""
        problem = Problem((), UNFORESEEN.id, f"this object cannot be checked: {why}", UNFORESEEN.source)
        return Judgement(manifest, "unknown", (self._finding(manifest, problem, UNFORESEEN.layer),))

    def _by_any(self, manifest: Manifest, old: dict[str, Any] | None) -> Judgement:
        """Return the verdict by any of the definitions of a kind."""
        if (manifest.group, manifest.kind) not in self.catalog.doubtful:
            return self._judged(manifest, old)
        ways = [replace(self.catalog, others=(), doubtful=frozenset()), *self.catalog.others]
        found = [replace(self, catalog=way)._judged(manifest, old) for way in ways]
        taken = next((judgement for judgement in found if judgement.verdict == "valid"), None)
        return taken or refused_by_all(found) or self._undecided(manifest, found)

    def _undecided(self, manifest: Manifest, found: Sequence[Judgement]) -> Judgement:
        """Return that no definition takes an object, with what the one says that finds least."""
        nearest = min(found, key=lambda attempt: sum(finding.is_error for finding in attempt.findings))
        said = next((finding.message for finding in nearest.findings if finding.is_error), nearest.verdict)
        message = (
            f"none of the {len(found)} definitions of {manifest.kind} accepts this object; the closest reports: {said}"
        )
        allowed = self.allow_unknown.has(manifest.group, manifest.kind)
        problem = Problem(("kind",), SEVERAL.id, message, SEVERAL.source)
        finding = self._finding(manifest, problem, "schema", Severity.WARNING if allowed else Severity.ERROR)
        return replace(nearest, verdict="unknown", findings=(finding,))

    def _judged(self, manifest: Manifest, old: dict[str, Any] | None) -> Judgement:
        """Return the verdict by the one definition that is served."""
        found = self.catalog.lookup(*manifest.gvk, gates=self.around.gates)
        if isinstance(found, Missing):
            return self._unknown(manifest, found)
        preparation = Preparation(found, self.catalog.kubernetes, self.catalog.releases, self.around)
        try:
            prepared = preparation.created(manifest.value) if old is None else preparation.updated(manifest.value, old)
        except TooMany:
            message = f"the defaults of its CRD add more than {DEFAULTED_VALUES:,} values, too many for etcd"
            problem = Problem((), DEFAULTED.id, message, DEFAULTED.source)
            return Judgement(manifest, "invalid", (self._finding(manifest, problem, "schema"),))
        value, before = prepared.value, prepared.before
        findings = tuple(self._some(manifest, self._findings(manifest, found, prepared)))
        verdict = verdict_of(findings)
        if verdict == "valid":
            findings += tuple(self._some(manifest, self._webhooks(manifest, found, value, before)))
            verdict = verdict_of(findings)
            findings += tuple(self._asked(manifest, value, before))
            verdict = doubt_verdict(verdict_of(findings), findings)
            if self.security is not None:
                refused, said = self._security(self.security, manifest, found, value, before)
                verdict = "invalid" if refused else verdict
                findings += said
            verdict, findings = self._with_held(manifest, verdict, findings)
        return Judgement(manifest, verdict, findings, value, found, before, self.spec_of(manifest))

    def _with_held(
        self, manifest: Manifest, verdict: Verdict, findings: tuple[Finding, ...]
    ) -> tuple[Verdict, tuple[Finding, ...]]:
        """Return verdict and findings with those of the objects that an object holds.

        The server takes the holder, and refuses them when its controller creates them: as new objects, also where the
        holder is changed, since the controller creates them anew after each reset.
        """
        later: list[Finding] = []
        for held in held_in(manifest):
            found = self._by_any(held, None)
            later += [
                replace(finding, severity=self.refused_later) if finding.is_error else finding
                for finding in found.findings
            ]
            if self.refused_later == Severity.ERROR and (verdict == "valid" or found.verdict == "invalid"):
                verdict = found.verdict
        return verdict, (*findings, *self._some(manifest, later))

    def _some(self, manifest: Manifest, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Yield findings, the first of very many, and the first of them that refuses the object."""
        refused = False
        for number, finding in enumerate(findings):
            refuses = finding.is_error and finding.rule != UNKNOWN
            if number < FINDINGS or (refuses and not refused):
                yield finding
            refused = refused or refuses
            if number >= FINDINGS and refused:
                message = f"this object has more than {FINDINGS} findings; correct the first {FINDINGS}, and run again"
                yield self._finding(manifest, Problem((), MORE.id, message, MORE.source), "schema")
                return

    def _findings(self, manifest: Manifest, kind: Kind, prepared: Prepared) -> Iterator[Finding]:
        """Run the layers; rules in CEL run on a sound structure only, as they do on a server."""
        kubernetes, value, old = self.catalog.kubernetes, prepared.value, prepared.before
        refused = {
            one_problem.path
            for one_problem in prepared.problems
            if self.apply == "server" or not one_problem.only_applied
        }
        for problem in (*prepared.doubled, *prepared.problems):
            yield from self._weighed(manifest, problem, "schema")
        malformed = bool(refused)
        for problem in metadata.check(
            value, kubernetes=kubernetes, namespaced=kind.namespaced, old=old, generated=prepared.generated
        ):
            if not beneath(problem.path, refused):
                refused.add(problem.path)
                yield from self._weighed(manifest, problem, "meta")
        if kind.namespaced and self.namespaces is not None:
            yield from self._namespace(manifest)
        yield from self._rules(manifest, kind, value, old, refused, malformed=malformed)
        if kind.deprecated:
            problem = Problem(("apiVersion",), DEPRECATED.id, kind.deprecated, f"{kind.project} {kind.release}")
            yield self._finding(manifest, problem, "schema", Severity.WARNING)

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
            yield from self._gangs(manifest, kind, old)
            if (kind.group, kind.kind) == POLICY and not refused:
                from trainyard.upstream.apiserver.admission.policies import typecheck

                for problem in typecheck.compilation(value, kubernetes=kubernetes):
                    yield self._finding(manifest, problem, "cel")
        elif kind.ruled and not malformed:
            from trainyard.upstream.apiserver.validations import walk

            for problem in walk.check(value, kind, kubernetes=kubernetes, old=old, rulebook=self.rulebook):
                yield self._finding(manifest, problem, "cel")

    def _gangs(self, manifest: Manifest, kind: Kind, old: dict[str, Any] | None) -> Iterator[Finding]:
        """Look at gangs of kube-scheduler as they are written: the object as the server keeps it may have none."""
        gates = self.around.gates
        found = gangs.check(manifest.value, kind.group, kind.kind, kubernetes=self.catalog.kubernetes, gates=gates)
        if kind.group == SCHEDULING and kind.kind != "PriorityClass":
            from trainyard.upstream.apiserver.core import composites

            found = composites.check(manifest.value, kind.kind, gates=gates, old=old)
        for problem in found:
            severity = Severity.WARNING if problem.warns else Severity.ERROR
            yield self._finding(manifest, problem, "core", severity)

    def _webhooks(
        self, manifest: Manifest, kind: Kind, value: dict[str, Any], old: dict[str, Any] | None
    ) -> Iterator[Finding]:
        """Ask the installed operators' rules of what the server itself would take."""
        projects = self.catalog.releases
        refused = False
        for problem in webhooks.check(
            value, kind=kind, projects=projects, old=old, around=self.around, given=manifest.value
        ):
            refused = refused or not problem.warns
            severity = Severity.WARNING if problem.warns else Severity.ERROR
            yield self._finding(manifest, problem, "webhook", severity)
        if not refused:
            for problem in webhooks.reconcile(value, kind=kind, projects=projects, around=self.around):
                refused = refused or not problem.warns
                severity = Severity.WARNING if problem.warns else self.refused_later
                yield self._finding(manifest, problem, "webhook", severity)
        row = None if refused or kind.typed else carrier(kind.group, kind.kind)
        for problem in made.check(value, row, kubernetes=self.catalog.kubernetes) if row else ():
            yield self._finding(manifest, problem, "core", self.refused_later)

    def _asked(self, manifest: Manifest, value: dict[str, Any], old: dict[str, Any] | None) -> Iterator[Finding]:
        """Ask what others decide: the class of a claim that grows, the families of addresses that a cluster has."""
        if old is not None:
            for problem in resize.check(value, old, self.around):
                severity = Severity.WARNING if problem.rule in DOUBTS else Severity.ERROR
                yield self._finding(manifest, problem, "update", severity)
            return
        for problem in families.check(value, self.around):
            severity = Severity.WARNING if problem.rule in DOUBTS else Severity.ERROR
            yield self._finding(manifest, problem, "core", severity)

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
        for objection in security.check(value, group=kind.group, kind=kind.kind, old=old, around=self.around):
            severity = Severity.ERROR if objection.certain else Severity.WARNING
            findings.append(replace(self._finding(manifest, objection.problem, "policy", severity), fix=objection.fix))
            refused = refused or objection.refused
        return refused, tuple(findings)

    def _weighed(self, manifest: Manifest, problem: Problem, layer: Layer) -> Iterator[Finding]:
        """Yield a problem as an error, unless only a way of applying refuses it that nobody takes here."""
        if self.apply == "server" or not problem.only_applied:
            yield self._finding(manifest, problem, layer)
        elif self.apply == "client":
            yield self._finding(manifest, problem, layer, Severity.WARNING)

    def _namespace(self, manifest: Manifest) -> Iterator[Finding]:
        """Yield a namespace that does not exist: the server answers 404 before it looks at the object."""
        name = manifest.namespace or "default"
        if self.namespaces is not None and name not in self.namespaces:
            message = f"namespace {name!r} does not exist on this cluster"
            problem = Problem(("metadata", "namespace"), NAMESPACE.id, message, NAMESPACE.source)
            yield self._finding(manifest, problem, "meta")

    def _unknown(self, manifest: Manifest, why: Missing) -> Judgement:
        """Return the verdict on a kind that nothing here serves: it fails unless it is allowed."""
        allowed = self.allow_unknown.has(manifest.group, manifest.kind)
        severity = Severity.WARNING if allowed else Severity.ERROR
        problem = Problem(("kind",), UNKNOWN_KIND.id, why.message, UNKNOWN_KIND.source)
        return Judgement(manifest, "unknown", (self._finding(manifest, problem, "schema", severity),))

    def _finding(
        self, manifest: Manifest, problem: Problem, layer: Layer, severity: Severity = Severity.ERROR
    ) -> Finding:
        """Add place, layer and severity to what a layer found."""
        return Finding(
            rule=problem.rule,
            layer=layer,
            message=sentence(problem),
            location=manifest.location(problem.path, key=problem.of_key),
            severity=severity,
            object=manifest.outer.ref,
            path=format_path(manifest.path_in_outer(problem.path)) or None,
            spec=self.spec_of(manifest.outer),
            source=problem.source,
        )


def doubt_verdict(verdict: Verdict, findings: Iterable[Finding]) -> Verdict:
    """Return the verdict where others decide who are not at hand: what they say can be unknown, which fails nobody."""
    unknown = verdict == "valid" and any(finding.rule in DOUBTS for finding in findings)
    return "unknown" if unknown else verdict


def verdict_of(findings: Iterable[Finding]) -> Verdict:
    """Return the verdict on findings: an undecidable rule leaves the object unknown, unless another one refuses it."""
    errors = [finding for finding in findings if finding.is_error]
    if not errors:
        return "valid"
    return "unknown" if all(error.rule == UNKNOWN for error in errors) else "invalid"


def refused_by_all(found: Sequence[Judgement]) -> Judgement | None:
    """Return the first verdict with the errors that all of them have; None where they have none in common."""
    first, *others = found
    same = tuple(
        finding for finding in first.findings if finding.is_error and all(finding in other.findings for other in others)
    )
    return replace(first, verdict=verdict_of(same), findings=same) if same else None


def beneath(path: Path, refused: set[Path]) -> bool:
    """Say whether a field, or what it stands in, was refused already: one mistake is one finding."""
    return bool(refused) and any(path[:length] in refused for length in range(1, len(path) + 1))
