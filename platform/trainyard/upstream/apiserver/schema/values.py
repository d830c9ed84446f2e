"""What a structural schema asks of a value beside its type: choices, bounds, patterns, formats, and branches.

Source: k8s.io/kube-openapi pkg/validation/validate (values.go, validator.go, schema_props.go), as Kubernetes 1.35 and
1.36 pin it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

from trainyard.base.findings import did_you_mean
from trainyard.base.limits import CHOICES
from trainyard.upstream.apiserver.patterns import NotRead, Patterns, TooLarge
from trainyard.upstream.apiserver.problems import UNKNOWN, spell_value
from trainyard.upstream.apiserver.schema import formats
from trainyard.upstream.apiserver.schema.decoded import AMOUNT
from trainyard.upstream.apiserver.schema.walk import Check, Fault, Faults, is_number

QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
"""The pattern of quantities in definitions (controller-tools v0.20 pkg/crd/known_types.go): no sentence for people."""
SOURCE = "k8s.io/kube-openapi pkg/validation/validate"
INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
RANGES = {"int32": 2**31, "int64": 2**63}
LENGTHS: dict[str, tuple[str, str]] = {
    "maxLength": ("string", "may not be longer than {limit} characters"),
    "minLength": ("string", "must be at least {limit} characters long"),
    "maxItems": ("list", "must have at most {limit} items"),
    "minItems": ("list", "must have at least {limit} items"),
    "maxProperties": ("object", "must have at most {limit} properties"),
    "minProperties": ("object", "must have at least {limit} properties"),
}
SHOWN = 12
"""Choices that a message lists."""
LONGEST_REMEMBERED, MOST_REMEMBERED = 100, 10_000
TYPES: dict[str, type[Any]] = {"string": str, "list": list, "object": dict}


def invalid(rule: str, value: Any, detail: str) -> list[Fault]:
    """Report a value that breaks a rule, in the server's form."""
    return [Fault(rule, f"invalid value: {spell_value(value)}: {detail}", SOURCE)]


def tests(
    node: Mapping[str, Any], compile_branch: Callable[[Mapping[str, Any]], Check], patterns: Patterns, *, ranged: bool
) -> tuple[Check, ...]:
    """Return the checks of a node's keywords; each leaves alone what is not of its type."""
    found = [*lengths(node), *bounds(node, ranged=ranged)]
    if isinstance(pattern := node.get("pattern"), str):
        found.append(matches(pattern, patterns))
    if isinstance(name := node.get("format"), str) and (is_right := formats.find(name)):
        found.append(has_format(name, is_right))
    if choices := node.get("enum"):
        found.append(one_of_choices(choices))
    return (*found, *branches(node, compile_branch))


def lengths(node: Mapping[str, Any]) -> Iterator[Check]:
    """Yield the checks of a minimum or maximum of characters, items or fields."""
    for keyword, (kind, detail) in LENGTHS.items():
        if isinstance(limit := node.get(keyword), int):
            yield limit_check(kind, limit, detail.format(limit=limit), least=keyword.startswith("min"))


def limit_check(kind: str, limit: int, detail: str, *, least: bool) -> Check:
    """Return the check of one limit."""
    python_type, rule = TYPES[kind], "schema/length" if kind == "string" else "schema/size"

    def check(value: Any) -> Faults:
        if type(value) is not python_type:
            return None
        size = len(value)
        return None if (size >= limit if least else size <= limit) else invalid(rule, value, detail)

    return check


def bounds(node: Mapping[str, Any], *, ranged: bool) -> Iterator[Check]:
    """Yield the checks of a number; an integer is compared with the whole part of a bound, as Go does."""
    compared: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
        "minimum": ("greater than or equal to", lambda value, bound: value >= bound),
        "maximum": ("less than or equal to", lambda value, bound: value <= bound),
        "exclusiveMinimum": ("greater than", lambda value, bound: value > bound),
        "exclusiveMaximum": ("less than", lambda value, bound: value < bound),
    }
    for keyword, (words, holds) in compared.items():
        if keyword in node:
            yield bound_check(node[keyword], words, holds)
    if node.get("multipleOf"):
        yield multiple_of(node["multipleOf"])
    if ranged and node.get("type") == "integer" and (limit := RANGES.get(str(node.get("format")))):
        yield within(limit, str(node["format"]))


def bound_check(bound: float, words: str, holds: Callable[[Any, Any], bool]) -> Check:
    """Return the check of one bound, which for an integer is what fits of it into 64 bits."""
    whole = int(bound) if -(2**63) <= bound < 2**63 else -(2**63)

    def check(value: Any) -> Faults:
        if not is_number(value) or holds(value, whole if type(value) is int else bound):
            return None
        return invalid("schema/range", value, f"must be {words} {bound}")

    return check


def multiple_of(factor: float) -> Check:
    """Return the check of a factor."""

    def check(value: Any) -> Faults:
        if not is_number(value) or float(value / factor).is_integer():
            return None
        return invalid("schema/range", value, f"must be a multiple of {factor}")

    return check


def within(limit: int, name: str) -> Check:
    """Return the check of an integer's width, which servers make from Kubernetes 1.36 on."""

    def check(value: Any) -> Faults:
        if not is_number(value) or -limit <= value < limit:
            return None
        return invalid("schema/range", value, f"must fit into {name}")

    return check


def matches(pattern: str, patterns: Patterns) -> Check:
    """Return the check of a pattern, which may match anywhere in the text; short texts that match are remembered."""
    known: set[str] = set()

    def check(value: Any) -> Faults:
        if type(value) is not str or value in known:
            return None
        try:
            found = patterns.read(pattern).search(value)
        except NotRead:
            found = None
        except TooLarge:
            return [Fault(UNKNOWN, patterns.too_large(pattern), SOURCE)]
        if not found:
            wanted = AMOUNT if pattern == QUANTITY else f"must match {pattern!r}"
            return invalid("schema/pattern", value, wanted)
        if len(value) < LONGEST_REMEMBERED and len(known) < MOST_REMEMBERED:
            known.add(value)
        return None

    return check


def has_format(name: str, is_right: Callable[[str], bool]) -> Check:
    """Return the check of a format."""

    def check(value: Any) -> Faults:
        if type(value) is not str or is_right(value):
            return None
        return invalid("schema/format", value, f"must be of type {name}")

    return check


def one_of_choices(choices: list[Any]) -> Check:
    """Return the check of a closed set; null is never one of it, as the server compares none with it."""
    texts = frozenset(choice for choice in choices if isinstance(choice, str))
    others = frozenset(freeze_value(choice) for choice in choices if not isinstance(choice, str))

    def check(value: Any) -> Faults:
        if value in texts if type(value) is str else freeze_value(value) in others:
            return None
        listed = ", ".join(spell_value(choice) for choice in choices[:SHOWN])
        if len(choices) > SHOWN:
            listed += f" and {len(choices) - SHOWN} more"
        near = did_you_mean(value, texts) if isinstance(value, str) and len(texts) <= CHOICES else ""
        hint = f"; {near}" if near.startswith("did you mean") else ""
        message = f"unsupported value: {spell_value(value)}: supported values: {listed}{hint}"
        return [Fault("schema/enum", message, SOURCE)]

    return check


def freeze_value(value: Any) -> Hashable:
    """Return a hashable twin, equal for equal values alone and quick to find: true is not 1, but 1.0 is."""
    if isinstance(value, dict):
        return dict, frozenset((key, freeze_value(entry)) for key, entry in value.items())
    if isinstance(value, list):
        return list, tuple(map(freeze_value, value))
    return value if type(value) is str else (type(value) is bool, value)


def branches(node: Mapping[str, Any], compile_branch: Callable[[Mapping[str, Any]], Check]) -> Iterator[Check]:
    """Yield the checks of allOf, anyOf, oneOf and not."""
    for branch in node.get("allOf") or ():
        yield compile_branch(branch)
    any_of = node.get("anyOf") or []
    if any_of and not (node.get("x-kubernetes-int-or-string") and any_of == INT_OR_STRING):
        yield at_least_one([compile_branch(branch) for branch in any_of])
    if one_of := node.get("oneOf"):
        yield exactly_one([compile_branch(branch) for branch in one_of])
    if isinstance(negated := node.get("not"), Mapping):
        yield none_of(compile_branch(negated))


def at_least_one(checks: list[Check]) -> Check:
    """Return the check of anyOf; what the branch with the fewest faults asks is reported with it."""

    def check(value: Any) -> Faults:
        least: Faults = None
        for branch in checks:
            found = branch(value)
            if not found:
                return None
            least = found if least is None or len(found) < len(least) else least
        return [
            Fault("schema/any-of", "must have one of the forms that its schema lists (anyOf)", SOURCE),
            *(least or ()),
        ]

    return check


def exactly_one(checks: list[Check]) -> Check:
    """Return the check of oneOf."""

    def check(value: Any) -> Faults:
        least: Faults = None
        valid = 0
        for branch in checks:
            if found := branch(value):
                least = found if least is None or len(found) < len(least) else least
            else:
                valid += 1
        if valid == 1:
            return None
        message = f"must have exactly one of the forms that its schema lists (oneOf), but has {valid or 'none'}"
        fault = Fault("schema/one-of", message, SOURCE)
        return [fault] if valid else [fault, *(least or ())]

    return check


def none_of(branch: Check) -> Check:
    """Return the check of not."""

    def check(value: Any) -> Faults:
        return (
            None
            if branch(value)
            else [Fault("schema/not", "must not have the form that its schema excludes (not)", SOURCE)]
        )

    return check
