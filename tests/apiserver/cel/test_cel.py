"""CEL against recorded answers of the real library, typed fields, issues, unknowns, budgets and blame."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trainyard.upstream.apiserver.cel import DYN, CelError, CompileError, Environment, Unknown, values
from trainyard.upstream.apiserver.cel.declare import Declarations
from trainyard.upstream.apiserver.cel.errors import TooDeepError
from trainyard.upstream.apiserver.cel.library import times
from trainyard.upstream.apiserver.cel.library.quantity import Amount
from trainyard.upstream.apiserver.cel.library.semver import Version
from trainyard.upstream.apiserver.cel.names import escape
from trainyard.upstream.apiserver.cel.types import BOOL, STRING

RECORDED = sorted(Path(__file__).parent.glob("*.txt"))


def spelled(value: Any) -> str:
    """Spell a value as the recorded answers do."""
    if value is None or isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, values.UInt):
        return f"{int(value)}u"
    if isinstance(value, float):
        return f"double({value})"
    if isinstance(value, bytes):
        return f"bytes({value.hex()})"
    if isinstance(value, values.Timestamp):
        return f"timestamp({times.timestamp_text(values.Timestamp(value.nanoseconds))})"
    if isinstance(value, values.Duration):
        return f"duration({value.nanoseconds})"
    if isinstance(value, values.Optional):
        return f"optional({spelled(value.value)})" if value.present else "none"
    if isinstance(value, list):
        return f"[{', '.join(map(spelled, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{spelled(key)}: {spelled(entry)}" for key, entry in value.items())) + "}"
    if isinstance(value, values.Opaque):
        return f"{value.type}({content(value.content)})"
    return str(value)


def content(value: Any) -> str:
    """Spell what a library's own type holds."""
    if isinstance(value, Amount):
        return value.quantity.canonical()
    if isinstance(value, Version):
        return ".".join(map(str, value.numbers))
    return f"{value.ip}/{value.network.prefixlen}" if hasattr(value, "network") else str(value)


def answer(environment: Environment, expression: str, **bindings: Any) -> str:
    """Evaluate, and spell the result or the kind of failure."""
    try:
        found = environment.compile(expression).evaluate(bindings)
    except CompileError:
        return "does not compile"
    return "error" if isinstance(found, CelError) else spelled(found)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_answers_are_those_of_the_real_library(path):
    """Every recorded expression gives what the library of the API server gave."""
    environment = Environment({}, 35)
    lines = [line.rsplit("  ->  ", 1) for line in path.read_text().splitlines()[1:]]
    wrong = [
        (expression, right, found) for expression, right in lines if (found := answer(environment, expression)) != right
    ]
    assert not wrong
    assert len(lines) > 10


TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
SET = {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}
ITEM = {"type": "object", "properties": {"k": TEXT, "v": NUMBER}}
SCHEMA = {
    "type": "object",
    "properties": {
        "namespace": TEXT,
        "a-b": NUMBER,
        "x.y": TEXT,
        "p/q": TEXT,
        "a__b": TEXT,
        "if": TEXT,
        "size": NUMBER,
        "nullable": {"type": "string", "nullable": True},
        "either": {"x-kubernetes-int-or-string": True},
        "anything": {"x-kubernetes-preserve-unknown-fields": True},
        "kept": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "set": SET,
        "items": {
            "type": "array",
            "items": ITEM,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
        },
        "time": {"type": "string", "format": "date-time"},
        "day": {"type": "string", "format": "date"},
        "span": {"type": "string", "format": "duration"},
        "bytes": {"type": "string", "format": "byte"},
        "number": {"type": "number"},
        "map": {"type": "object", "additionalProperties": NUMBER},
        "times": {"type": "array", "items": {"type": "string", "format": "date-time"}},
        "one": {"type": "object", "properties": {"s": SET}},
        "two": {"type": "object", "properties": {"s": SET}},
        "ones": {"type": "array", "items": {"type": "object", "properties": {"s": SET}}},
        "embedded": {"type": "object", "x-kubernetes-embedded-resource": True},
    },
}
OBJECT = {
    "apiVersion": "example.com/v1",
    "kind": "Example",
    "metadata": {"name": "it", "labels": {}},
    "namespace": "ns",
    "a-b": 1,
    "x.y": "xy",
    "p/q": "pq",
    "a__b": "ab",
    "if": "i",
    "size": 3,
    "nullable": None,
    "either": "5",
    "anything": {"z": 1},
    "kept": {"z": 1},
    "set": ["a", "b"],
    "items": [{"k": "x", "v": 1}, {"k": "y", "v": 2}],
    "time": "2026-01-01T00:00:00Z",
    "day": "2026-01-02",
    "span": "90m",
    "bytes": "aGk=",
    "number": 1,
    "map": {"a": 1},
    "times": ["2026-01-01T00:00:00Z", "2025-01-01T00:00:00+01:00"],
    "one": {"s": ["a", "b"]},
    "two": {"s": ["b", "a"]},
    "ones": [{"s": ["a", "b"]}, {"s": ["b", "a"]}],
    "embedded": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {}}},
}
TYPED = {
    "self.namespace": '"ns"',
    "self.__namespace__": '"ns"',
    "self.if": '"i"',
    "self.a__dash__b": "1",
    "self.x__dot__y": '"xy"',
    "self.p__slash__q": '"pq"',
    "self.a__underscores__b": '"ab"',
    "self.a__b": "does not compile",
    "self.size == 3": "true",
    "self.nope": "does not compile",
    "has(self.nope)": "does not compile",
    "self.?nope": "does not compile",
    "has(self.nullable)": "false",
    "self.nullable": "error",
    "self.?nullable": "none",
    "self.nullable == null": "does not compile",
    "self.either == '5'": "true",
    "self.either == 5": "false",
    "self.either + 1": "error",
    "int(self.either) + 1": "6",
    "self.anything": "does not compile",
    "self.kept.z": "does not compile",
    "self.kept == self.kept": "true",
    "self.set == ['b', 'a']": "true",
    "['b', 'a'] == self.set": "false",
    "self.set + ['a', 'c']": '["a", "b", "c"]',
    "self.set.filter(x, true) == ['b', 'a']": "false",
    "dyn(self.set) == dyn(['b', 'a'])": "true",
    "[self.set] == [['b', 'a']]": "true",
    "self.items + self.items == self.items": "true",
    "self.items.filter(e, e.k == 'x') == self.items": "false",
    "self.time > timestamp('2025-01-01T00:00:00Z')": "true",
    "self.day.getDate()": "2",
    "self.span == duration('1h30m')": "true",
    "self.bytes.size()": "2",
    "self.number + 1.0": "double(2.0)",
    "self.number == 1": "does not compile",
    "self.map.a + self.map['a']": "2",
    "'a' in self.map": "true",
    "self.map.b": "error",
    "self.?map.?b.orValue(7)": "7",
    "self.times.max()": "timestamp(2026-01-01T00:00:00Z)",
    "self.times[1]": "timestamp(2024-12-31T23:00:00Z)",
    "self.times.all(t, t < self.time + duration('1s'))": "true",
    "self.one == self.two": "does not compile",
    "self.one.s == self.two.s": "true",
    "self.ones[0] == self.ones[1]": "true",
    "self.ones[1] in [self.ones[0]]": "true",
    "self['namespace']": "does not compile",
    "'namespace' in self": "does not compile",
    "self.metadata.name": '"it"',
    "self.metadata.labels": "does not compile",
    "has(self.metadata.generateName)": "false",
    "self.kind": '"Example"',
    "self.embedded.metadata.name": '"p"',
    "self.embedded.metadata.labels": "does not compile",
    "self.embedded.spec": "does not compile",
    "type(self.one) == map": "true",
    "self == self": "true",
}
"""What the real library answers on the same schema and object."""


@pytest.mark.parametrize(("expression", "right"), TYPED.items(), ids=TYPED)
def test_fields_are_typed_by_the_schema(expression, right):
    """A field has the type, the name and the equality that its schema says."""
    declarations = Declarations()
    environment = Environment({"self": declarations.type(SCHEMA, root=True)}, 35)
    assert answer(environment, expression, self=declarations.convert(SCHEMA)(OBJECT)) == right


PLAIN = {
    "has(self.one) && self.map.all(k, k != 'b')": True,
    "self.items.all(e, e.v > 0)": True,
    "self.ones.exists(o, has(o.s))": True,
    "self.items == self.items": False,
    "self.time == self.time": False,
    "self.number > 0.5": False,
    "self.set.size() == 2": False,
}


@pytest.mark.parametrize(("expression", "plain"), PLAIN.items(), ids=PLAIN)
def test_only_what_needs_it_is_converted(expression, plain):
    """An expression takes plain JSON unless it looks at a set, a time or a double, or compares what may hold one."""
    environment = Environment({"self": Declarations().type(SCHEMA, root=True)}, 35)
    assert environment.compile(expression).plain is plain


ISSUES = {
    "a typing error names the near miss": ("self.embeded", "undefined field 'embeded'; did you mean 'embedded'?", 4),
    "a function": ("self.kind.startWith('a')", "undeclared reference to 'startWith'; did you mean 'startsWith'?", 19),
    "a variable": ("sel.kind", "undeclared reference to 'sel'; did you mean 'self'?", 0),
    "types that do not agree": (
        "self.size == 'a'",
        "found no matching overload for '_==_' applied to '(int, string)'",
        10,
    ),
    "a test that is none": (
        "self.size ? 1 : 2",
        "found no matching overload for '_?_:_' applied to '(int, int, int)'",
        10,
    ),
    "a pattern that cannot be read": (
        "self.kind.matches('[')",
        "invalid matches argument: error parsing regexp: missing ]: [",
        18,
    ),
    "no end": ("self.size +", "Syntax error: mismatched input '<EOF>'", 11),
    "a field of a number": ("self.size.x", "type 'int' does not support field selection", 9),
}


@pytest.mark.parametrize(("expression", "message", "offset"), ISSUES.values(), ids=ISSUES)
def test_issues_say_what_is_wrong_and_where(expression, message, offset):
    """An expression that does not compile is an issue with its place and, where there is one, the near miss."""
    environment = Environment({"self": Declarations().type(SCHEMA, root=True)}, 35)
    with pytest.raises(CompileError) as caught:
        environment.compile(expression)
    assert caught.value.issues[0].message.startswith(message)
    assert caught.value.issues[0].offset == offset


def test_result_must_be_of_the_type_asked_for():
    """A rule that is no bool does not compile, and neither does one whose type is not known."""
    environment = Environment({"object": DYN}, 35)
    assert environment.compile("1 == 1", BOOL).type == BOOL
    for expression in ("1", "object.spec.x"):
        with pytest.raises(CompileError, match="must evaluate to bool"):
            environment.compile(expression, BOOL)


LIBRARIES = {
    "slices came with 1.34": ("[1, 2].slice(0, 1) == [1]", 33, 34),
    "sorting came with 1.34": ("[2, 1].sortBy(x, x) == [1, 2]", 33, 34),
    "versions came with 1.33": ("semver('1.2.3').major() == 1", 32, 33),
}


@pytest.mark.parametrize(("expression", "without", "since"), LIBRARIES.values(), ids=LIBRARIES)
def test_functions_are_those_of_the_release(expression, without, since):
    """A release of Kubernetes has its own functions and macros."""
    assert answer(Environment({}, without), expression) == "does not compile"
    assert answer(Environment({}, since), expression) == "true"


ERRORS = {
    "{'a': 1}.b": "no such key: b",
    "[1][2]": "index out of bounds: 2",
    "1 / 0": "division by zero",
    "1 % 0": "modulus by zero",
    "9223372036854775807 + 1": "integer overflow",
    "1u - 2u": "unsigned integer overflow",
    "'a'.charAt(3)": "index out of range: 3",
    "'abc'.substring(2, 1)": "invalid substring range. start: 2, end: 1",
    "dyn('a') + 1": "no such overload",
    "optional.none().value()": "optional.none() dereference",
    "quantity('1KiKi')": "unable to parse quantity's suffix",
    "quantity('1m').asInteger()": "cannot convert value to integer",
    "ip('fe80::1%eth0')": 'IP address "fe80::1%eth0" with zone value is not allowed',
    "[1, 2].slice(0, 3)": "cannot slice(0, 3), list is length 2",
    "{'a': 'x', 'b': 'x'}.transformMapEntry(k, v, {v: k})": "insert failed: key x already exists",
}


@pytest.mark.parametrize(("expression", "message"), ERRORS.items(), ids=ERRORS)
def test_errors_are_in_the_words_of_the_server(expression, message):
    """A failed evaluation says why as the server does."""
    found = Environment({}, 35).compile(expression).evaluate({})
    assert isinstance(found, CelError)
    assert found.message == message


UNKNOWNS = {
    "what is unknown stays so": ("who.name == 'a'", "the user"),
    "a false side decides": ("who.name == 'a' && 1 == 2", False),
    "a true side decides": ("1 == 1 || who.name == 'a'", True),
    "it weighs more than an error": ("1 / 0 > 0 || who.name == 'a'", "the user"),
    "over elements as well": ("[1, 2].exists(x, x == 2 || who.name == 'a')", True),
}


@pytest.mark.parametrize(("expression", "right"), UNKNOWNS.values(), ids=UNKNOWNS)
def test_unknown_is_a_third_answer(expression, right):
    """A variable that only a cluster knows makes unknown what depends on it, and nothing else."""
    found = Environment({"who": DYN}, 35).compile(expression).evaluate({"who": Unknown("the user")})
    if isinstance(found, Unknown):
        found = found.message
    assert found == right


def test_endless_expressions_are_cancelled():
    """An expression has a budget, as on the server."""
    loops = "l.all(a, l.all(b, l.all(c, l.all(d, a + b + c + d >= 0))))"
    found = Environment({"l": DYN}, 35).compile(loops).evaluate({"l": list(range(60))})
    assert isinstance(found, CelError)
    assert "cost limit exceeded" in found.message


def test_deep_nesting_is_unknown_rather_than_wrong():
    """What the parser cannot read is told apart from what is wrong."""
    with pytest.raises(TooDeepError):
        Environment({}, 35).compile("(" * 60 + "1" + ")" * 60)


def test_values_of_other_types_than_declared_fail():
    """A broken object makes an expression fail; it never stops the run."""
    found = Environment({"self": Declarations().type(SCHEMA, root=True)}, 35).compile("self.kind.size() > 1")
    assert isinstance(found.evaluate({"self": {"kind": 3}}), CelError)
    assert isinstance(found.evaluate({"self": [1]}), CelError)


PODS = {
    "spec": {"containers": [{"name": "a", "ports": [{"port": 1}]}, {"name": "b", "ports": [{"port": 2}, {"port": 0}]}]}
}
BLAME = {
    "the element that all fails on": ("o.spec.containers.all(c, c.name == 'a')", ("spec", "containers", 1, "name")),
    "the innermost": (
        "o.spec.containers.all(c, c.ports.all(p, p.port > 0))",
        ("spec", "containers", 1, "ports", 1, "port"),
    ),
    "an element that exists": ("!o.spec.containers.exists(c, c.name == 'b')", ("spec", "containers", 1, "name")),
    "the failing half": (
        "o.spec.containers.all(c, true) && o.spec.containers.all(c, c.name == 'b')",
        ("spec", "containers", 0, "name"),
    ),
    "an entry of a map": ("o.spec.containers.all(c, c.all(k, k != 'ports'))", ("spec", "containers", 0, "ports")),
    "through lists of its own": (
        "[o.spec.containers].all(l, l.filter(c, true).all(c, c.name == 'a'))",
        ("spec", "containers", 1, "name"),
    ),
    "the chosen side": (
        "has(o.spec) ? o.spec.containers.all(c, c.name == 'a') : true",
        ("spec", "containers", 1, "name"),
    ),
    "a field that should not be there": ("!has(o.spec.containers)", ("spec", "containers")),
    "an element of which a function says so": (
        "o.spec.containers.all(c, c.name.matches('a'))",
        ("spec", "containers", 1),
    ),
    "an element without the field": ("o.spec.containers.all(c, has(c.image))", ("spec", "containers", 0)),
    "nothing where no part shows": ("o.spec.containers.size() == 9", None),
}


@pytest.mark.parametrize(("expression", "path"), BLAME.values(), ids=BLAME)
def test_culprit_is_the_part_that_breaks_the_rule(expression, path):
    """A false expression points at the field that it compares, else at the element or entry that makes it false."""
    program = Environment({"o": DYN}, 35).compile(expression)
    assert program.evaluate({"o": PODS}) is False
    culprit = program.culprit({"o": PODS})
    assert (culprit.path(PODS) if culprit else None) == path


NAMES = {
    "a": "a",
    "a-b": "a__dash__b",
    "a.b/c": "a__dot__b__slash__c",
    "in": "__in__",
    "a__b": "a__underscores__b",
    "9a": None,
    "a b": None,
    "": None,
}


@pytest.mark.parametrize(("name", "escaped"), NAMES.items(), ids=NAMES)
def test_property_names_become_identifiers(name, escaped):
    """A property is reachable under its escaped name, or not at all."""
    assert escape(name) == escaped


def test_compiling_again_is_free():
    """An environment compiles an expression once, also one that is wrong."""
    environment = Environment({"s": STRING}, 35)
    assert environment.compile("s == 'a'") is environment.compile("s == 'a'")
    errors = []
    for _ in range(2):
        with pytest.raises(CompileError) as caught:
            environment.compile("t")
        errors.append(caught.value)
    assert errors[0] is errors[1]


HUGE = {
    "counting": "lists.range(1000000000).size() > 0",
    "joining": "[1, 2, 3].map(x, l + l + l + l).map(t, t + t + t + t + t + t + t).size() > 0",
    "replacing": "l.replace('a', l).size() > 0",
    "formatting": "'%.999999999f'.format([1.0]).size() > 5000",
}


@pytest.mark.parametrize("expression", HUGE.values(), ids=HUGE)
def test_nothing_grows_without_bound(expression):
    """No expression makes more text or elements than an API object could need."""
    found = Environment({"l": STRING}, 35).compile(expression).evaluate({"l": "a" * 1_000_000})
    assert found is False or isinstance(found, CelError)


def test_text_that_is_no_unicode_does_not_compile():
    """A lone surrogate is an issue, not a failure of the parser."""
    with pytest.raises(CompileError, match="no valid Unicode"):
        Environment({}, 35).compile("'\ud800' == 'a'")


HUGE = {
    "quantity('1e1000000000').isInteger()": "false",
    "quantity('0e1000000000').isInteger()": "true",
    "quantity('1e1000000000').asInteger()": "error",
    "quantity('-1e1000000000').asApproximateFloat() < 0.0": "true",
    "quantity('1e1000000000').compareTo(quantity('1e999999999'))": "1",
    "sign(quantity('-1e1000000000'))": "-1",
    "quantity('1e1000000000').add(quantity('1')).isInteger()": "error",
}


@pytest.mark.parametrize(("expression", "right"), HUGE.items(), ids=HUGE)
def test_quantities_of_a_billion_digits_are_never_written_out(expression, right):
    """The exponent is looked at before a number is made; a sum that a server would write out is not known here."""
    assert answer(Environment({}, 35), expression) == right
