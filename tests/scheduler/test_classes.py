"""A resource that devices of a class serve is told, instead of a pod that finds no node."""

from __future__ import annotations

import pytest

from trainyard.upstream.scheduler.classes import serving_class

CLASSES = {
    "gpu.example.com": {"spec": {"extendedResourceName": "example.com/gpu"}},
    "plain.example.com": {"spec": {}},
}
IMPLIED = "deviceclass.resource.kubernetes.io/plain.example.com"

CASES = {
    "a class names the resource": ("example.com/gpu", (), "1.36", ("example.com/gpu", "gpu.example.com")),
    "it is GA": ("example.com/gpu", (), "1.37.2", ("example.com/gpu", "gpu.example.com")),
    "the gate is off before 1.36": ("example.com/gpu", (), "1.35", None),
    "a device plugin offers it": ("example.com/gpu", ("example.com/gpu",), "1.36", None),
    "the pod names a class": (IMPLIED, (), "1.36", (IMPLIED, "plain.example.com")),
    "the pod names a class that is not there": (IMPLIED + "s", (), "1.36", None),
    "nobody names the resource": ("example.com/other", (), "1.36", None),
}


@pytest.mark.parametrize(("resource", "offered", "kubernetes", "expected"), CASES.values(), ids=CASES)
def test_the_class_that_serves_a_resource(resource, offered, kubernetes, expected):
    """Of what no plugin offers, where the scheduler of the release asks classes."""
    assert serving_class([resource], CLASSES, offered, kubernetes) == expected
