"""The pools of a pod are those that its selector or its affinity names."""

from __future__ import annotations

import pytest

from trainyard.base.labels import POOL
from trainyard.base.pools import selected_pools


def required(*terms):
    """Return the spec of a pod with these terms, each a list of expressions."""
    nodes = {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": nodes}}}


def pool(*names, operator="In"):
    """Return an expression about the label of pools."""
    return {"key": POOL, "operator": operator, "values": list(names)}


OTHER = {"key": "zone", "operator": "In", "values": ["a"]}
PODS = {
    "a selector": ({"nodeSelector": {POOL: "a"}}, ("a",)),
    "an affinity to several": (required([pool("a", "b")]), ("a", "b")),
    "terms of which one holds": (required([pool("a")], [OTHER, pool("b", "a")]), ("a", "b")),
    "a term that any pool meets": (required([pool("a")], [OTHER]), ()),
    "an operator that forbids": (required([pool("a", operator="NotIn")]), ()),
    "nothing": ({}, ()),
    "no mapping": (None, ()),
    "terms that are none": ({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": 1}}}, ()),
    "an affinity that is a text": ({"affinity": "a"}, ()),
}


@pytest.mark.parametrize(("spec", "expected"), PODS.values(), ids=PODS)
def test_pools_of_a_pod(spec, expected):
    """A selector names one pool, an affinity several; none are named where some term leaves them open."""
    assert selected_pools(spec) == expected
