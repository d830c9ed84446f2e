"""Operators that own one definition, or that one of them excludes, are both named."""

from __future__ import annotations

from everything import OPERATORS, everything, source
from trainyard.preflight.pairing import check


def test_two_drivers_of_dynamic_resources_own_the_same_definitions():
    """The GPU operator brings what the DRA driver is: it says so itself, and both own the definitions."""
    operators = {**OPERATORS, "dra-driver-nvidia-gpu": {"version": "0.4.0", "managed": False}}
    found = check(everything(operators=operators), source(operators=operators))
    assert [(each.rule, each.path, each.message) for each in found] == [
        (
            "pairing/excludes",
            "operators.gpu-operator",
            (
                "gpu-operator excludes dra-driver-nvidia-gpu: it deploys the DRA driver itself, with GPUCluster;"
                " remove one"
            ),
        ),
        (
            "pairing/shared-definition",
            "operators.dra-driver-nvidia-gpu",
            (
                "dra-driver-nvidia-gpu and gpu-operator both own computedomaincliques.resource.nvidia.com;"
                " have dra-driver-nvidia-gpu installed without it, and waive this"
            ),
        ),
    ]
