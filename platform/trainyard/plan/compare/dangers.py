"""What a reviewer should not miss in a change of an object: what is loosened, drained, opened or ended by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.documents.differences import flat
from trainyard.findings import ObjectRef
from trainyard.labels import NAMESPACE, POD_SECURITY
from trainyard.manifests import value_at
from trainyard.plan.compare.security import each, loosened
from trainyard.specs.models.team import SecurityLevel

LEVELS: tuple[SecurityLevel, ...] = ("restricted", "baseline", "privileged")
"""Pod Security levels, strictest first."""

ENFORCE = ("metadata", "labels", f"{POD_SECURITY}/enforce")
GATES = frozenset({"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration"})
"""Kinds whose going lets more through."""

RIGHTS = frozenset({"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"})


def dangers(ref: ObjectRef, old: Any, new: Any) -> Iterator[str]:
    """Yield a sentence for each; `old` and `new` are None where the object is not there."""
    where = f"{ref.kind} {ref.name}" + (f" of {ref.namespace}" if ref.namespace else "")
    if ref.kind == "Namespace":
        yield from levels(ref.name, old, new)
    elif ref.kind == "NetworkPolicy":
        yield from opened(where, old, new)
    elif ref.kind in GATES:
        yield from gates(where, old, new)
    elif ref.kind in RIGHTS:
        yield from rights(where, old, new)
    elif ref.kind == "ServiceAccount" and new is not None:
        yield from account(where, old, new)
    elif ref.kind in {"ClusterQueue", "LocalQueue"} and stopped(new) == "HoldAndDrain" != stopped(old):
        yield f"{where} is drained: what runs in it is ended"
    before = loosened([old])
    yield from (f"{where}: {what}" for what in loosened([new]) if what not in before)


def levels(name: str, old: Any, new: Any) -> Iterator[str]:
    """Yield that a namespace takes pods that it refused before."""
    before, after = (value_at(value, ENFORCE) if value is not None else None for value in (old, new))
    if new is None or before == after:
        return
    if old is None:
        if after != LEVELS[0]:
            yield f"namespace {name} is new, with pod security {after or 'off'}"
        return
    known = [LEVELS.index(each) if each in LEVELS else len(LEVELS) for each in (before, after)]
    if known[1] > known[0]:
        yield f"pod security of {name} is loosened: {before} -> {after or 'off'}"


def opened(where: str, old: Any, new: Any) -> Iterator[str]:
    """Yield what pods may reach, or be reached by, that they could not before."""
    if new is None:
        yield f"{where} is removed, and what it kept apart is open"
        return
    for way, peers in (("egress", "to"), ("ingress", "from")):
        before = list(map(peer, each(value_at(old, ("spec", way)))))
        for rule in each(value_at(new, ("spec", way))):
            if old is not None and peer(rule) not in before:
                yield f"{where} opens {way}: {', '.join(map(said, each(rule.get(peers)))) or 'everything'}{ports(rule)}"
    gone = set(listed(value_at(old, ("spec", "policyTypes")))) - set(listed(value_at(new, ("spec", "policyTypes"))))
    yield from (f"{where} says nothing of {str(way).lower()} any more, which is open then" for way in sorted(gone))


def peer(rule: Mapping[str, Any]) -> str:
    """Return a rule as one that may be compared."""
    return repr(sorted(rule.items(), key=str))


def said(value: Mapping[str, Any]) -> str:
    """Return a peer of a network policy in words."""
    block = value_at(value, ("ipBlock", "cidr"))
    if block is not None:
        return flat(block)
    labels = value_at(value, ("namespaceSelector", "matchLabels"))
    named = labels.get(NAMESPACE) if isinstance(labels, Mapping) else None
    if named is not None:
        return f"namespace {named}"
    return "namespaces that a selector chooses" if "namespaceSelector" in value else "pods of its namespace"


def ports(rule: Mapping[str, Any]) -> str:
    """Return the ports of a rule in words."""
    found = [
        f"{port.get('port')}{'-' + str(port['endPort']) if 'endPort' in port else ''}"
        for port in each(rule.get("ports"))
    ]
    return f", port {' and '.join(found)}" if found else ""


def gates(where: str, old: Any, new: Any) -> Iterator[str]:
    """Yield that less is refused on the cluster."""
    if new is None:
        yield f"{where} is removed, and refuses nothing any more"
        return
    actions = [set(listed(value_at(value, ("spec", "validationActions")))) for value in (old, new)]
    if "Deny" in actions[0] - actions[1]:
        yield f"{where} does not deny any more"
    if old is not None and value_at(old, ("spec", "failurePolicy")) == "Fail" != value_at(
        new, ("spec", "failurePolicy")
    ):
        yield f"{where} lets pass what it cannot judge"


def rights(where: str, old: Any, new: Any) -> Iterator[str]:
    """Yield who may more than before."""
    before = [repr(item) for field in ("rules", "subjects") for item in each((old or {}).get(field))]
    if new is None:
        return
    for rule in each(new.get("rules")) if old is not None else ():  # of a new role, who gets it says enough
        if repr(rule) not in before:
            verbs, kinds = (", ".join(map(str, listed(rule.get(field)))) for field in ("verbs", "resources"))
            yield f"{where} allows {verbs} of {kinds or ', '.join(map(str, listed(rule.get('nonResourceURLs'))))}"
    for subject in each(new.get("subjects")):
        if repr(subject) not in before:
            yield f"{where} gives rights to {str(subject.get('kind')).lower()} {subject.get('name')}"


def account(where: str, old: Any, new: Any) -> Iterator[str]:
    """Yield what a service account becomes."""
    before, after = (value_at(value, ("metadata", "annotations")) or {} for value in (old or {}, new))
    for key, value in after.items():
        if before.get(key) != value and not key.startswith("argocd.argoproj.io/"):
            yield f"{where}: {key} is {flat(value)}"


def stopped(value: Any) -> Any:
    """Return the stop policy of a queue."""
    return value_at(value, ("spec", "stopPolicy")) if value is not None else None


def listed(value: Any) -> list[Any]:
    """Return a list, empty where a value is none."""
    return value if isinstance(value, list) else []
