"""Steps of pipelines have a profile of their own, and a driver that nobody installs is told."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, make_cluster, make_source
from trainyard.judge.preflight.cluster import driver_field, pipelines

IMAGE = "registry.example.com/mirror/python@sha256:" + "4f" * 32
GPUS = {"pools": {"a100": {"shape": "dgx-a100", "nodes": 2}}, "topology": None, "queues": None}
OTHERS = {name: choice for name, choice in CLUSTER["operators"].items() if name != "gpu-operator"}
OPERATOR = {"version": "26.7.0"}

PROFILES = {
    "the team's own namespace": ({"nlp": "nlp"}, ["pipelines.namespaces.nlp"]),
    "a profile": ({"nlp": "nlp-pipelines"}, []),
    "none, which comes to each team's own": ({}, ["pipelines"]),
}

DRIVERS: dict[str, tuple[dict[str, Any], str, list[tuple[str, str]]]] = {
    "our operator": ({"gpu-operator": OPERATOR}, "operator", []),
    "somebody else's operator": (
        {"gpu-operator": {**OPERATOR, "managed": False}},
        "operator",
        [("spec/no-effect", "system.gpuDriver")],
    ),
    "no operator": ({}, "operator", [("pairing/needs", "system.gpuDriver")]),
    "the image's driver beside somebody else's operator": (
        {"gpu-operator": {**OPERATOR, "managed": False}},
        "system",
        [],
    ),
}


@pytest.mark.parametrize(("namespaces", "expected"), PROFILES.values(), ids=PROFILES)
def test_a_profile_is_no_namespace_of_runs(namespaces, expected):
    """A team's steps do not start where only its runs may."""
    changes = {"pipelines": {"image": IMAGE, "namespaces": namespaces}}
    source = make_source("platform/clusters/test.yaml", {**CLUSTER, **changes})
    assert [item.path for item in pipelines.check(make_cluster(**changes), source)] == expected


@pytest.mark.parametrize(("operators", "driver", "expected"), DRIVERS.values(), ids=DRIVERS)
def test_a_driver_of_the_operator_needs_one_of_ours(operators, driver, expected):
    """The field has an effect only where the operator is installed from here."""
    changes = {**GPUS, "operators": {**OTHERS, **operators}, "system": {"gpuDriver": driver}}
    source = make_source("platform/clusters/test.yaml", {**CLUSTER, **changes})
    cluster = make_cluster(**{key: value for key, value in changes.items() if value is not None})
    assert [(item.rule, item.path) for item in driver_field.check(cluster, source)] == expected
