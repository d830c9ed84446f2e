"""API priority and fairness: FlowSchemas and PriorityLevelConfigurations.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/flowcontrol/validation/validation.go.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from trainyard.upstream.apiserver.core.shapes import Object, child, count, each, flag, inner, number, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

_FLOW = "k8s.io/kubernetes v1.35.4 pkg/apis/flowcontrol/validation/validation.go"
SCHEMA = Rule(
    "core/flow-schema",
    f"{_FLOW} ValidateFlowSchemaSpec",
    title="A FlowSchema names a priority level and has valid rules.",
    fix="set priorityLevelConfiguration.name, and correct the rule in the message",
)
LEVEL = Rule(
    "core/priority-level",
    f"{_FLOW} ValidatePriorityLevelConfigurationSpec",
    title="A PriorityLevelConfiguration has the settings of its type.",
    fix="set limited for type Limited, or exempt for type Exempt",
)

VERBS = frozenset({"get", "list", "create", "update", "delete", "deletecollection", "patch", "watch", "proxy"})
SUBJECTS = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}
_HIGHEST_PRECEDENCE = 10_000
_MIDDLE_PRECEDENCE = 1000
"""What 0 and none stand for."""
_MOST_QUEUES = 10_000_000
_HASH_BITS = 60


def check_schema(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001  # one signature for all kinds
    """Yield the problems with a FlowSchema."""
    spec, path = inner(value, "spec"), ("spec",)
    precedence = number(spec, "matchingPrecedence") or _MIDDLE_PRECEDENCE
    if not 0 < precedence <= _HIGHEST_PRECEDENCE:
        yield SCHEMA.invalid((*path, "matchingPrecedence"), precedence, f"must be 1 to {_HIGHEST_PRECEDENCE}")
    if precedence == 1 and text(inner(value, "metadata"), "name") != "exempt":
        yield SCHEMA.invalid((*path, "matchingPrecedence"), 1, "only the schema named exempt may have precedence 1")
    if (method := child(spec, "distinguisherMethod")) is not None and method.get("type") not in (
        "ByNamespace",
        "ByUser",
    ):
        at = (*path, "distinguisherMethod", "type")
        yield SCHEMA.unsupported(at, method.get("type") or "", ("ByNamespace", "ByUser"))
    level = inner(spec, "priorityLevelConfiguration").get("name")
    if not level:
        yield SCHEMA.required((*path, "priorityLevelConfiguration", "name"), "must reference a priority level")
    elif detail := names.dns_subdomain(level):
        yield SCHEMA.invalid((*path, "priorityLevelConfiguration", "name"), level, detail)
    for index, rule in each(spec, "rules"):
        yield from _check_rule(rule, (*path, "rules", index))


def _check_rule(rule: Object, path: Path) -> Iterator[Problem]:
    if not count(rule, "subjects"):
        yield SCHEMA.required((*path, "subjects"), "must contain at least one value")
    for index, subject in each(rule, "subjects"):
        yield from _check_subject(subject, (*path, "subjects", index))
    if not count(rule, "resourceRules") and not count(rule, "nonResourceRules"):
        yield SCHEMA.required(path, "at least one of resourceRules and nonResourceRules is needed")
    for index, entry in each(rule, "resourceRules"):
        yield from _check_resources(entry, (*path, "resourceRules", index))
    for index, entry in each(rule, "nonResourceRules"):
        at = (*path, "nonResourceRules", index)
        yield from _check_verbs(entry, at)
        yield from _check_wildcard(entry, "nonResourceURLs", at)
        for place, url in texts(entry, "nonResourceURLs"):
            if url != "*" and (detail := _url(url)):
                yield SCHEMA.invalid((*at, "nonResourceURLs", place), url, detail)


def _check_resources(entry: Object, path: Path) -> Iterator[Problem]:
    yield from _check_verbs(entry, path)
    for field in ("apiGroups", "resources"):
        yield from _check_wildcard(entry, field, path)
    if not count(entry, "namespaces"):
        if not flag(entry, "clusterScope"):
            yield SCHEMA.required((*path, "namespaces"), "needed unless the rule is cluster scoped")
        return
    yield from _check_wildcard(entry, "namespaces", path)
    for place, name in texts(entry, "namespaces"):
        if name != "*" and (detail := names.dns_label(name)):
            yield SCHEMA.invalid((*path, "namespaces", place), name, detail)


def _check_wildcard(entry: Object, field: str, path: Path) -> Iterator[Problem]:
    values = [value for _, value in texts(entry, field)]
    if not values and not entry.get(field):
        yield SCHEMA.required((*path, field), "must contain at least one value")
    elif len(values) > 1 and "*" in values:
        yield SCHEMA.invalid((*path, field), values, "if '*' is present, nothing else may be")


def _check_verbs(entry: Object, path: Path) -> Iterator[Problem]:
    yield from _check_wildcard(entry, "verbs", path)
    verbs = {verb for _, verb in texts(entry, "verbs")}
    if "*" not in verbs and not verbs <= VERBS:
        yield SCHEMA.unsupported((*path, "verbs"), sorted(verbs - VERBS), tuple(sorted(VERBS)))


def _url(url: str) -> str | None:
    if url == "/":
        return None
    if not url.startswith("/") or " " in url or "//" in url:
        return "must start with a slash, without white space or double slashes"
    wild = url.count("*")
    return "a wildcard can only be at the end, after a slash" if wild > 1 or (wild and not url.endswith("/*")) else None


def _check_subject(subject: Object, path: Path) -> Iterator[Problem]:
    kind = text(subject, "kind")
    if kind not in SUBJECTS:
        if not subject.get("kind") or kind:
            yield SCHEMA.unsupported((*path, "kind"), kind, tuple(SUBJECTS))
        return
    for name, field in SUBJECTS.items():
        if name != kind and child(subject, field) is not None:
            yield SCHEMA.forbidden((*path, field), f"is for subjects of kind {name}")
    named = child(subject, SUBJECTS[kind])
    at = (*path, SUBJECTS[kind])
    if named is None:
        yield SCHEMA.required(at, f"needed for subjects of kind {kind}")
        return
    name_ = named.get("name")
    if not name_:
        yield SCHEMA.required((*at, "name"))
    if kind != "ServiceAccount":
        return
    if name_ and name_ != "*" and (detail := names.dns_subdomain(name_)):
        yield SCHEMA.invalid((*at, "name"), name_, detail)
    namespace = named.get("namespace")
    if not namespace:
        yield SCHEMA.required((*at, "namespace"))
    elif detail := names.dns_label(namespace):
        yield SCHEMA.invalid((*at, "namespace"), namespace, detail)


def check_level(value: Object, *, kubernetes: str, old: Object | None = None) -> Iterator[Problem]:  # noqa: ARG001
    """Yield the problems with a PriorityLevelConfiguration."""
    spec, name = inner(value, "spec"), text(inner(value, "metadata"), "name")
    kind = spec.get("type") or ""
    if (name == "exempt") != (kind == "Exempt"):
        yield LEVEL.invalid(("spec", "type"), kind, "must be Exempt if and only if the name is exempt")
    if kind == "Exempt":
        if child(spec, "limited") is not None:
            yield LEVEL.forbidden(("spec", "limited"), "only for type Limited")
        yield from _check_shares(inner(spec, "exempt"), ("spec", "exempt"))
    elif kind == "Limited":
        if child(spec, "exempt") is not None:
            yield LEVEL.forbidden(("spec", "exempt"), "only for type Exempt")
        if (limited := child(spec, "limited")) is None:
            yield LEVEL.required(("spec", "limited"), "needed for type Limited")
        else:
            yield from _check_shares(limited, ("spec", "limited"))
            yield from _check_response(inner(limited, "limitResponse"), ("spec", "limited", "limitResponse"))
    else:
        yield LEVEL.unsupported(("spec", "type"), kind, ("Exempt", "Limited"))


def _check_shares(owner: Object, path: Path) -> Iterator[Problem]:
    for field in ("nominalConcurrencyShares", "borrowingLimitPercent"):
        shares = number(owner, field)
        if shares is not None and shares < 0:
            yield LEVEL.invalid((*path, field), shares, "must be a non-negative integer")
    percent = number(owner, "lendablePercent")
    if percent is not None and not 0 <= percent <= 100:
        yield LEVEL.invalid((*path, "lendablePercent"), percent, "must be between 0 and 100, inclusive")


def _check_response(response: Object, path: Path) -> Iterator[Problem]:
    kind, queuing = response.get("type") or "", child(response, "queuing")
    if kind == "Reject":
        if queuing is not None:
            yield LEVEL.forbidden((*path, "queuing"), "only for type Queue")
    elif kind != "Queue":
        yield LEVEL.unsupported((*path, "type"), kind, ("Queue", "Reject"))
    elif queuing is None:
        yield LEVEL.required((*path, "queuing"), "needed for type Queue")
    else:
        yield from _check_queuing(queuing, (*path, "queuing"))


def _check_queuing(queuing: Object, path: Path) -> Iterator[Problem]:
    length, queues, hand = (
        number(queuing, field) or default
        for field, default in (("queueLengthLimit", 50), ("queues", 64), ("handSize", 8))
    )
    if length <= 0:
        yield LEVEL.invalid((*path, "queueLengthLimit"), length, "must be positive")
    if not 0 < queues <= _MOST_QUEUES:
        yield LEVEL.invalid((*path, "queues"), queues, f"must be 1 to {_MOST_QUEUES}")
    if not 0 < hand <= queues:
        yield LEVEL.invalid((*path, "handSize"), hand, "must be positive and at most queues")
    elif math.ceil(sum(math.log2(queues - dealt) for dealt in range(min(hand, _HASH_BITS + 1)))) > _HASH_BITS:
        yield LEVEL.invalid((*path, "handSize"), hand, f"needs more than {_HASH_BITS} bits with so many queues")
