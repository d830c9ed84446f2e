"""Which requests a webhook or an admission policy is for: rules, selectors, match conditions.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/admissionregistration/validation/validation.go validateRuleWithOperations,
validateMatchResources, validateMatchConditions. Whether expressions compile is another layer's matter.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.upstream.apiserver.core.selectors import check_label_selector
from trainyard.upstream.apiserver.core.shapes import Object, count, each, fill_absent, text, texts
from trainyard.upstream.apiserver.meta import names
from trainyard.upstream.apiserver.problems import Path, Problem, Rule

SOURCE = "k8s.io/kubernetes v1.35.4 pkg/apis/admissionregistration/validation/validation.go"
RULE = Rule(
    "core/admission-rule",
    f"{SOURCE} validateRuleWithOperations",
    title="Rules of webhooks and admission policies name valid operations, API groups, versions and resources.",
    fix="correct the rule's lists; '*' must be the only entry of its list",
)
MATCH = Rule(
    "core/admission-match",
    f"{SOURCE} validateMatchResources",
    title="The matchResources of an admission policy have valid selectors, rules and a matchPolicy.",
    fix="set matchPolicy to Exact or Equivalent, and correct the selectors and rules",
)
CONDITION = Rule(
    "core/match-condition",
    f"{SOURCE} validateMatchConditions",
    title="Match conditions have unique names and CEL expressions that return a boolean.",
    fix="give each condition its own name, and correct its expression",
)

OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
MUTATING_OPERATIONS = ("*", "CONNECT", "CREATE", "UPDATE")
SCOPES = ("*", "Cluster", "Namespaced")
MATCH_POLICIES = ("Equivalent", "Exact")
FAILURE_POLICIES = ("Fail", "Ignore")
_MOST_CONDITIONS = 64


def default_matching(owner: Object) -> None:
    """Default which objects a webhook or a policy is for."""
    fill_absent(owner, "matchPolicy", "Equivalent")
    fill_absent(owner, "namespaceSelector", {})
    fill_absent(owner, "objectSelector", {})


def check_choice(owner: Object, field: str, choices: tuple[str, ...], path: Path, rule: Rule) -> Iterator[Problem]:
    """Yield an optional field whose value is not one of a closed set."""
    value = owner.get(field)
    if value is not None and value not in choices:
        yield rule.unsupported((*path, field), value, choices)


def check_rule(entry: Object, path: Path) -> Iterator[Problem]:
    """Yield the problems with one rule: operations, groups, versions, resources and scope."""
    for field in ("operations", "apiGroups", "apiVersions"):
        values = [value for _, value in texts(entry, field)]
        if not values and not entry.get(field):
            yield RULE.required((*path, field))
        if len(values) > 1 and "*" in values:
            yield RULE.invalid((*path, field), values, "if '*' is present, nothing else may be")
    for index, operation in texts(entry, "operations"):
        if operation not in OPERATIONS:
            yield RULE.unsupported((*path, "operations", index), operation, OPERATIONS)
    for index, version in texts(entry, "apiVersions"):
        if not version:
            yield RULE.required((*path, "apiVersions", index))
    yield from _check_resources(entry, (*path, "resources"))
    yield from check_choice(entry, "scope", SCOPES, path, RULE)


def _check_resources(entry: Object, path: Path) -> Iterator[Problem]:
    resources = [resource for _, resource in texts(entry, "resources")]
    if not resources and not entry.get("resources"):
        yield RULE.required(path)
    whole: set[str] = set()
    everywhere: set[str] = set()
    plain = False
    for index, resource in enumerate(resources):
        if not resource:
            yield RULE.required((*path, index))
            continue
        name, slash, part = resource.partition("/")
        if not slash:
            # Only the last resource without a part counts upstream.
            plain = resource != "*"
            continue
        if name in whole or part in everywhere:
            yield RULE.invalid((*path, index), resource, "is covered by a wildcard before it")
        whole |= {name} if part == "*" else set()
        everywhere |= {part} if name == "*" else set()
    if len(resources) > 1 and "*/*" in resources:
        yield RULE.invalid(path, resources, "if '*/*' is present, nothing else may be")
    if "*" in resources and plain:
        yield RULE.invalid(path, resources, "if '*' is present, no resource without a subresource may be")


def check_match(owner: Object, path: Path, *, mutating: bool = False) -> Iterator[Problem]:
    """Yield the problems with a policy's `matchConstraints` or a binding's `matchResources`."""
    yield from check_choice(owner, "matchPolicy", MATCH_POLICIES, path, MATCH)
    for field in ("namespaceSelector", "objectSelector"):
        yield from check_label_selector(owner.get(field), (*path, field))
    for field in ("resourceRules", "excludeResourceRules"):
        for index, rule in each(owner, field):
            at = (*path, field, index)
            yield from check_rule(rule, at)
            yield from _check_names(rule, (*at, "resourceNames"))
            if mutating and field == "resourceRules":
                for place, operation in texts(rule, "operations"):
                    if operation not in MUTATING_OPERATIONS:
                        yield MATCH.unsupported((*at, "operations", place), operation, MUTATING_OPERATIONS)


def _check_names(rule: Object, path: Path) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, name in texts(rule, "resourceNames"):
        if detail := names.path_segment(name):
            yield MATCH.invalid((*path, index), name, detail)
        if name in seen:
            yield MATCH.duplicate((*path, index), name)
        seen.add(name)


def check_conditions(owner: Object, path: Path) -> Iterator[Problem]:
    """Yield match conditions without name or expression, and names that are wrong or occur twice."""
    path = (*path, "matchConditions")
    if (total := count(owner, "matchConditions")) > _MOST_CONDITIONS:
        yield CONDITION.too_many(path, total, _MOST_CONDITIONS)
    seen: set[str] = set()
    for index, condition in each(owner, "matchConditions"):
        at = (*path, index)
        name = condition.get("name")
        if is_blank(condition.get("expression")):
            yield CONDITION.required((*at, "expression"))
        if not name:
            yield CONDITION.required((*at, "name"))
        elif detail := names.label_key(name):
            yield CONDITION.invalid((*at, "name"), name, detail)
        if name and text(condition, "name") in seen:
            yield CONDITION.duplicate((*at, "name"), name)
        seen.add(text(condition, "name"))


def is_blank(value: object) -> bool:
    """Say whether a text is missing or has nothing but white space."""
    return value is None or (isinstance(value, str) and not value.strip())
