"""The verdict of Pod Security on an object, by the level that its namespace enforces.

Pods are refused. Of whatever makes pods the server only warns, but the pods would be refused, so nothing ever starts.
Source: k8s.io/pod-security-admission v0.35.4 admission/admission.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from trainyard.base.versions import minor
from trainyard.upstream.apiserver.admission.podsecurity.added import Made
from trainyard.upstream.apiserver.admission.podsecurity.levels import Level
from trainyard.upstream.apiserver.admission.podsecurity.pods import Violation
from trainyard.upstream.apiserver.admission.podsecurity.registry import Check, evaluate
from trainyard.upstream.apiserver.admission.podsecurity.settings import Settings
from trainyard.upstream.apiserver.admission.podsecurity.templates import made_pods
from trainyard.upstream.apiserver.core.shapes import Object, each, inner, text
from trainyard.upstream.apiserver.problems import Path, Problem
from trainyard.upstream.apiserver.webhooks.around import Around
from trainyard.upstream.workloads import Carrier, carrier

POD = ("", "Pod")


class Objection(NamedTuple):
    """What breaks the level of a namespace, and what that means."""

    problem: Problem
    fix: str
    refused: bool = False
    """Whether the server refuses the object itself, which is a Pod."""
    certain: bool = True
    """Whether a pod is sure to be refused, and not only if somebody asks for one."""


@dataclass(frozen=True)
class Admission:
    """What judges pods by the levels of the namespaces that are known."""

    levels: Mapping[str, Level]
    """By namespace: the level, where one is enforced."""
    kubernetes: str
    settings: Settings = field(default_factory=Settings)
    """What operators are told to add to pods."""

    def check(
        self, value: Object, *, group: str, kind: str, around: Around, old: Object | None = None
    ) -> Iterator[Objection]:
        """Yield the rules of its namespace's level that pods of a defaulted object break."""
        namespace = text(inner(value, "metadata"), "namespace") or "default"
        level, row = self.levels.get(namespace), carrier(group, kind)
        if level is None or row is None:
            return
        if (group, kind) == POD and old is not None and not is_significant(value, old):
            return
        for pods in made_pods(value, row, around, self.settings):
            yield from self._objections(pods, level, namespace, row)

    def _objections(self, pods: Made, level: Level, namespace: str, row: Carrier) -> Iterator[Objection]:
        rules = level.rules(minor(self.kubernetes))
        written = list(evaluate(level.name, rules, pods.written))
        whole = written if pods.written is pods.complete else list(evaluate(level.name, rules, pods.complete))
        own_of = {check.id: violation for check, violation in written}
        is_pod = (row.group, row.kind) == POD
        lower = f"lower the level of namespace {namespace!r}"
        for check, violation in whole:
            own = own_of.get(check.id)
            verb = "violates" if is_pod else "would violate"
            found = own or violation
            problem = objection_problem(f'{verb} PodSecurity "{level}"', check, found, pods.place or found.place)
            if own is not None:
                yield Objection(problem, f"change the field, or {lower}", is_pod, not row.idle)
            else:
                yield Objection(problem, f"{pods.remedy}, or {lower}", certain=not pods.configurable)


def objection_problem(verdict: str, check: Check, violation: Violation, place: Path) -> Problem:
    """Return the problem that a check found, in the server's words."""
    detail = f" ({violation.detail})" if violation.detail else ""
    return Problem(place, check.rule, f"{verdict}: {violation.reason}{detail}", check.source)


def is_significant(pod: Object, old: Object) -> bool:
    """Whether an update of a Pod is judged at all: containers are added or removed, or an image changes."""
    spec, before = inner(pod, "spec"), inner(old, "spec")
    for name in ("containers", "initContainers"):
        now, then = images(spec, name), images(before, name)
        if [image for _, image in now] != [image for _, image in then]:
            return True
    known = dict(reversed(images(before, "ephemeralContainers")))
    return any(known.get(name) != image for name, image in images(spec, "ephemeralContainers"))


def images(spec: Object, field: str) -> list[tuple[str, str]]:
    """Return name and image of some containers."""
    return [(text(container, "name"), text(container, "image")) for _, container in each(spec, field)]
