"""Rules of CRDs: each case was judged the same by the API server's own validator, and every rule we carry compiles."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from conftest import ROOT
from trainyard.base.documents import format_path
from trainyard.upstream.apiserver import Kind, Rulebook, catalog
from trainyard.upstream.apiserver.catalog.served import from_crd
from trainyard.upstream.apiserver.validations import walk
from trainyard.upstream.apiserver.validations.tree import Node, restore_tree, tree

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}


def rule(text: str, **more: Any) -> dict[str, Any]:
    """One entry of x-kubernetes-validations."""
    return {"rule": text, **more}


def ruled(schema: dict[str, Any], *found: dict[str, Any]) -> dict[str, Any]:
    """A schema with rules."""
    return {**schema, "x-kubernetes-validations": list(found)}


def record(*found: dict[str, Any], **properties: Any) -> dict[str, Any]:
    """An object schema with rules of its own."""
    schema = {"type": "object", "properties": properties}
    return ruled(schema, *found) if found else schema


def keyed(items: dict[str, Any], *keys: str) -> dict[str, Any]:
    """A list that is a map."""
    return {"type": "array", "items": items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}


def values(schema: dict[str, Any]) -> dict[str, Any]:
    """A map of text to values of a schema."""
    return {"type": "object", "additionalProperties": schema}


GROWS, STAYS = rule("self >= oldSelf"), rule("self == oldSelf")
SHORT = rule("self.size() < 3")
SET = {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}
LIST = {"type": "array", "items": TEXT}
PAIR = {"k": TEXT, "v": NUMBER}
EITHER = {"x-kubernetes-int-or-string": True}
PRESERVED = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}

CREATED = {
    "a rule that holds": (record(rule("self.a > 0"), a=NUMBER), {"a": 1}, []),
    "a rule without a message": (
        record(rule("self.a > 5"), a=NUMBER),
        {"a": 1},
        ["spec: invalid value: failed rule: self.a > 5"],
    ),
    "a message is trimmed": (
        record(rule("self.a > 5", message=" more "), a=NUMBER),
        {"a": 1},
        ["spec: invalid value: more"],
    ),
    "a scalar is shown": (
        record(a=ruled(NUMBER, rule("self > 5"))),
        {"a": 1},
        ["spec.a: invalid value: 1: failed rule: self > 5"],
    ),
    "all rules report": (
        record(rule("self.a > 1", message="one"), rule("self.a > 2", message="two"), a=NUMBER),
        {"a": 0},
        ["spec: invalid value: one", "spec: invalid value: two"],
    ),
    "no rule where the field is absent": (record(a=ruled(NUMBER, rule("self > 5"))), {}, []),
    "a transition rule waits for an old value": (record(a=ruled(NUMBER, STAYS)), {"a": 1}, []),
    "an optional old value is none": (
        record(a=ruled(NUMBER, rule("self >= oldSelf.orValue(5)", optionalOldSelf=True))),
        {"a": 1},
        ["spec.a: invalid value: 1: failed rule: self >= oldSelf.orValue(5)"],
    ),
    "a required field": (
        record(rule("has(self.a)", message="say a", reason="FieldValueRequired", fieldPath=".a"), a=TEXT),
        {},
        ["spec.a: required value: say a"],
    ),
    "a forbidden field": (
        record(a=ruled(TEXT, rule("self != 'x'", message="not x", reason="FieldValueForbidden"))),
        {"a": "x"},
        ["spec.a: forbidden: not x"],
    ),
    "a duplicate": (
        record(a=ruled(TEXT, rule("self != 'x'", reason="FieldValueDuplicate"))),
        {"a": "x"},
        ['spec.a: duplicate value: "x"'],
    ),
    "a path to a key": (
        record(rule("!('x.y' in self.m)", message="no", fieldPath=".m['x.y']"), m=values(TEXT)),
        {"m": {"x.y": "z"}},
        ['spec.m["x.y"]: invalid value: no'],
    ),
    "a message from an expression": (
        record(rule("self.a > 5", messageExpression="'a is ' + string(self.a)"), a=NUMBER),
        {"a": 1},
        ["spec: invalid value: a is 1"],
    ),
    "an expression that fails gives way to the message": (
        record(rule("self.a > 5", messageExpression="'b is ' + string(self.b)", message="more"), a=NUMBER, b=NUMBER),
        {"a": 1},
        ["spec: invalid value: more"],
    ),
    "a message of two lines gives way": (
        record(rule("self.a > 5", messageExpression="'a\\nb'", message="more"), a=NUMBER),
        {"a": 1},
        ["spec: invalid value: more"],
    ),
    "an error names the rule": (
        record(rule("self.b > 5", message="more"), a=NUMBER, b=NUMBER),
        {"a": 1},
        ["spec: invalid value: no such key: b evaluating rule: more"],
    ),
    "an int-or-string is either": (
        record(rule("type(self.p) == int ? self.p > 3 : self.p.endsWith('%')"), p=EITHER),
        {"p": "3%"},
        [],
    ),
    "an int-or-string is not compared with the other": (
        record(rule("self.p > 3"), p=EITHER),
        {"p": "3"},
        ["spec: invalid value: no such overload evaluating rule: self.p > 3"],
    ),
    "quantities compare by amount": (
        record(rule("quantity(string(self.q)).compareTo(quantity('1Gi')) >= 0", message="at least 1Gi"), q=EITHER),
        {"q": "1024Mi"},
        [],
    ),
    "a null field is absent": (
        record(rule("has(self.a)", message="say a"), a={**TEXT, "nullable": True}),
        {"a": None},
        ["spec: invalid value: say a"],
    ),
    "a null value has no rules": (record(a=ruled({**TEXT, "nullable": True}, rule("self == 'x'"))), {"a": None}, []),
    "a rule of allOf": (
        record(a={**ruled(NUMBER, rule("self < 9")), "allOf": [{"x-kubernetes-validations": [rule("self > 3")]}]}),
        {"a": 1},
        ["spec.a: invalid value: 1: failed rule: self > 3"],
    ),
    "a rule of a property within allOf": (
        {
            **record(a=NUMBER, b=ruled(NUMBER, rule("true"))),
            "allOf": [{"properties": {"a": {"x-kubernetes-validations": [rule("self > 3")]}}}],
        },
        {"a": 1},
        ["spec.a: invalid value: 1: failed rule: self > 3"],
    ),
    "an embedded object": (
        record(
            t=ruled(
                {**PRESERVED, "x-kubernetes-embedded-resource": True},
                rule("self.metadata.name == 'a' && self.kind == 'Pod'"),
            )
        ),
        {"t": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}}},
        ["spec.t: invalid value: failed rule: self.metadata.name == 'a' && self.kind == 'Pod'"],
    ),
    "a name that no expression can say": (
        record(**{"a b": ruled(NUMBER, rule("self > 3"))}),
        {"a b": 1},
        ['spec["a b"]: invalid value: 1: failed rule: self > 3'],
    ),
    "a day": (
        record(rule("self.d > timestamp('2026-01-01T00:00:00Z')", message="later"), d={**TEXT, "format": "date"}),
        {"d": "2025-12-31"},
        ["spec: invalid value: later"],
    ),
    "a duration in words": (
        record(rule("self.d <= duration('1h')", message="shorter"), d={**TEXT, "format": "duration"}),
        {"d": "2 hours"},
        ["spec: invalid value: shorter"],
    ),
    "two variables": (
        record(rule("self.m.all(k, v, k != 'a' || v > 1)", message="more"), m=values(NUMBER)),
        {"m": {"a": 1}},
        ["spec: invalid value: more"],
    ),
    "a set joins without repeating": (record(rule("(self.l + ['a']).size() == 2"), l=SET), {"l": ["a", "b"]}, []),
    "a number is a double": (record(rule("self.n == {'a': 1.0}"), n=values({"type": "number"})), {"n": {"a": 1}}, []),
    "a field that the schema does not have": (
        record(rule("self.b == 1"), a=NUMBER),
        {"a": 1},
        ["spec: invalid value: \"self.b == 1\": rule compile error: undefined field 'b'; there are: a"],
    ),
    "a rule that is no test": (
        record(rule("self.a"), a=NUMBER),
        {"a": 1},
        ['spec: invalid value: "self.a": rule compile error: must evaluate to bool, not int'],
    ),
    "a rule too deep to read": (
        record(rule("(" * 50 + "true" + ")" * 50), a=NUMBER),
        {"a": 1},
        ["spec: the CEL rule cannot be evaluated: it is nested or chained more than 32 levels deep"],
    ),
}

UPDATED = {
    "a field that changes": (
        record(a=ruled(NUMBER, STAYS)),
        {"a": 1},
        {"a": 2},
        ["spec.a: invalid value: 1: failed rule: self == oldSelf"],
    ),
    "a field that is new": (record(a=ruled(NUMBER, STAYS)), {"a": 1}, {}, []),
    "a field that was null": (record(a=ruled({**TEXT, "nullable": True}, STAYS)), {"a": "x"}, {"a": None}, []),
    "an optional old value is there": (
        record(
            rule("oldSelf.hasValue() && oldSelf.value().a < self.a", message="grow", optionalOldSelf=True), a=NUMBER
        ),
        {"a": 1},
        {"a": 2},
        ["spec: invalid value: grow"],
    ),
    "elements of a map list are those of the same key": (
        record(l=keyed(record(k=TEXT, v=ruled(NUMBER, GROWS)), "k")),
        {"l": [{"k": "b", "v": 1}, {"k": "a", "v": 1}]},
        {"l": [{"k": "a", "v": 2}, {"k": "b", "v": 1}]},
        ["spec.l[1].v: invalid value: 1: failed rule: self >= oldSelf"],
    ),
    "of the same two keys": (
        record(l=keyed(record(k=TEXT, n=NUMBER, v=ruled(NUMBER, GROWS)), "k", "n")),
        {"l": [{"k": "b", "n": 1, "v": 1}, {"k": "b", "n": 2, "v": 1}]},
        {"l": [{"k": "b", "n": 2, "v": 3}, {"k": "b", "n": 1, "v": 1}]},
        ["spec.l[1].v: invalid value: 1: failed rule: self >= oldSelf"],
    ),
    "elements of a set have no old value": (
        record(l={**SET, "items": ruled(TEXT, STAYS)}),
        {"l": ["a"]},
        {"l": ["b"]},
        [],
    ),
    "values of a map do": (
        record(m=values(ruled(NUMBER, GROWS))),
        {"m": {"a": 1, "b": 0}},
        {"m": {"a": 2}},
        ["spec.m.a: invalid value: 1: failed rule: self >= oldSelf"],
    ),
    "a set in another order": (record(l=ruled(SET, STAYS)), {"l": ["a", "b"]}, {"l": ["b", "a"]}, []),
    "a set of other members": (
        record(l=ruled(SET, STAYS)),
        {"l": ["a", "b"]},
        {"l": ["b", "c"]},
        ["spec.l: invalid value: failed rule: self == oldSelf"],
    ),
    "a list in another order": (
        record(l=ruled(LIST, STAYS)),
        {"l": ["a", "b"]},
        {"l": ["b", "a"]},
        ["spec.l: invalid value: failed rule: self == oldSelf"],
    ),
    "a map list in another order": (
        record(l=ruled(keyed(record(**PAIR), "k"), STAYS)),
        {"l": [{"k": "a", "v": 1}, {"k": "b", "v": 2}]},
        {"l": [{"k": "b", "v": 2}, {"k": "a", "v": 1}]},
        [],
    ),
    "a set within a map list": (
        record(rule("self.l == oldSelf.l"), l=keyed(record(k=TEXT, s=SET), "k")),
        {"l": [{"k": "a", "s": ["x", "y"]}]},
        {"l": [{"k": "a", "s": ["y", "x"]}]},
        [],
    ),
    "what no schema describes is compared as a whole": (
        record(o=ruled(PRESERVED, STAYS)),
        {"o": {"x": 1}},
        {"o": {"x": 2}},
        ["spec.o: invalid value: failed rule: self == oldSelf"],
    ),
    "what stays may break a rule": (
        record(a=ruled(TEXT, SHORT), b=TEXT),
        {"a": "long", "b": "x"},
        {"a": "long", "b": "y"},
        [],
    ),
    "what changes may not": (
        record(a=ruled(TEXT, SHORT)),
        {"a": "longer"},
        {"a": "long"},
        ['spec.a: invalid value: "longer": failed rule: self.size() < 3'],
    ),
    "elements of a list stay only with the list": (
        record(l={**LIST, "items": ruled(TEXT, SHORT)}),
        {"l": ["long", "b"]},
        {"l": ["long"]},
        ['spec.l[0]: invalid value: "long": failed rule: self.size() < 3'],
    ),
    "a list that stays": (
        record(l={**LIST, "items": ruled(TEXT, SHORT)}, b=TEXT),
        {"l": ["long"], "b": "1"},
        {"l": ["long"], "b": "2"},
        [],
    ),
    "an element of a map list that stays": (
        record(l=keyed(record(rule("self.v.size() < 3"), k=TEXT, v=TEXT), "k")),
        {"l": [{"k": "a", "v": "long"}, {"k": "b", "v": "x"}]},
        {"l": [{"k": "a", "v": "long"}]},
        [],
    ),
    "fields that the schema does not know never stay": (
        record(o=ruled({**PRESERVED, "properties": {"a": TEXT}}, rule("self.a.size() < 3")), b=TEXT),
        {"o": {"a": "long", "z": 1}, "b": "1"},
        {"o": {"a": "long", "z": 1}, "b": "2"},
        ["spec.o: invalid value: failed rule: self.a.size() < 3"],
    ),
    "a rule that fails is not forgiven": (
        record(o=record(rule("self.c.size() < 3"), a=TEXT, c=TEXT), b=TEXT),
        {"o": {"a": "x"}, "b": "1"},
        {"o": {"a": "x"}, "b": "2"},
        ["spec.o: invalid value: no such key: c evaluating rule: self.c.size() < 3"],
    ),
}


def make_kind(schema: dict[str, Any], *, status: bool = False) -> Kind:
    """A kind whose spec has this schema."""
    root = {"type": "object", "properties": {"spec": schema, "status": record(ready=NUMBER)}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": root}}
    if status:
        version["subresources"] = {"status": {}}
    spec = {"group": "example.com", "names": {"kind": "Example", "plural": "examples"}, "versions": [version]}
    return from_crd({"spec": spec})["example.com", "Example"]["v1"]


def make_object(spec: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An object of that kind."""
    return {"apiVersion": "example.com/v1", "kind": "Example", "metadata": {"name": "it"}, "spec": spec, **more}


def found(kind: Kind, value: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    """What the rules find, as text, and that they find the same once they were kept as plain data."""
    problems = list(walk.check(value, kind, kubernetes="1.35", old=old))
    if compiled_tree := tree(kind):
        kept = restore_tree(json.loads(json.dumps(compiled_tree.kept(35))), kind.schema, 35)
        warm = Rulebook(trees={(kind, 35): kept})
        assert list(walk.check(value, kind, kubernetes="1.35", old=old, rulebook=warm)) == problems
        assert not kept.shared.changed
    return [f"{format_path(problem.path)}: {problem.message}" for problem in problems]


@pytest.mark.parametrize(("schema", "spec", "right"), CREATED.values(), ids=CREATED)
def test_rules_on_create(schema, spec, right):
    """A new object is judged as the API server judges it."""
    assert found(make_kind(schema), make_object(spec)) == right


@pytest.mark.parametrize(("schema", "spec", "old", "right"), UPDATED.values(), ids=UPDATED)
def test_rules_on_update(schema, spec, old, right):
    """A change is judged as the API server judges it, and what it leaves alone is forgiven."""
    assert found(make_kind(schema), make_object(spec), make_object(old)) == right


def test_status_is_not_what_the_manifest_says():
    """Where status is a subresource, rules see none on create, and the old one on update."""
    schema = record(a=NUMBER)
    kind = make_kind(schema, status=True)
    kind.schema["x-kubernetes-validations"] = [rule("!has(self.status) || self.status.ready > 1", message="not ready")]
    written = make_object({"a": 1}, status={"ready": 0})
    assert found(kind, written) == []
    assert found(kind, make_object({"a": 2}), written) == [": invalid value: not ready"]


def test_metadata_shows_name_alone():
    """A rule at the root may read the name, and nothing else of metadata."""
    kind = make_kind(record(a=NUMBER))
    kind.schema["x-kubernetes-validations"] = [rule("self.metadata.name == 'other'"), rule("has(self.metadata.labels)")]
    messages = found(kind, make_object({"a": 1}))
    assert messages[0] == ": invalid value: failed rule: self.metadata.name == 'other'"
    assert "undefined field 'labels'" in messages[1]


@cache
def kinds_with_rules() -> dict[str, Node]:
    """Every kind of `schemas/` that states rules."""
    known, findings = catalog.load(ROOT / "schemas", kubernetes="1.35")
    assert not findings
    pairs = ((f"{kind.api_version} {kind.kind}", tree(kind)) for kind in known.served() if not kind.typed)
    return {name: node for name, node in pairs if node}


def compiled(node: Node) -> list[tuple[str, str]]:
    """Every rule at and beneath a node, with why it does not compile."""
    below = [*node.fields.values(), *node.all_of.values(), *(item for item in (node.items, node.values) if item)]
    own = [(one_rule.text, str(one_rule.error or "")) for one_rule in node.rules(35)]
    return own + [pair for item in below for pair in compiled(item)]


@pytest.mark.slow
def test_every_rule_that_we_carry_compiles():
    """No rule of any kind in `schemas/` is beyond us."""
    pairs = [(name, *pair) for name, node in kinds_with_rules().items() for pair in compiled(node)]
    assert [pair for pair in pairs if pair[2]] == []
    assert len(pairs) > 300


def test_every_rule_is_kept_whole():
    """Plain data says all of every compiled rule that we carry: restored and kept again, it is the same."""
    for node in kinds_with_rules().values():
        compiled(node)
        data = json.dumps(node.kept(35))
        assert json.dumps(restore_tree(json.loads(data), node.schema, 35).kept(35)) == data
