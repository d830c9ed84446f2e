"""Defaults that the API server's code fills in, and fields that it drops before it judges."""

from __future__ import annotations

import copy
from typing import Any

from apiserver import core_objects as objects
from apiserver.core_objects import altered
from trainyard.upstream.apiserver.core import defaults


def filled(value: dict[str, Any], kubernetes: str = "1.35") -> dict[str, Any]:
    """Return a copy with defaults."""
    return defaults.apply(copy.deepcopy(value), kubernetes)


def test_a_pod() -> None:
    """A Pod gets policies, and requests for what is limited."""
    spec = filled(altered(objects.POD, {"spec.restartPolicy": None}))["spec"]
    container = spec["containers"][0]
    assert spec["restartPolicy"] == "Always"
    assert (spec["dnsPolicy"], spec["schedulerName"]) == ("ClusterFirst", "default-scheduler")
    assert container["imagePullPolicy"] == "IfNotPresent"
    assert container["resources"]["requests"] == container["resources"]["limits"]


def test_a_template_copies_no_limits() -> None:
    """Limits become requests in Pods alone, not in templates."""
    container = filled(objects.JOB)["spec"]["template"]["spec"]["containers"][0]
    assert "requests" not in container["resources"]


def test_an_image_without_a_tag_is_always_pulled() -> None:
    """So is one tagged latest; one with a digest is not."""
    for image, policy in (
        ("a", "Always"),
        ("a:latest", "Always"),
        ("a:1", "IfNotPresent"),
        ("a@sha256:" + "0" * 64, "IfNotPresent"),
    ):
        spec = filled(altered(objects.POD, {"spec.containers.0.image": image}))["spec"]
        assert spec["containers"][0]["imagePullPolicy"] == policy, image


def test_a_job() -> None:
    """A Job without counts runs one pod; one with a count of its own keeps it."""
    one = filled(altered(objects.JOB, {"spec.completions": None}))["spec"]
    assert (one["completions"], one["parallelism"], one["backoffLimit"]) == (1, 1, 6)
    many = filled(objects.JOB)["spec"]
    assert (many["completions"], many["parallelism"]) == (4, 1)


def test_a_job_by_index() -> None:
    """A limit by index takes the place of the limit of the whole."""
    assert filled(altered(objects.JOB, {"spec.backoffLimitPerIndex": 1}))["spec"]["backoffLimit"] == 2**31 - 1


def test_a_service() -> None:
    """A Service's port names its target and protocol."""
    assert filled(objects.SERVICE)["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 80}]


def test_a_secret() -> None:
    """A Secret of no type is opaque."""
    assert filled(objects.SECRET)["type"] == "Opaque"


def test_a_definition() -> None:
    """A definition names its singular and its list."""
    names = filled(objects.DEFINITION)["spec"]["names"]
    assert (names["singular"], names["listKind"]) == ("run", "RunList")


def test_fields_behind_gates() -> None:
    """A field whose gate is off in a release is dropped there."""
    pod = altered(objects.POD, {"spec.hostnameOverride": "a"})
    assert "hostnameOverride" not in filled(pod, "1.34")["spec"]
    assert filled(pod, "1.35")["spec"]["hostnameOverride"] == "a"


def test_other_kinds_stay_as_they_are() -> None:
    """An object of no core kind is returned as it is."""
    for value in ({}, {"apiVersion": "example.com/v1", "kind": "Run", "spec": {"a": 1}}, {"apiVersion": 5, "kind": []}):
        assert filled(value) == value
