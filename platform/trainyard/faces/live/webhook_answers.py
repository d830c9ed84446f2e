"""Answers to questions about admission webhooks: whether they are there, and whether anything answers for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.faces.live.seen import THERE, Seen, Verdict
from trainyard.render.prerequisites.questions import Webhooks

PLURALS = {
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}
API = "/apis/admissionregistration.k8s.io/v1"
SLICES = "/apis/discovery.k8s.io/v1/namespaces"

CORE = "/api/v1/namespaces"


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook of a configuration."""

    kind: str
    configuration: str
    value: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The webhook as a person finds it: the configuration, then its own name."""
        return f"{self.configuration}, webhook {self.value.get('name')}"

    @property
    def must_answer(self) -> bool:
        """Whether objects are refused while it does not answer; unsaid means so, as in the API server."""
        return str(self.value.get("failurePolicy", "Fail")) == "Fail"

    @property
    def service(self) -> tuple[str, str] | None:
        """Namespace and name of its Service; None where it is called by an address."""
        found = (self.value.get("clientConfig") or {}).get("service")
        return (str(found.get("namespace")), str(found.get("name"))) if found else None

    def names(self, groups: tuple[str, ...]) -> bool:
        """Whether a rule of it is about one of these API groups."""
        rules = self.value.get("rules") or ()
        return any(group in groups for rule in rules for group in rule.get("apiGroups") or ())


def answer(question: Webhooks, seen: Seen) -> Verdict:
    """Look for webhooks, and for pods behind the Service of each that must answer."""
    every = [webhook for kind in question.kinds for webhook in of_kind(kind, seen)]
    chosen = [webhook for webhook in every if not question.groups or webhook.names(question.groups)]
    if question.groups:
        there = {webhook.kind for webhook in chosen}
        lacking = [kind for kind in question.kinds if kind not in there]
        if lacking:
            return Verdict("missing", f"no {lacking[0]} has rules for {', '.join(question.groups)}")
        lax = next((webhook for webhook in chosen if not webhook.must_answer), None)
        if lax is not None and not any(webhook.must_answer for webhook in chosen if webhook.kind == lax.kind):
            return Verdict("missing", f"{lax.name} has failurePolicy {lax.value.get('failurePolicy')}")
    wrong = [problem for webhook in chosen if webhook.must_answer for problem in silence(webhook, seen)]
    if not wrong:
        return THERE
    more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    return Verdict("missing", f"{wrong[0]}{more}")


def of_kind(kind: str, seen: Seen) -> list[Webhook]:
    """Return every webhook of the configurations of a kind, each configuration read once."""
    return [
        Webhook(kind, value["metadata"]["name"], webhook)
        for value in seen.collection(f"{API}/{PLURALS[kind]}")
        for webhook in value.get("webhooks") or ()
    ]


def silence(webhook: Webhook, seen: Seen) -> Iterator[str]:
    """Yield why nothing answers for a webhook: its Service does not exist, or no pod is ready behind it."""
    if webhook.service is None:
        return
    namespace, name = webhook.service
    if seen.get(f"{CORE}/{namespace}/services/{name}") is None:
        yield f"{webhook.name}: Service {namespace}/{name} does not exist"
        return
    slices = [
        value
        for value in seen.collection(f"{SLICES}/{namespace}/endpointslices")
        if (value["metadata"].get("labels") or {}).get("kubernetes.io/service-name") == name
    ]
    endpoints = [endpoint for value in slices for endpoint in value.get("endpoints") or ()]
    if all((endpoint.get("conditions") or {}).get("ready") is False for endpoint in endpoints):
        yield f"{webhook.name}: no pod of Service {namespace}/{name} is ready"
