"""Who on a cluster says no: the API server, an operator's webhook, a controller after admission, or the pods' nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from trainyard.base.findings import Finding
from trainyard.judge.checks.result import Judged, Verdict
from trainyard.upstream.apiserver.meta.metadata import CORE_GROUPS

Decider = Literal["server", "webhook", "controller", "pod"]
"""In the order in which they are asked: each sees an object only if those before it take it."""

DECIDERS: tuple[Decider, ...] = get_args(Decider)

_OF_LAYERS: Mapping[str, Decider] = {
    **dict.fromkeys(("decode", "schema", "meta", "core", "cel", "update"), "server"),
    "webhook": "webhook",
    "queueing": "controller",
    "node": "pod",
}
LATER = "refused at reconcile"
"""What the source of a rule says that a controller restates after admission (upstream/apiserver/webhooks)."""
ADMISSION = "the policy"
"""The source of findings of ValidatingAdmissionPolicies among the inputs (cel_policies)."""
_POD_SECURITY = "pod-security/"


def decider(finding: Finding) -> Decider | None:
    """Return who refuses for the reason of a finding; None for reasons of specs and of Trainyard's own policies.

    A controller makes the pods and Jobs of custom resources, so it is told no where their parts break core rules.
    """
    kind = finding.object.kind if finding.object else ""
    if finding.rule.startswith(_POD_SECURITY):
        return "server" if kind == "Pod" else "pod"
    if finding.layer == "policy":
        return "server" if finding.source == ADMISSION else None
    if finding.layer == "webhook" and LATER in (finding.source or ""):
        return "controller"
    if finding.layer == "core" and finding.object is not None and not is_core(finding.object.api_version):
        return "controller"
    return _OF_LAYERS.get(finding.layer)


def is_core(api_version: str) -> bool:
    """Whether a kind is Kubernetes' own, by its group."""
    group = api_version.rpartition("/")[0]
    return group in CORE_GROUPS or (group.endswith(".k8s.io") and not group.endswith(".x-k8s.io")) or group == "policy"


def verdicts(judged: Judged, findings: Iterable[Finding]) -> dict[Decider, Verdict | None]:
    """Return the verdict of each decider on an object, of all errors on it; None of those who are never asked."""
    said = {decider(finding) for finding in findings if finding.is_error}
    found: dict[Decider, Verdict | None] = {}
    asked = True
    for name in DECIDERS:
        unknown = judged.verdict == "unknown" and (name == "server" or name not in said)
        verdict: Verdict = "unknown" if unknown else "invalid" if name in said else "valid"
        if name == "server" and judged.verdict == "invalid" and not said & {*DECIDERS}:
            verdict = "invalid"
        found[name] = verdict if asked else None
        asked = asked and verdict == "valid"
    return found
