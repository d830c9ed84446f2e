"""What the rules of a definition may cost, held against the estimates of the server's own library."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apiserver import core_objects as objects
from apiserver.core_objects import altered, judged, spelled
from trainyard.upstream.apiserver.catalog import crd
from trainyard.upstream.apiserver.cel import Environment, optional_of
from trainyard.upstream.apiserver.cel.cost import shape
from trainyard.upstream.apiserver.cel.declare import Declarations
from trainyard.upstream.apiserver.core.apiextensions.bounds import Around
from trainyard.upstream.apiserver.core.apiextensions.nodes import RULES, properties
from trainyard.upstream.apiserver.core.shapes import Object

RECORDED = Path(__file__).parents[1] / "data" / "rule_costs.jsonl.gz"
"""Schemas drawn at random; by rule the estimate of k8s.io/apiextensions-apiserver v0.35.4 for one evaluation, how often
lists and maps with bounds repeat it (None without bounds), and the estimate for its message."""

ROOT = "spec.versions.0.schema.openAPIV3Schema"
NAMES: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
TWICE = "self.all(x, self.exists(y, x == y))"


def rules(schema: Object, path: str, around: Around) -> Iterator[tuple[str, Object, Object, Around]]:
    """Yield every rule of a schema with its place, the node that it is of, and what is around that."""
    for index, rule in enumerate(schema.get(RULES) or ()):
        yield f"{path}.{index}", rule, schema, around
    for name, below in properties(schema):
        yield from rules(below, f"{path}.properties[{name}]", around.into(schema, "properties", name))
    for keyword in ("items", "additionalProperties"):
        if keyword in schema:
            yield from rules(schema[keyword], f"{path}.{keyword}", around.into(schema, keyword))


def test_costs_are_those_of_the_server() -> None:
    """Each of 800 rules, and each expression of a message, costs to the unit what the server's library says."""
    count = 0
    for line in gzip.decompress(RECORDED.read_bytes()).decode().splitlines():
        case = json.loads(line)
        for place, rule, node, around in rules(case["schema"], "", Around()):
            if place not in case["rules"]:
                continue
            closed = crd.node(node)
            given, sized = Declarations().type(closed, root=not around.path), shape(node, root=not around.path)
            assert given is not None
            assert sized is not None
            old = optional_of(given) if rule.get("optionalOldSelf") else given
            environment = Environment({"self": given, "oldSelf": old}, 34)
            expressions = (rule["rule"], rule.get("messageExpression") or "true")
            value, message = (environment.estimate(expression)(sized) for expression in expressions)
            bounded = all(container.bound is not None for container in around.containers)
            found = [value, around.occurrences(sized) if bounded else None, message]
            assert found == case["rules"][place], rule
            count += 1
    assert count > 800


def with_rule(node: Object, *, rule: str, **more: Any) -> Object:
    """Return a definition whose field `names` is a node with a rule."""
    field = {**node, RULES: [{"rule": rule, "message": "no", **more}]}
    return altered(objects.DEFINITION, {f"{ROOT}.properties.spec.properties.names": field})


CASES: dict[str, tuple[Object, str, str | None]] = {
    "a list without a bound, each with each": (NAMES, TWICE, "maxItems"),
    "the same list with bounds": ({**NAMES, "maxItems": 16, "items": {"type": "string", "maxLength": 64}}, TWICE, None),
    "bounds that are too large": ({**NAMES, "maxItems": 100_000}, TWICE, "maxItems"),
    "a text without a bound, matched": ({"type": "string"}, "self.matches('^[a-z]+$')", None),
    "texts without a bound in a list without one": (NAMES, "self.all(x, x.matches('^[a-z]+$'))", "maxItems"),
    "a text that is compared with each of a long list": (
        {"type": "string"},
        f"self in [{', '.join(repr('x' * 9) for _ in range(30))}]",
        None,
    ),
    "what an optional field may be": (
        {"type": "object", "properties": {"a": {"type": "string"}}},
        "self.?a.orValue('').matches('a+')",
        "simplify",
    ),
    "a map without a bound": (
        {"type": "object", "additionalProperties": {"type": "string"}},
        "self.all(k, self.all(l, k == l || self[k] != self[l]))",
        "maxProperties",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_rule_that_may_cost_too_much_is_told_with_the_bound(case: str) -> None:
    """A rule that a server refuses for its cost is named, with the bound to set; setting it is enough."""
    node, rule, told = CASES[case]
    found = judged(with_rule(node, rule=rule))
    assert bool(found) == (told is not None), found
    for problem in found:
        assert problem.rule == "core/crd-cost"
        assert spelled(problem.path).endswith("names.x-kubernetes-validations[0].rule")
        assert told is not None
        assert told in problem.message


def test_the_bound_that_is_named_is_enough() -> None:
    """What a finding says to set makes the rule pass."""
    (problem,) = judged(with_rule(NAMES, rule=TWICE))
    assert problem.message.endswith("set maxItems: 256 on spec.names, maxLength: 256 on spec.names[]")
    bounded = {**NAMES, "maxItems": 256, "items": {"type": "string", "maxLength": 256}}
    assert not judged(with_rule(bounded, rule=TWICE))


def test_the_message_may_cost_no_more_than_the_rule() -> None:
    """The expression of a message has the limit of a rule, and its own place."""
    (problem,) = judged(with_rule(NAMES, rule="true", messageExpression=f"string({TWICE})"))
    assert spelled(problem.path).endswith(".messageExpression")


def test_an_update_that_leaves_a_schema_alone_may_keep_its_rules() -> None:
    """A server forgives the cost of single rules that are stored already, and not those of a schema that changes."""
    node = {**NAMES, "maxItems": 600, "items": {"type": "string", "maxLength": 200}}
    dear = with_rule(node, rule=TWICE)
    assert judged(dear)
    assert not judged(altered(dear, {"metadata.labels": {"a": "b"}}), old=dear)
    assert judged(altered(dear, {f"{ROOT}.properties.spec.properties.more": {"type": "string"}}), old=dear)


def test_all_rules_together_have_a_limit() -> None:
    """Rules of which none is too dear may be so together; the dearest is named."""
    node = {**NAMES, "maxItems": 400, "items": {"type": "string", "maxLength": 100}}
    dear = with_rule(node, rule=TWICE)
    at = f"{ROOT}.properties.spec.properties"
    fields = {f"{at}.names{number}": {**node, RULES: [{"rule": TWICE}]} for number in range(14)}
    assert not judged(dear)
    (problem,) = judged(altered(dear, fields))
    assert "all rules of this version may cost" in problem.message
