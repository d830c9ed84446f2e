"""Memory and CPUs that a file gives a chart are enough for its own programs, and none is refused by the API server."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import ROOT
from make import CLUSTER, write_repository
from trainyard.judge import preflight

RULES = {"values/limit", "values/memory"}

CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "the chart's own": ({}, []),
    "more memory": ({"limits": {"memory": "2Gi"}}, []),
    "less memory": ({"limits": {"memory": "64Mi"}, "requests": {"memory": "64Mi"}}, ["warning limits.memory"]),
    "a limit below the chart's request": ({"limits": {"memory": "64Mi"}}, ["error limits.memory"]),
    "a limit of CPUs below the chart's request": ({"limits": {"cpu": "100m"}}, ["error limits.cpu"]),
    "a limit below the request beside it": (
        {"limits": {"cpu": 1, "memory": "1Gi"}, "requests": {"cpu": 2, "memory": "1Gi"}},
        ["error limits.cpu"],
    ),
    "fewer CPUs": ({"limits": {"cpu": "100m"}, "requests": {"cpu": "100m"}}, []),
    "no limit": ({"limits": None}, []),
    "no quantity": ({"limits": {"memory": "plenty"}}, []),
}


@pytest.mark.parametrize(("resources", "expected"), CASES.values(), ids=CASES)
def test_a_chart_gets_what_it_needs(tmp_path, resources, expected):
    """Each finding stands at the limit."""
    kueue = {"version": "0.19.2", "values": {"controllerManager": {"manager": {"resources": resources}}}}
    cluster = {**CLUSTER, "operators": {**CLUSTER["operators"], "kueue": kueue}}
    write_repository(tmp_path, jobs={}, clusters={"test": cluster})
    (tmp_path / "schemas").symlink_to(ROOT / "schemas")
    found = [item for item in preflight.check_repository(tmp_path).findings if item.rule in RULES]
    inside = "operators.kueue.values.controllerManager.manager.resources."
    assert [f"{item.severity} {item.path}".replace(inside, "") for item in found] == expected
