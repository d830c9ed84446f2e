"""What a reviewer should not miss in a change of an object: what is loosened, drained, opened or ended by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.documents.differences import flat
from trainyard.base.findings import ObjectRef
from trainyard.base.labels import NAMESPACE, POD_SECURITY
from trainyard.base.manifests import value_at
from trainyard.change.plan.compare.security import each, loosened
from trainyard.change.plan.compare.syncing import options
from trainyard.judge.checks.guards import KEPT
from trainyard.specs.models.team import SecurityLevel

LEVELS: tuple[SecurityLevel, ...] = ("restricted", "baseline", "privileged")
"""Pod Security levels, strictest first."""

ENFORCE = ("metadata", "labels", f"{POD_SECURITY}/enforce")
GATES = frozenset({"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration"})
"""Kinds whose going lets more through."""

RIGHTS = frozenset({"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"})


def dangers(ref: ObjectRef, old: Any, new: Any) -> Iterator[str]:
    """Yield a sentence for each; `old` and `new` are None where the object is not there."""
    if new is None and options(old) & KEPT:  # it stays on the cluster
        return
    where = f"{ref.kind} {ref.name}" + (f" of {ref.namespace}" if ref.namespace else "")
    if ref.kind == "Namespace":
        yield from levels(ref.name, old, new)
    elif ref.kind == "NetworkPolicy":
        yield from opened_traffic(where, old, new)
    elif ref.kind in GATES:
        yield from gates(where, old, new)
    elif ref.kind in RIGHTS:
        yield from rights(where, old, new)
    elif ref.kind == "ServiceAccount" and new is not None:
        yield from account(where, old, new)
    elif ref.kind in {"ClusterQueue", "LocalQueue"} and stop_policy(new) == "HoldAndDrain" != stop_policy(old):
        yield f"{where} is drained: its running jobs are evicted"
    before = loosened([old])
    yield from (f"{where}: {what}" for what in loosened([new]) if what not in before)


def levels(name: str, old: Any, new: Any) -> Iterator[str]:
    """Yield a warning for each namespace that admits pods that it refused before."""
    before, after = (value_at(value, ENFORCE) if value is not None else None for value in (old, new))
    if new is None or before == after:
        return
    if old is None:
        if after != LEVELS[0]:
            yield f"namespace {name} is new, with pod security {after or 'off'}"
        return
    known = [LEVELS.index(item) if item in LEVELS else len(LEVELS) for item in (before, after)]
    if known[1] > known[0]:
        yield f"pod security of {name} is loosened: {before} → {after or 'off'}"


def opened_traffic(where: str, old: Any, new: Any) -> Iterator[str]:
    """Yield the traffic that a network policy allows and did not allow before."""
    if new is None:
        yield f"{where} is removed: it no longer restricts traffic"
        return
    for way, peers in (("egress", "to"), ("ingress", "from")):
        before = list(map(peer, each(value_at(old, ("spec", way)))))
        for rule in each(value_at(new, ("spec", way))):
            if old is not None and peer(rule) not in before:
                reached = ", ".join(map(peer_words, each(rule.get(peers)))) or "everything"
                yield f"{where} opens {way}: {reached}{ports(rule)}"
    gone = set(as_list(value_at(old, ("spec", "policyTypes")))) - set(as_list(value_at(new, ("spec", "policyTypes"))))
    yield from (f"{where} no longer restricts {str(way).lower()}" for way in sorted(gone))


def peer(rule: Mapping[str, Any]) -> str:
    """Return a rule as one that may be compared."""
    return repr(sorted(rule.items(), key=str))


def peer_words(value: Mapping[str, Any]) -> str:
    """Return a peer of a network policy in words."""
    block = value_at(value, ("ipBlock", "cidr"))
    if block is not None:
        return flat(block)
    labels = value_at(value, ("namespaceSelector", "matchLabels"))
    named = labels.get(NAMESPACE) if isinstance(labels, Mapping) else None
    if named is not None:
        return f"namespace {named}"
    return "namespaces of a selector" if "namespaceSelector" in value else "pods of its namespace"


def ports(rule: Mapping[str, Any]) -> str:
    """Return the ports of a rule in words."""
    found = [
        f"{port.get('port')}{'-' + str(port['endPort']) if 'endPort' in port else ''}"
        for port in each(rule.get("ports"))
    ]
    return f", port {' and '.join(found)}" if found else ""


def gates(where: str, old: Any, new: Any) -> Iterator[str]:
    """Yield a warning for each admission policy that refuses fewer requests than before."""
    if new is None:
        yield f"{where} is removed: it no longer denies anything"
        return
    actions = [set(as_list(value_at(value, ("spec", "validationActions")))) for value in (old, new)]
    if "Deny" in actions[0] - actions[1]:
        yield f"{where} no longer denies requests"
    if old is not None and value_at(old, ("spec", "failurePolicy")) == "Fail" != value_at(
        new, ("spec", "failurePolicy")
    ):
        yield f"{where} allows requests that it cannot evaluate"


def rights(where: str, old: Any, new: Any) -> Iterator[str]:
    """Yield who may more than before."""
    before = [repr(item) for field in ("rules", "subjects") for item in each((old or {}).get(field))]
    if new is None:
        return
    for rule in each(new.get("rules")) if old is not None else ():  # of a new role, who gets it says enough
        if repr(rule) not in before:
            verbs, kinds = (", ".join(map(str, as_list(rule.get(field)))) for field in ("verbs", "resources"))
            yield f"{where} allows {verbs} of {kinds or ', '.join(map(str, as_list(rule.get('nonResourceURLs'))))}"
    for subject in each(new.get("subjects")):
        if repr(subject) not in before:
            yield f"{where} grants its permissions to {str(subject.get('kind')).lower()} {subject.get('name')}"


def account(where: str, old: Any, new: Any) -> Iterator[str]:
    """Yield the annotations that a service account gets."""
    before, after = (value_at(value, ("metadata", "annotations")) or {} for value in (old or {}, new))
    for key, value in after.items():
        if before.get(key) != value and not key.startswith("argocd.argoproj.io/"):
            yield f"{where}: {key} is {flat(value)}"


def stop_policy(value: Any) -> Any:
    """Return the stop policy of a queue."""
    return value_at(value, ("spec", "stopPolicy")) if value is not None else None


def as_list(value: Any) -> list[Any]:
    """Return a list, empty where a value is none."""
    return value if isinstance(value, list) else []
