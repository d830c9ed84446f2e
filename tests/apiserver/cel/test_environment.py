"""Environments share programs, and only those that are the same for each of them."""

from __future__ import annotations

import pytest

from trainyard.upstream.apiserver.admission.policies.declarations import record
from trainyard.upstream.apiserver.cel import DYN, CompileError, Environment, Program
from trainyard.upstream.apiserver.cel.alike import CHANGED
from trainyard.upstream.apiserver.cel.declare import Declarations
from trainyard.upstream.apiserver.cel.environment import references
from trainyard.upstream.apiserver.cel.library import LIBRARIES, library
from trainyard.upstream.apiserver.cel.parse import SORT_SINCE
from trainyard.upstream.apiserver.cel.types import BOOL, INT, STRING, Type


def compiled(expression: str, minor: int = 35, **variables: Type) -> Program:
    """Compile an expression in an environment of its own."""
    return Environment(variables, minor).compile(expression)


def test_equal_variables_share_a_program():
    """What the expression does not name makes no difference."""
    first = compiled("object.a == 1", object=DYN, request=STRING)
    assert compiled("object.a == 1", object=DYN, params=DYN) is first


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"object": DYN}, {"object": INT}),
        ({"object": INT}, {"object": STRING}),
        ({"object": record({"a": INT})}, {"object": record({"a": INT})}),
    ],
)
def test_other_types_compile_again(one, other):
    """A program knows the types of its variables; two declared objects are never the same type."""
    assert compiled("[object] == [object]", **one) is not compiled("[object] == [object]", **other)


def test_releases_share_what_they_compile_alike():
    """Functions differ between some minor releases, and a program holds for all others."""
    assert compiled("object == 2", 33, object=DYN) is not compiled("object == 2", 34, object=DYN)
    assert compiled("object == 2", 34, object=DYN) is compiled("object == 2", 37, object=DYN)
    assert {library(name).since for name in LIBRARIES} - {0} | {SORT_SINCE} == {*CHANGED}


def test_sets_of_a_schema_are_not_taken_for_lists():
    """Their types are equal, but values of the one must be converted before a program compares them."""
    items = {"type": "array", "items": {"type": "string"}}
    declare = Declarations(metadata=None, nullable_fields=False)
    plain, as_set = declare.type(items), declare.type({**items, "x-kubernetes-list-type": "set"})
    assert plain == as_set
    assert compiled("self == other", self=plain, other=plain).plain
    assert not compiled("self == other", self=as_set, other=as_set).plain


def test_fields_of_variables_count_by_name():
    """A policy's variables grow while it is compiled; an expression sees the types of those that it names."""
    fields: dict[str, Type] = {"a": BOOL}
    first = compiled("variables.a", variables=record(fields))
    fields["b"] = INT
    assert compiled("variables.a", variables=record(fields)) is first
    assert compiled("variables.a", variables=record({"a": STRING})).type == STRING
    with pytest.raises(CompileError, match="undefined field 'a'"):
        compiled("variables.a", variables=record({"b": BOOL}))


@pytest.mark.parametrize(
    ("expression", "names", "fields"),
    [
        ("variables.a && has(variables.b)", {"variables"}, {"a", "b"}),
        ("variables == object", {"variables", "object"}, None),
        ("variables.?a.orValue(true)", {"variables"}, None),
        ("object.all(variables, variables.a)", {"object", "variables"}, {"a"}),
        ("authorizer.requestResource.check('get').allowed()", {"authorizer"}, set()),
    ],
)
def test_references(expression, names, fields):
    """Read as a whole, `variables` counts with all of its fields."""
    assert references(expression, 35) == (names, fields)
