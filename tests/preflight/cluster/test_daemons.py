"""Daemons beside which jobs would never start, or would not fit, are reported."""

from __future__ import annotations

from typing import Any

import pytest

from everything import KUBELET, OPERATORS, source
from make import make_cluster
from trainyard.judge.preflight.cluster.daemons import check

WEKA = {"name": "weka", "cpus": 4, "memory": "24Gi", "guaranteed": True}
OURS = {name: OPERATORS[name] for name in ("multus", "whereabouts")}
THEIRS = {**OURS, "whereabouts": {**OPERATORS["whereabouts"], "managed": False}}
SAID = {"resources": {"limits": {"cpu": "100m", "memory": "50Mi"}}}
LOOSE = {**OURS, "whereabouts": {**OPERATORS["whereabouts"], "values": SAID}}
ALONE = {**KUBELET, "topologyManagerPolicy": "single-numa-node"}
LOOSE_MEMORY = {**KUBELET, "memoryManagerPolicy": "None"}

RULE = "numa-memory-guaranteed-daemon"
PINNED: dict[str, tuple[dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = {
    "as we install them": ({}, OURS, []),
    "somebody else's release with its chart's defaults": (
        {},
        THEIRS,
        [
            ("whereabouts", "operators.whereabouts"),
            ("whereabouts-controller", "operators.whereabouts"),
            ("whereabouts-reconciler", "operators.whereabouts"),
        ],
    ),
    "values that make it Guaranteed": (
        {},
        LOOSE,
        [
            ("whereabouts", "operators.whereabouts.values.resources"),
            ("whereabouts-controller", "operators.whereabouts.values.resources"),
        ],
    ),
    "controllers stay away from taints": (
        {"taints": [{"key": "gpu"}]},
        LOOSE,
        [("whereabouts", "operators.whereabouts.values.resources")],
    ),
    "a daemon of others": ({"daemons": [WEKA]}, {}, [("weka", "pools.h100.daemons[0]")]),
    "one that is not Guaranteed": ({"daemons": [{**WEKA, "guaranteed": False}]}, {}, []),
    "memory that is not pinned": ({"daemons": [WEKA], "kubelet": LOOSE_MEMORY}, THEIRS, []),
    "pods that fit one NUMA node": ({"daemons": [WEKA], "kubelet": ALONE}, THEIRS, []),
    "a kubelet of the provider's": ({"daemons": [WEKA], "kubelet": None}, THEIRS, []),
}


@pytest.mark.parametrize(("pool", "operators", "expected"), PINNED.values(), ids=PINNED)
def test_guaranteed_daemons_beside_pinned_memory(pool, operators, expected):
    """Their NUMA node leaves every group, so that no pod of a whole node is ever admitted."""
    pools = {"h100": {"shape": "dgx-h100", "nodes": 4, "kubelet": KUBELET, **pool}}
    changes = {"pools": pools, "operators": operators}
    found = list(check(make_cluster(**changes), source(**changes)))
    assert [(item.message.split("'")[1], item.path) for item in found] == expected
    assert all(item.rule == RULE for item in found)


def test_daemons_that_ask_for_more_than_is_kept():
    """Jobs are sized to what is left, so that the last pod of a node would stay pending."""
    values = {"resources": {"requests": {"cpu": 9, "memory": "50Gi"}, "limits": {"cpu": 10, "memory": "60Gi"}}}
    changes: dict[str, Any] = {
        "pools": {"h100": {"shape": "dgx-h100", "nodes": 4}},
        "operators": {"whereabouts": {**OPERATORS["whereabouts"], "values": values}},
    }
    found = list(check(make_cluster(**changes), source(**changes)))
    assert [item.message for item in found] == [
        "daemons of 'h100' request 9 CPUs, but the shape reserves 8 for them",
        "daemons of 'h100' request 50Gi of memory, but the shape reserves 48Gi for them",
    ]


MALFORMED = {
    "a word": ({"requests": {"cpu": "lots"}}, ["requests.cpu"]),
    "a truth": ({"limits": {"memory": True}}, ["limits.memory"]),
    "numbers, and defaults taken away": ({"requests": {"cpu": 0.1, "memory": None}, "limits": {"memory": "1e9"}}, []),
    "no map": ({"requests": "100m"}, []),
}


@pytest.mark.parametrize(("resources", "expected"), MALFORMED.values(), ids=MALFORMED)
def test_amounts_of_daemons_that_are_no_quantities(resources, expected):
    """They are said once, where the cluster's values have them, and everything else is checked all the same."""
    operators = {**OURS, "whereabouts": {**OPERATORS["whereabouts"], "values": {"resources": resources}}}
    changes = {"pools": {"h100": {"shape": "dgx-h100", "nodes": 4}}, "operators": operators}
    found = [item for item in check(make_cluster(**changes), source(**changes)) if item.rule == "node/daemon-amount"]
    assert [item.path for item in found] == [f"operators.whereabouts.values.resources.{path}" for path in expected]
