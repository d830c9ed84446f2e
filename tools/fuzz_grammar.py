"""What fuzz.py makes up: odd values, changes of real ones, expressions, definitions with resources, and merges."""

# ruff: noqa: E501  lists of pieces
from __future__ import annotations

import copy
import random
from typing import Any

ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**40, 1.5, -0.0, 1e308, 1e-320, "", " ", "a", "A_b",
    "x" * 300, "x" * 70_000, "1e1000000000", "1Ei", "-5Gi", "0x1F", "999999999999999999999999", ".5m", "0", "null",
    "\x1b[31m", "\n::error::x", "\u202e", "\u2028", "\x85", "é\u0301", "\U0001f600", "../..", "/", "a/b/c", "*", "[",
    "{{ .x }}", "$(HOME)", "${x", "%s%n", "2006-01-02T15:04:05Z", "10.0.0.0/8", "::1/999", "fe80::%x", "http://[", "@",
    "atlas", "nlp", "h100", "torchrun", "JobSet", "5m", "-1h", "9" * 400 + "h", [], {}, [None], [[]], {"": ""},
    {"a": {"b": [1, {"c": None}]}}, ["x"] * 60, {f"k{i}": i for i in range(60)}, {"$patch": "delete"}, [1, "1", 1.0],
    {"matchExpressions": [{"key": "a", "operator": "In", "values": []}]}, {"name": {}}, {"name": []},
]  # fmt: skip
"""Values that some reader somewhere does not expect."""

PIECES = [
    b"\x00", b"\xff", b"\xed\xa0\x80", b"\t", b": ", b"- ", b"? ", b"&a ", b"*a", b"<<: *a", b"!!binary ", b"!!int x",
    b"\n---\n", b"\n--- x\n", b"%TAG ! tag:x\n", b"'", b'"', b"{", b"}", b"[", b"]", b"|", b">", b"#", b"\x1b[2J",
    b"[" * 400, b"{a: " * 400, b"\xe2\x80\xa8", b"\xc2\x85", b".inf", b"1e999", b"\\ud800", b"a" * 3000,
]  # fmt: skip

AMOUNTS: list[Any] = [
    "1e5000", "1e1000000000", "-1e1000000000", "1e-1000000000", "0e1000000000", "0e-1000000000", "1e2147483648", "1E", "1e", "8Ei",
    "9" * 5000, "0." + "0" * 5000 + "1", "9" * 1095 + "." + "9" * 20, "9223372036854775807", "9223372036854775808", "7.5Ei", "1n",
    "-1", "0", "1", "64Gi", "500m", 2**63, -(2**63), 10**40, 1e308, 1e-320, "1e+", "+5", ".", "1_000", "1e9223372036854775807",
]  # fmt: skip
"""Amounts: common ones, those at the edges of 64 bits, and powers that nobody can write out."""

RESOURCES = ["cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "hugepages-2Mi", "example.com/x"]

LISTS = ["waive", "labels", "annotations", "env", "secrets", "roles"]
LENGTHS = (1, 16, 17, 100, 101, 1000, 1001, 20_000)

KEYS = ["metadata", "spec", "name", "", "x" * 300, "\x1b]0;x\x07", "a\nb", "template", "items", "status", "$ref", "0"]


def mutated(chance: random.Random, value: Any) -> Any:
    """Return a value with one to four changes."""
    value = copy.deepcopy(value)
    for _ in range(chance.choice((1, 1, 2, 4))):
        value = changed(chance, value)
    return value


def changed(chance: random.Random, value: Any) -> Any:
    """Return a value with one change, somewhere in it."""
    places = [
        (value, key) for value in within(value) for key in (value if isinstance(value, dict) else range(len(value)))
    ]
    if not places:
        return chance.choice(ODD)
    holder, key = chance.choice(places)
    what = chance.random()
    if what < 0.1:
        holder[key] = chance.choice(AMOUNTS)
    elif what < 0.55:
        holder[key] = copy.deepcopy(chance.choice(ODD))
    elif what < 0.65:
        del holder[key]
    elif what < 0.75:
        holder[key] = copy.deepcopy(chance.choice(places)[0])
    elif isinstance(holder, dict):
        holder[chance.choice(KEYS)] = holder.pop(key) if what < 0.9 else copy.deepcopy(chance.choice(ODD))
    else:
        holder.extend(copy.deepcopy(holder[key]) for _ in range(chance.choice((1, 2, 300))))
    return value


def within(value: Any) -> list[Any]:
    """Return the lists and maps of a value, itself included."""
    found = [value] if isinstance(value, (dict, list)) else []
    for one_definition in found:
        found += [
            inner
            for inner in (one_definition.values() if isinstance(one_definition, dict) else one_definition)
            if isinstance(inner, (dict, list))
        ]
        if len(found) > 5000:
            break
    return found


def spliced(chance: random.Random, text: bytes) -> bytes:
    """Return a text with bytes put in, left out or said twice."""
    for _ in range(chance.choice((1, 1, 3))):
        at, end = sorted((chance.randrange(len(text) + 1), chance.randrange(len(text) + 1)))
        what = chance.random()
        if what < 0.6:
            text = text[:at] + chance.choice(PIECES) + text[at:]
        elif what < 0.8:
            text = text[:at] + text[min(end, at + 40) :]
        else:
            text = text[:at] + text[at:end][:400] * chance.choice((2, 5)) + text[end:]
    return text


def value(chance: random.Random, depth: int = 3) -> Any:
    """Return a value of any kind."""
    what = chance.random()
    if depth and what < 0.25:
        return [value(chance, depth - 1) for _ in range(chance.choice((0, 1, 3, 40)))]
    if depth and what < 0.5:
        return {chance.choice("abcde"): value(chance, depth - 1) for _ in range(chance.choice((0, 1, 3)))}
    return copy.deepcopy(chance.choice(ODD))


LEAVES = [
    "self", "oldSelf", "object", "self.a", "self.?b", "'x'", "''", "1", "-1", "0", "1u", "2.5", "true", "null", "b'x'",
    "[1, 2]", "{'a': 1}", "'a' * 2", "9223372036854775807", "quantity('1e1000000000')", "quantity('5Gi')", "quantity('0e1000000000')", "quantity('-1e5000')", "duration('1h')",
    "timestamp('2006-01-02T15:04:05Z')", "ip('::1')", "cidr('10.0.0.0/8')", "url('http://a/b')", "semver('1.2.3')", "x", "y",
]  # fmt: skip
FORMS = [
    "({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} / {1})", "({0} % {1})", "({0} == {1})", "({0} != {1})", "({0} < {1})",
    "({0} && {1})", "({0} || {1})", "(!{0})", "(-{0})", "({0} ? {1} : {2})", "({0} in {1})", "{0}[{1}]", "size({0})",
    "string({0})", "int({0})", "double({0})", "{0}.contains({1})", "{0}.matches({1})", "{0}.replace({1}, {2})",
    "{0}.split({1})", "{0}.join({1})", "{0}.all(x, {1})", "{0}.exists(x, {1})", "{0}.map(x, {1})", "{0}.filter(x, {1})",
    "{0}.exists_one(x, {1})", "{0}.all(x, y, {1})", "{0}.transformList(x, y, {1})", "{0}.sortBy(x, {1})", "{0}.sum()",
    "{0}.isSorted()", "{0}.indexOf({1})", "{0}.findAll({1})", "{0}.find({1})", "sets.contains({0}, {1})", "{0}.flatten()",
    "sets.equivalent({0}, {1})", "{0}.add({1})", "{0}.isLessThan({1})", "{0}.format([{1}])", "'%.{2}f %s'.format([{0}, {1}])",
    "optional.of({0}).orValue({1})", "{0}.substring({1}, {2})", "{0}.lowerAscii()", "has({0}.a)", "cel.bind(x, {0}, {1})",
    "type({0})", "{0}.charAt({1})", "lists.range({0})", "{0}.reverse()", "{0}.distinct()", "{0}.getHours()", "dyn({0})",
    "quantity({0})", "isQuantity({0})", "duration({0})", "timestamp({0})", "{0}.asInteger()", "{0}.isInteger()", "{0}.sub({1})", "sign({0})", "{0}.compareTo({1})", "{0}.asApproximateFloat()", "ip({0})", "bytes({0})",
]  # fmt: skip


def expression(chance: random.Random, depth: int = 4) -> str:
    """Return an expression, right or wrong."""
    if not depth or chance.random() < 0.15:
        return chance.choice(LEAVES)
    return chance.choice(FORMS).format(*(expression(chance, depth - 1) for _ in range(3)))


TYPES = ["string", "integer", "number", "boolean", "array", "object", None]
WORDS: dict[str, list[Any]] = {
    "format": ["duration", "date-time", "email", "hostname", "uri", "byte", "int32", "uuid", "x"],
    "pattern": ["^a*$", "(a*)*b", "[", "\\", "a{1000}", "(?P<x>a)", "\\p{L}+", "x" * 2000],
    "enum": [[], [1, "1", None], ["a"] * 20, [{}, []]],
    "minLength": [-1, 0, 5, "x"], "maxLength": [0, 2**40], "minimum": [1e308, "x", -5], "maxItems": [0, -1, 10**9],
    "multipleOf": [0, 0.1, -2], "uniqueItems": [True], "nullable": [True, "x"], "default": ODD,
    "x-kubernetes-int-or-string": [True], "x-kubernetes-preserve-unknown-fields": [True, False],
    "x-kubernetes-embedded-resource": [True], "x-kubernetes-list-type": ["set", "map", "atomic", "x", 1],
    "x-kubernetes-list-map-keys": [["a"], ["a", "a"], [], [1]], "x-kubernetes-map-type": ["granular", "x"],
    "$ref": ["#/definitions/x"], "required": [["a"], ["zz"], [1], "a"], "additionalProperties": [True, False],
}  # fmt: skip


def schema(chance: random.Random, depth: int = 3) -> Any:
    """Return the schema of a field, right or wrong."""
    kind = chance.choice(TYPES)
    found: dict[str, Any] = {"type": kind} if kind else {}
    for word in chance.sample(sorted(WORDS), chance.choice((0, 0, 1, 2, 4))):
        found[word] = copy.deepcopy(chance.choice(WORDS[word]))
    if depth and kind == "array":
        found["items"] = schema(chance, depth - 1)
    if depth and kind == "object":
        found["properties"] = {chance.choice("abcde"): schema(chance, depth - 1) for _ in range(3)}
    if depth and chance.random() < 0.2:
        branch = chance.choice(("anyOf", "oneOf", "allOf", "not"))
        found[branch] = schema(chance, 0) if branch == "not" else [schema(chance, 0) for _ in range(2)]
    if chance.random() < 0.4:
        found["x-kubernetes-validations"] = [
            {"rule": expression(chance, 3), "message": "x", "messageExpression": expression(chance, 2)}
        ]
    return found


def definition(chance: random.Random) -> list[Any]:
    """Return a definition and a resource of its kind, now and then with a change."""
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema(chance)}}},
                }
            ],
        },
    }
    found = {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "f"}, "spec": value(chance)}
    return [mutated(chance, crd) if chance.random() < 0.2 else crd, found]


FIELDS = ["spec", "template", "containers", "volumes", "metadata", "labels", "annotations", "env", "name", "namespace", "replicas",
          "tolerations", "affinity", "resources", "limits", "ports", "data", "origin", "chart", "source", "at", "fields"]  # fmt: skip


def merge(chance: random.Random, depth: int = 2) -> dict[str, Any]:
    """Return a map that a patch might merge into an object."""
    found: dict[str, Any] = {}
    for key in chance.sample(FIELDS, 3):
        what = chance.random()
        if depth and what < 0.5:
            found[key] = merge(chance, depth - 1)
        elif depth and what < 0.7:
            found[key] = [merge(chance, depth - 1) for _ in range(2)]
        else:
            found[key] = copy.deepcopy(chance.choice(ODD))
    return found


def resources(chance: random.Random) -> dict[str, Any]:
    """Return requests and limits of a container."""
    return {
        part: {name: chance.choice(AMOUNTS) for name in chance.sample(RESOURCES, chance.choice((1, 2, 4)))}
        for part in ("requests", "limits")
    }


def sized(chance: random.Random) -> dict[str, Any]:
    """Return a patch of what pods ask for."""
    inner = [{"name": chance.choice(("trainer", "node", "pytorch")), "resources": resources(chance)}]
    return {"object": "Pod", "reason": "x", "merge": {"spec": {"containers": inner}}}


def container(chance: random.Random, number: int) -> dict[str, Any]:
    """Return a container of a job's own."""
    return {
        "name": f"c{number}",
        "image": "registry.example.com/a/b@sha256:" + "0" * 64,
        "resources": resources(chance),
    }


def lengthy(chance: random.Random) -> dict[str, Any]:
    """Return a field of a job with a few entries or very many."""
    count, field = chance.choice(LENGTHS), chance.choice([*LISTS, "args", "patches", "after"])
    if field in LISTS:
        value: Any = {"nodes": 1} if field == "roles" else "a/b"
        return {field: {f"a{number}": value for number in range(count)}}
    entry = {"object": "Pod", "reason": "x", "merge": {"metadata": {"labels": {"a": "b"}}}}
    return {field: [entry if field == "patches" else f"a{number}" for number in range(count)]}
