"""Structure: what the API server refuses in an object before any rule of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from make import make_crd
from trainyard.upstream.apiserver import Kind, Problem, catalog
from trainyard.upstream.apiserver.catalog.served import from_crd
from trainyard.upstream.apiserver.schema import defaults, formats, structural

RECORDED = Path(__file__).resolve().parent / "structural.jsonl"
INT_OR_STRING = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
OBJECT = {"type": "object"}
STRING = {"type": "string"}
PORTS = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["port", "protocol"],
    "items": {
        "type": "object",
        "required": ["port"],
        "properties": {"port": {"type": "integer"}, "protocol": {**STRING, "default": "TCP"}, "note": STRING},
    },
}
FIELDS: dict[str, Any] = {
    "text": STRING,
    "filled": {**STRING, "default": "x"},
    "nullable": {**STRING, "nullable": True},
    "choice": {**STRING, "nullable": True, "enum": ["a", "b"]},
    "whole": {"type": "integer", "format": "int32", "minimum": -5},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "mixed": INT_OR_STRING,
    "time": {**STRING, "format": "date-time"},
    "bytes": {**STRING, "format": "byte"},
    "upper": {**STRING, "pattern": "[A-Z]", "maxLength": 3},
    "map": {"type": "object", "additionalProperties": STRING},
    "kept": {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
        "properties": {"a": STRING, "o": {"type": "object", "properties": {"z": {"type": "integer"}}}},
    },
    "any": {"x-kubernetes-preserve-unknown-fields": True},
    "texts": {"type": "array", "items": STRING, "maxItems": 2},
    "set": {"type": "array", "items": STRING, "x-kubernetes-list-type": "set"},
    "ports": PORTS,
    "empty": OBJECT,
    "loose": {"type": "object", "additionalProperties": True},
    "object": {**OBJECT, "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
    "nested": {"type": "object", "default": {}, "properties": {"size": {"type": "integer", "default": 3}}},
    "one": {
        "type": "object",
        "properties": {"a": STRING, "b": STRING},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    },
}

CASES: dict[str, tuple[dict[str, Any], str | None]] = {
    "null where it is no value, which apply refuses": ({"text": None}, "schema/null"),
    "null where there is a default": ({"filled": None}, None),
    "null where it is a value": ({"nullable": None}, None),
    "null beside choices is none of them": ({"choice": None}, "schema/enum"),
    "null in a map, which apply refuses": ({"map": {"a": None}}, "schema/null"),
    "null in a list": ({"texts": [None]}, "schema/type"),
    "null in what is kept": ({"kept": {"q": None}, "any": None}, None),
    "null in a declared field of what is kept": ({"kept": {"a": None}}, "schema/null"),
    "a float without a fraction is an integer": ({"whole": 1.0}, None),
    "a float with one is none": ({"whole": 1.5}, "schema/type"),
    "an integer beyond 64 bits is a number": ({"whole": 2**63}, "schema/type"),
    "a boolean is no integer": ({"whole": True}, "schema/type"),
    "an integer below its minimum": ({"whole": -6}, "schema/range"),
    "an integer is a number": ({"number": 1}, None),
    "a number is no text": ({"text": 5}, "schema/type"),
    "text is no boolean": ({"flag": "yes"}, "schema/type"),
    "int-or-string takes an integral float": ({"mixed": 1.0}, None),
    "int-or-string takes no fraction": ({"mixed": 0.5}, "schema/type"),
    "int-or-string takes no boolean": ({"mixed": True}, "schema/type"),
    "a time without a clock": ({"time": "2020-01-01"}, "schema/format"),
    "a list is no time, though create takes it for one": ({"time": ["a"]}, "schema/type"),
    "no bytes are no base64 to kube-openapi": ({"bytes": ""}, "schema/format"),
    "a pattern matches anywhere": ({"upper": "aBc"}, None),
    "a pattern that does not match": ({"upper": "abc"}, "schema/pattern"),
    "characters count, not bytes": ({"upper": "Äéß"}, "schema/pattern"),
    "too many characters": ({"upper": "ABCD"}, "schema/length"),
    "too many items": ({"texts": ["a", "b", "c"]}, "schema/size"),
    "another choice": ({"choice": "c"}, "schema/enum"),
    "an unknown field": ({"texxt": "a"}, "schema/unknown-field"),
    "an unknown field that is null": ({"zzz": None}, "schema/unknown-field"),
    "an unknown field in another case": ({"Text": "a"}, "schema/unknown-field"),
    "an unknown field where they are kept": ({"kept": {"q": 1}}, None),
    "an unknown field beneath, where they are not": ({"kept": {"o": {"q": 1}}}, "schema/unknown-field"),
    "a field in an object without fields": ({"empty": {"a": 1}}, "schema/unknown-field"),
    "a scalar in a loose map": ({"loose": {"a": "x"}}, None),
    "an object in a loose map is pruned": ({"loose": {"a": {"b": 1}}}, "schema/unknown-field"),
    "an object in a list in a loose map is pruned": ({"loose": {"a": [{"b": 1}]}}, "schema/unknown-field"),
    "a value twice in a set": ({"set": ["a", "a"]}, "schema/duplicate"),
    "keys that are equal once defaulted": (
        {"ports": [{"port": 1}, {"port": 1, "protocol": "TCP"}]},
        "schema/duplicate",
    ),
    "keys that differ in the second": ({"ports": [{"port": 1}, {"port": 1, "protocol": "UDP"}]}, None),
    "an element without its key": ({"ports": [{"note": "x"}]}, "schema/required"),
    "a null element": ({"ports": [None]}, "schema/type"),
    "an embedded resource without kind": ({"object": {"apiVersion": "v1"}}, "schema/required"),
    "an embedded resource": ({"object": {"apiVersion": "v1", "kind": "Pod", "spec": {"q": None}}}, None),
    "an embedded resource of an impossible kind": (
        {"object": {"apiVersion": "v1", "kind": "po.d"}},
        "schema/embedded",
    ),
    "an unknown field in embedded metadata": (
        {"object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"nam": "x"}}},
        "schema/unknown-field",
    ),
    "a label in embedded metadata that no label can be": (
        {"object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a b": "x"}}}},
        "meta/labels",
    ),
    "none of two alternatives": ({"one": {}}, "schema/one-of"),
    "one of two alternatives": ({"one": {"a": ""}}, None),
    "both of two alternatives": ({"one": {"a": "", "b": ""}}, "schema/one-of"),
}
"""Fields below spec, and the first rule they break; every verdict is a kube-apiserver 1.35.4's."""


def make_kind(properties: dict[str, Any] | None = None, **version: Any) -> Kind:
    """The kind Probe of a CRD with these fields."""
    (versions,) = from_crd(make_crd(FIELDS if properties is None else properties, **version)).values()
    return versions["v1"]


def make_object(spec: Any, **fields: Any) -> dict[str, Any]:
    """A Probe."""
    return {"apiVersion": "example.com/v1", "kind": "Probe", "metadata": {"name": "x"}, "spec": spec, **fields}


def judge(value: Any, kind: Kind, kubernetes: str = "1.35", **options: Any) -> list[Problem]:
    """Defaults, then structure."""
    return list(structural.check(defaults.apply(value, kind), kind, kubernetes=kubernetes, **options))


PROBE = make_kind()


@pytest.mark.parametrize(("spec", "rule"), CASES.values(), ids=CASES)
def test_custom_resource(spec, rule):
    """A custom resource is judged as the server judges it, create and server-side apply taken together."""
    problems = judge(make_object(spec), PROBE)
    assert (problems[0].rule if problems else None) == rule


@pytest.fixture(scope="module")
def known(root):
    """All kinds of Kubernetes 1.35, with the newest release of every project."""
    found, _ = catalog.load(root / "schemas", kubernetes="1.35")
    return found


def recorded() -> list[dict[str, Any]]:
    """The recorded cases."""
    lines = RECORDED.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.slow
def test_recorded_verdicts(known):
    """Mutated objects of every kind get the verdict that a kube-apiserver 1.35.4 gave, its CEL rules taken out."""
    wrong = []
    for case in recorded():
        value = case["object"]
        group, _, version = value["apiVersion"].rpartition("/")
        problems = judge(value, known.lookup(group, version, value["kind"]))
        if bool(problems) != (case["verdict"] == "invalid"):
            wrong.append((value["kind"], case["verdict"], case["reason"], [problem.message for problem in problems]))
    assert wrong == []


def test_recorded_cases_are_many():
    """The record holds right and wrong objects of most kinds."""
    cases = recorded()
    kinds = {(case["object"]["apiVersion"], case["object"]["kind"]) for case in cases}
    assert len(cases) > 700
    assert len(kinds) > 250
    assert sum(case["verdict"] == "valid" for case in cases) > 200


CORE: dict[str, tuple[tuple[str | int, ...], Any, str | None]] = {
    "a number as an environment variable": (("env",), [{"name": "A", "value": 5}], "schema/type"),
    "null as an environment variable": (("env",), [{"name": "A", "value": None}], None),
    "the same variable twice, which apply refuses": (("env",), [{"name": "A"}, {"name": "A"}], "schema/duplicate"),
    "the same port twice, once by default": (
        ("ports",),
        [{"containerPort": 1}, {"containerPort": 1, "protocol": "TCP"}],
        "schema/duplicate",
    ),
    "a port as text": (("ports",), [{"containerPort": "80"}], "schema/type"),
    "a port beyond 32 bits": (("ports",), [{"containerPort": 4294967301}], "schema/type"),
    "an unknown protocol": (("ports",), [{"containerPort": 1, "protocol": "HTTP"}], "schema/enum"),
    "no protocol, in words": (("ports",), [{"containerPort": 1, "protocol": ""}], None),
    "null in a list of text": (("args",), [None], None),
    "a number in a list of text": (("args",), [1], "schema/type"),
    "null in a list with keys": (("env",), [None], "schema/null"),
    "a fraction of a processor": (("resources",), {"limits": {"cpu": 0.5}}, None),
    "a quantity with spaces around it": (("resources",), {"limits": {"cpu": " 1"}}, None),
    "null as a quantity": (("resources",), {"limits": {"cpu": None}}, None),
    "no quantity": (("resources",), {"limits": {"cpu": "1x"}}, "schema/quantity"),
    "a boolean as a quantity": (("resources",), {"limits": {"cpu": True}}, "schema/quantity"),
    "a probe's port by name": (("livenessProbe",), {"httpGet": {"port": "http"}}, None),
    "a probe's port as a fraction": (("livenessProbe",), {"httpGet": {"port": 1.5}}, "schema/type"),
    "a misspelt field": (("imagee",), "x", "schema/unknown-field"),
}


@pytest.mark.parametrize(("path", "value", "rule"), CORE.values(), ids=CORE)
def test_core_kind(known, path, value, rule):
    """A field of a container is judged as Go decodes it, and as server-side apply types it."""
    container = {"name": "a", "image": "i", path[0]: value}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"containers": [container]}}
    problems = judge(pod, known.lookup("", "v1", "Pod"))
    assert (problems[0].rule if problems else None) == rule
    if problems:
        assert problems[0].path[:4] == ("spec", "containers", 0, path[0])


def test_bytes_are_base64(known):
    """Secret data is decoded: padding is needed, line ends are not counted, and the fix is named."""
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, "data": {"a": "YQ==\n", "b": "plain"}}
    (problem,) = judge(secret, known.lookup("", "v1", "Secret"))
    assert problem.path == ("data", "b")
    assert "stringData" in problem.message


TIMES = {
    "2020-01-01T00:00:00Z": True,
    "2020-01-01T00:00:00.5+01:00": True,
    "2020-02-30T00:00:00Z": False,
    "2020-01-01T24:00:00Z": False,
    "2020-01-01 00:00:00Z": False,
    "yesterday": False,
}


@pytest.mark.parametrize(("text", "right"), TIMES.items(), ids=TIMES)
def test_times_of_metadata(known, text, right):
    """A time stamp is RFC 3339, with a day of the calendar."""
    value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "creationTimestamp": text}}
    assert (judge(value, known.lookup("", "v1", "ConfigMap")) == []) is right


def test_micro_time_needs_six_digits(known):
    """A Lease's times have microseconds, no more and no fewer."""
    kind = known.lookup("coordination.k8s.io", "v1", "Lease")
    lease = {"apiVersion": kind.api_version, "kind": "Lease", "metadata": {"name": "x"}}
    assert judge({**lease, "spec": {"renewTime": "2020-01-01T00:00:00.000000Z"}}, kind) == []
    assert judge({**lease, "spec": {"renewTime": "2020-01-01T00:00:00Z"}}, kind)[0].rule == "schema/time"


STATUS: dict[str, tuple[Any, str | None]] = {
    "without what it requires": ({}, None),
    "with another choice": ({"phase": "c"}, None),
    "with text as a number, which apply refuses": ({"count": "x"}, "schema/type"),
    "with an unknown field": ({"zz": 1}, "schema/unknown-field"),
    "with the same condition twice, which apply refuses": (
        {"conditions": [{"type": "a"}, {"type": "a"}]},
        "schema/duplicate",
    ),
    "with a condition without its key, which apply refuses": ({"conditions": [{}]}, "schema/required"),
    "as text, which apply refuses": ("x", "schema/type"),
    "as null": (None, None),
}


@pytest.mark.parametrize(("status", "rule"), STATUS.values(), ids=STATUS)
def test_status_that_create_drops(status, rule):
    """A status that is a subresource is dropped before it is judged, so only its shape can be wrong."""
    conditions = {
        "type": "array",
        "items": {"type": "object", "required": ["type"], "properties": {"type": STRING}},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
    }
    fields = {"phase": {**STRING, "enum": ["a"]}, "count": {"type": "integer"}, "conditions": conditions}
    schema = {
        "type": "object",
        "properties": {"status": {"type": "object", "required": ["phase"], "properties": fields}},
    }
    kind = make_kind(schema={"openAPIV3Schema": schema}, subresources={"status": {}})
    value = {"apiVersion": "example.com/v1", "kind": "Probe", "metadata": {"name": "x"}, "status": status}
    problems = judge(value, kind)
    assert (problems[0].rule if problems else None) == rule


def test_required_status_that_create_drops():
    """A CRD that requires a status which create drops has no valid object, and the server says so of each."""
    schema = {"type": "object", "required": ["status"], "properties": {"status": {"type": "object"}}}
    kind = make_kind(schema={"openAPIV3Schema": schema}, subresources={"status": {}})
    assert [item.rule for item in judge({"metadata": {"name": "x"}, "status": {}}, kind)] == ["schema/required"]


def test_status_without_subresource_is_judged():
    """Without the subresource a status is a field like any other."""
    schema = {"type": "object", "properties": {"status": {"type": "object", "required": ["phase"]}}}
    kind = make_kind(schema={"openAPIV3Schema": schema})
    assert [item.rule for item in judge({"metadata": {"name": "x"}, "status": {}}, kind)] == ["schema/required"]


@pytest.mark.parametrize(("kubernetes", "count"), [("1.34", 0), ("1.35", 0), ("1.36", 1), ("1.36.3", 1)])
def test_width_of_integers(kubernetes, count):
    """Only from Kubernetes 1.36 on is an int32 of a CRD held to 32 bits."""
    assert len(judge(make_object({"whole": 3_000_000_000}), PROBE, kubernetes)) == count


SCALES = {
    "none": ({}, 0),
    "zero": ({"replicas": 0}, 0),
    "negative": ({"replicas": -1}, 1),
    "null": ({"replicas": None}, 1),
}


@pytest.mark.parametrize(("spec", "count"), SCALES.values(), ids=SCALES)
def test_replicas_of_a_scale_subresource(spec, count):
    """What the scale subresource reads as replicas is an integer from 0 on."""
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    properties = {"replicas": {"type": "integer", "nullable": True}}
    schema = make_crd(properties)["spec"]["versions"][0]["schema"]
    kind = make_kind(schema=schema, subresources={"scale": paths})
    assert [item.rule for item in judge(make_object(spec), kind)] == ["schema/scale"] * count


def test_problems_say_where_and_what_to_do():
    """A message has the value, what it should be, and the near miss; the path leads to the field."""
    problems = judge(make_object({"ports": [{"port": "80", "protocl": "TCP"}], "choice": "aa"}), PROBE)
    assert [(problem.path, problem.message) for problem in problems] == [
        (("spec", "ports", 0, "port"), 'must be of type integer, but is string "80"'),
        (("spec", "ports", 0, "protocl"), "unknown field 'protocl'; did you mean 'protocol'?"),
        (("spec", "choice"), 'unsupported value: "aa": supported values: "a", "b"; did you mean \'a\'?'),
    ]
    assert all(problem.source for problem in problems)


def test_required_of_core_kinds(known):
    """Where asked, what OpenAPI requires of a core kind is required, but for what the server does not."""
    kind = known.lookup("rbac.authorization.k8s.io", "v1", "RoleBinding")
    value = {
        "apiVersion": kind.api_version,
        "kind": "RoleBinding",
        "metadata": {"name": "x"},
        "roleRef": {"kind": "Role"},
    }
    assert judge(value, kind) == []
    assert [item.path for item in judge(value, kind, required=True)] == [("roleRef", "name")]


@pytest.mark.parametrize("value", [None, [], "x", 5, {"metadata": []}, {"spec": "x"}, {"spec": {"ports": 5}}])
def test_any_shape_is_judged(value):
    """Whatever is decoded is judged; nothing raises."""
    assert all(isinstance(item, Problem) for item in judge(value, PROBE))


def test_defaults_are_recursive():
    """Defaults go in where a field is absent or null, beneath defaults too, and the input stays as it is."""
    value = make_object({"ports": [{"port": 1}], "nested": None, "nullable": None})
    filled = defaults.apply(value, PROBE)
    assert filled["spec"] == {
        "ports": [{"port": 1, "protocol": "TCP"}],
        "nested": {"size": 3},
        "nullable": None,
        "filled": "x",
    }
    assert value["spec"] == {"ports": [{"port": 1}], "nested": None, "nullable": None}
    assert defaults.apply({"spec": "text"}, PROBE) == {"spec": "text"}


def test_defaults_are_not_shared():
    """Two objects never share a default: a change in one stays there."""
    first, second = (defaults.apply(make_object({}), PROBE) for _ in range(2))
    first["spec"]["nested"]["size"] = 9
    assert second["spec"]["nested"] == {"size": 3}


FORMATS = {
    "byte": ("aGVsbG8=", "###"),
    "cidr": ("10.0.0.0/24", "10.0.0.0"),
    "creditcard": ("4111 1111 1111 1111", "4111 1111 1111 1112"),
    "date": ("2024-02-29", "2023-02-29"),
    "date-time": ("2024-02-29t23:59:59.1Z", "2024-02-29T24:00:00Z"),
    "duration": ("1h30m", "soon"),
    "email": ("a@example.com", "a.example.com"),
    "hexcolor": ("#ffaa00", "#ffaa0"),
    "hostname": ("node-1.example.com", "-node"),
    "ipv4": ("010.1.2.3", "10.1.2"),
    "ipv6": ("fe80::1", "fe80::1::2"),
    "isbn10": ("0-321-75104-3", "0321751044"),
    "isbn13": ("978-0-321-75104-1", "9780321751042"),
    "k8s-long-name": ("a-b.c", "a_b"),
    "k8s-short-name": ("a-b", "a.b"),
    "mac": ("01:23:45:67:89:ab", "01:23:45:67:89"),
    "rgbcolor": ("rgb(1, 2, 255)", "rgb(1,2,256)"),
    "ssn": ("111-22-3333", "111-22-333"),
    "uri": ("https://a.example.com:8443/x?y=%zz", "a.example.com"),
    "uuid": ("123E4567-e89b-12d3-a456-426614174000", "123e4567"),
    "uuid4": ("123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_formats(name):
    """A known format accepts what go-openapi accepts."""
    right, wrong = FORMATS[name]
    is_right = formats.find(name)
    assert is_right is not None
    assert is_right(right)
    assert not is_right(wrong)


def test_scala_durations_and_unknown_formats():
    """A duration may be Scala's, any number with a unit counts, and unknown formats are no formats."""
    is_duration = formats.find("duration")
    assert is_duration is not None
    assert all(is_duration(text) for text in ("22 ns", "3 days", "in 5 hours or so", "1.5h", "-2m", "0"))
    assert not any(is_duration(text) for text in ("", "5", "5 apples"))
    assert formats.find("quantity") is None
    assert formats.find("password")("anything") is True  # type: ignore[misc]  # the format exists


URIS = {
    "/path": True,
    "mailto:a": True,
    "*": True,
    "http://[::1]:80/": True,
    "http://user:pass@host/": True,
    "http://host:port/": False,
    "http://a b/": False,
    "http://host/%zz": False,
    "//host/path": True,
    "": False,
    ":x": False,
    "http://[::1": False,
    "http://a\x7f": False,
}


@pytest.mark.parametrize(("text", "right"), URIS.items(), ids=[repr(text) for text in URIS])
def test_uris(text, right):
    """A URI is one that Go reads from a request."""
    is_uri = formats.find("uri")
    assert is_uri is not None
    assert is_uri(text) is right
