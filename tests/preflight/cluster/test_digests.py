"""What a cluster pins by digest is pinned wherever our objects name it, or else it is said that it is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from everything import OPERATORS, everything, source
from trainyard.judge.preflight.cluster.digests import check
from trainyard.render.operators.install import installed_operators

DIGEST = "sha256:" + "ab" * 32

WRONG: dict[str, tuple[str, str, str]] = {
    "a slip": ("multus", "deamon", "multus has no image 'deamon'; did you mean 'daemon'?"),
    "an image of the chart": ("kueue", "manager", "the chart of kueue names its images; pin 'manager' in its values"),
    "a driver, which each node has its own of": (
        "gpu-operator",
        "driver",
        "driver has a different image for each system and kernel; pin it in your registry mirror",
    ),
}

IMAGES = {
    "multus": ("daemon", f"multus-cni:v4.3.0-thick@{DIGEST}"),
    "gpu-operator": ("devicePlugin", DIGEST),
    "amd-gpu-operator": ("devicePlugin", f"k8s-device-plugin:1.31.0.10@{DIGEST}"),
}
"""By operator a component, and what objects have of it then."""


def pinned(operator: str, component: str) -> dict[str, Any]:
    """Return all operators, one of them with a digest."""
    return {**OPERATORS, operator: {**OPERATORS[operator], "digests": {component: DIGEST}}}


@pytest.mark.parametrize(("operator", "component", "message"), WRONG.values(), ids=WRONG)
def test_a_digest_that_pins_nothing_is_told(operator, component, message):
    """One finding at the name."""
    changes = {"operators": pinned(operator, component)}
    found = list(check(everything(**changes), source(**changes)))
    path = f"operators.{operator}.digests.{component}"
    assert [(item.rule, str(item.path), item.message) for item in found] == [("values/digest", path, message)]
    assert found[0].location.line is not None


@pytest.mark.parametrize(("operator", "named"), IMAGES.items(), ids=IMAGES)
def test_objects_have_the_digest(operator, named):
    """Every object that names the image has it, and none has its tag alone."""
    component, expected = named
    cluster = everything(operators=pinned(operator, component))
    assert list(check(cluster, source())) == []
    site, known = next((site, known) for site, known in installed_operators(cluster) if site.name == operator)
    fields = [dict(item.fields) for item in (*known.own(site), *known.hardware(site))]
    text = json.dumps(fields)
    assert expected in text
    assert expected == DIGEST or f'{expected.partition("@")[0]}"' not in text
