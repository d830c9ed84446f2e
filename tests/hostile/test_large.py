"""Hostile files are answered within a second or so and a gibibyte, or refused in that time."""

from __future__ import annotations

import json
import resource
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from clock import within
from conftest import ROOT
from trainyard.faces.report import render
from trainyard.judge.checks.validate import strangers
from trainyard.upstream.apiserver import catalog
from trainyard.upstream.apiserver.core.apiextensions import definition
from trainyard.upstream.apiserver.patterns import compile_pattern

SECONDS = 1.0

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: n}\n"
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "n"},
    "spec": {"containers": [{"name": "c", "image": "a"}]},
}


def texts(*objects: Any) -> str:
    """Return objects as one file."""
    return "\n---\n".join(json.dumps(item) for item in objects)


def custom(schema: Any, value: Any) -> str:
    """Return a definition whose resources have this schema, and one of them."""
    names = {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"}
    shape = {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": shape}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
    }
    return texts(
        definition,
        {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "f", "namespace": "n"}, "spec": value},
    )


def policy(
    *,
    conditions: int = 0,
    validations: tuple[str, ...] = ("true",),
    variables: tuple[str, ...] = (),
    message: str | None = None,
    text: str = "x",
) -> str:
    """Return a policy with its binding, and a ConfigMap of a hundred keys and a text."""
    said = {"messageExpression": message} if message else {}
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]
    loops = "object.data.all(k, object.data.all(l, object.data.all(m, k != l + m)))"
    spec = {
        "matchConstraints": {"resourceRules": rules},
        "matchConditions": [{"name": f"c{index}", "expression": loops} for index in range(conditions)],
        "variables": [{"name": f"v{index}", "expression": variable} for index, variable in enumerate(variables)],
        "validations": [{"expression": validation, **said} for validation in validations],
    }
    group = "admissionregistration.k8s.io/v1"
    binding = {"policyName": "v", "validationActions": ["Deny"]}
    return texts(
        {"apiVersion": group, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "v"}, "spec": spec},
        {"apiVersion": group, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "v"}, "spec": binding},
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "m", "namespace": "n"},
            "data": {f"k{index}": "x" for index in range(100)} | {"text": text},
        },
    )


def pod(**spec: Any) -> str:
    """Return a pod with more fields."""
    return texts({**POD, "spec": {**POD["spec"], **spec}})


LIST = {"type": "array", "items": {"type": "string"}}

UNTYPED = {"x-kubernetes-preserve-unknown-fields": True, "x-kubernetes-validations": [{"rule": "true"}]}

REFUSED: dict[str, Callable[[], str]] = {
    "thousands of fields that nobody knows": lambda: pod(**{f"unknownField{index}": 1 for index in range(30_000)}),
    "such fields in thousands of containers": lambda: pod(
        containers=[{"name": f"c{index}", "imageX": 1, "imgae": 2} for index in range(5000)]
    ),
    "digits without a unit for a duration": lambda: custom({"type": "string", "format": "duration"}, "1" * 40_000),
    "a name and blanks for an address of mail": lambda: custom(
        {"type": "string", "format": "email"}, f"a{' ' * 40_000}b"
    ),
    "a pattern of a megabyte": lambda: custom({"type": "string", "pattern": "a?" * 300_000}, "a"),
    "a pattern that multiplies": lambda: custom({"type": "string", "pattern": ".{1,999}" * 1000}, "a"),
    "a pattern that forks": lambda: custom({"type": "string", "pattern": "(a|b)*" * 200 + "c"}, "ab" * 20_000),
    "thousands of patterns": lambda: custom(
        {
            "type": "object",
            "properties": {
                f"p{index}": {"type": "string", "pattern": f"^(a|b{index})*c{{1,900}}$"} for index in range(3000)
            },
        },
        {f"p{index}": "c" for index in range(3000)},
    ),
    "numbers held against as many": lambda: custom(
        {"type": "array", "items": {"type": "integer", "enum": list(range(1, 20_000))}}, list(range(20_000))
    ),
    "defaults for each of thousands": lambda: custom(
        {
            "type": "array",
            "items": {"type": "object", "properties": {"a": {**LIST, "default": ["x"] * 12_000}}},
        },
        [{}] * 12_000,
    ),
    "a list that is searched for each of its items": lambda: custom(
        {**LIST, "x-kubernetes-validations": [{"rule": "self.all(x, 'zz' in self)"}]}, ["x"] * 30_000
    ),
    "conditions that loop, 64 of them": lambda: policy(conditions=64),
    "variables of variables, 300 of them": lambda: policy(
        validations=("variables.v299 > 0",), variables=("1", *(f"variables.v{index} + 1" for index in range(299)))
    ),
    "a list that is compared with itself for each of its maps": lambda: custom(
        {
            "type": "array",
            "items": {"type": "object", "properties": {name: {"type": "string"} for name in "abcd"}},
            "x-kubernetes-validations": [{"rule": "self.all(x, self == self)"}],
        },
        [dict.fromkeys("abcd", "x")] * 4000,
    ),
    "variables that cost as much as they may, 40 of them": lambda: policy(
        validations=(" && ".join(f"variables.v{index}" for index in range(40)),),
        variables=("object.data.all(k, object.data.all(l, object.data.all(m, k.size() < 99 || l != m)))",) * 40,
    ),
    "messages that cost as much as they may, 40 of them": lambda: policy(
        validations=tuple(f"size(object.data) > {1000 + index}" for index in range(40)),
        message="object.data.map(k, object.data.map(l, object.data.map(m, k + l + m).join('')).join('')).join('')",
    ),
    "thousands of letters without repetition": lambda: policy(
        validations=("object.data.text.split('').distinct().size() < 5",),
        text="".join(chr(0x4E00 + index) for index in range(20_000)),
    ),
    "digits without a unit for a duration of a policy": lambda: policy(
        validations=("duration(object.data.text) < duration('1s')",), text="1" * 200_000
    ),
    "letters that are searched for by what types do not tell": lambda: policy(
        validations=("object.data.text.findAll('a*?').size() < 5",), text="a" * 500_000
    ),
    "a policy of thousands of rules": lambda: policy(validations=tuple(f"{index} > 0" for index in range(5000))),
    "a quantity of a billion digits": lambda: policy(
        validations=("quantity('1e1000000000').add(quantity('1')).isGreaterThan(quantity('1'))",)
    ),
    "a hundred thousand directives": lambda: (
        "".join(f"%TAG !a{index}! tag:x\n" for index in range(100_000)) + f"--- \n{CONFIG}"
    ),
    "two hundred thousand anchors": lambda: (
        f"{CONFIG}data:\n" + "".join(f"  k{index}: &a{index} v\n" for index in range(200_000))
    ),
    "a million aliases": lambda: f"{CONFIG}x: &a v\ndata: [{'*a,' * 1_000_000}]\n",
    "a million scalars": lambda: f"{CONFIG}data: [{'1,' * 1_000_000}]\n",
    "millions of empty maps": lambda: f"{CONFIG}data: [{'{},' * 2_500_000}]\n",
    "a document of 20 MiB": lambda: f"{CONFIG}data: [{'{},' * 7_000_000}]\n",
    "the same key over and over": lambda: CONFIG + "data:\n" + "  a: b\n" * 60_000,
    "a key of megabytes": lambda: f"{CONFIG}{'a' * 3_000_000}: 1\n",
    "maps in one another": lambda: CONFIG + "data: " + "{a: " * 100_000,
    "a line of megabytes that is wrong at its end": lambda: f"{CONFIG}data: {{a: '{'x' * 3_000_000}', b: [}}\n",
    "thousands of requirements of a selector": lambda: texts(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "s", "namespace": "n"},
            "spec": {"selector": {f"-{index}": "!" for index in range(5000)}, "ports": [{"port": 1}]},
        }
    ),
    "thousands of ports, each of them twice": lambda: pod(
        containers=[{"name": "c", "image": "a", "ports": [{"containerPort": 1, "name": "x"}] * 5000}]
    ),
    "huge quantities": lambda: pod(
        containers=[
            {
                "name": "c",
                "image": "a",
                "resources": {"limits": {f"example.com/r{index}": "9" * 2000 for index in range(200)}},
            }
        ]
    ),
    "tolerations without sense": lambda: pod(tolerations=[{"operator": "x", "effect": "y"}] * 5000),
    "a branch in a branch": lambda: custom(
        {"type": "string", "anyOf": [{"anyOf": [{"pattern": "^a$"}] * 60}] * 60}, "b" * 1000
    ),
    "a set of lists": lambda: custom({**LIST, "x-kubernetes-list-type": "set"}, [["a"]] * 20_000),
    "keys of a list that are no text": lambda: custom(
        {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [1]}, [{"a": 1}]
    ),
    "bounds that are no numbers": lambda: custom({"type": "integer", "minimum": "x", "maxLength": []}, 5),
    "rules of a default without a type": lambda: custom(
        {"type": "object", "properties": {"a": {**UNTYPED, "default": "x"}}}, {}
    ),
    "branches that are no list": lambda: custom({"type": "string", "anyOf": "x", "not": "y"}, "a"),
}
"""What no server takes, or takes longer for than anybody waits; each is refused or unknown."""

TAKEN: dict[str, Callable[[], str]] = {
    "a ConfigMap of a mebibyte": lambda: texts(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "m", "namespace": "n"},
            "data": {f"k{index}": "x, y: [1]\n" * 100 for index in range(1000)},
        }
    ),
    "a role of thousands of rules": lambda: texts(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "r"},
            "rules": [{"apiGroups": ["g"], "resources": [f"r{index}"], "verbs": ["get"]} for index in range(3000)],
        }
    ),
    "a file of hundreds of documents": lambda: texts(
        *({**POD, "metadata": {"name": f"p{index}", "namespace": "n"}} for index in range(400))
    ),
}


@pytest.fixture(autouse=True, scope="module")
def known() -> Iterator[None]:
    """The kinds, opened once: what a run costs before its first document is measured by the benchmarks."""
    found = catalog.load(ROOT / "schemas", kubernetes="1.35")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalog, "load", lambda *_, **__: found)
        strangers([("warm.yaml", texts(POD).encode())], ROOT / "schemas", kubernetes="1.35")
        yield


def reported(data: bytes) -> tuple[Any, int]:
    """Judge a file as one that was never seen, and return what is found and how long the reports are."""
    compile_pattern.cache_clear()
    definition._judged.clear()
    result = strangers([("x.yaml", data)], ROOT / "schemas", kubernetes="1.35")
    return result, sum(len(render(result, item)) for item in ("text", "json"))


def judged(text: str) -> Any:
    """Judge and report a file; fail where that takes too long or too much."""
    data = text.encode()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result, shown = within(SECONDS, lambda: reported(data), text[:300])
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < 2**30, f"{grown / 2**30:.1f} GiB"
    assert shown < 2**20, f"{shown} letters"
    return result


@pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED)
def test_it_is_refused_at_once(make: Callable[[], str]) -> None:
    """Within the time, without a traceback, and in a report that somebody can read."""
    assert judged(make()).errors


def test_rules_of_an_object_cost_together_what_a_server_allows() -> None:
    """Ten million, which a server counts in a second and this in three: each rule alone costs a hundredth of it."""
    rule = [{"rule": "self.all(x, self.all(y, x + y != 'z'))"}]
    text = custom({"type": "array", "items": {**LIST, "x-kubernetes-validations": rule}}, [["a"] * 100] * 300)
    result = strangers([("x.yaml", text.encode())], ROOT / "schemas", kubernetes="1.35")
    assert any("running out of cost budget" in finding.message for finding in result.findings)


@pytest.mark.parametrize("make", TAKEN.values(), ids=TAKEN)
def test_large_files_are_taken(make: Callable[[], str]) -> None:
    """What clusters hold is far below the bounds."""
    result = judged(make())
    assert not result.errors, [finding.message for finding in result.findings][:3]
