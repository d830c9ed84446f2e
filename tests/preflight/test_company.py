"""Operators that own one definition, or that one of them excludes, are both named."""

from __future__ import annotations

from everything import OPERATORS, everything, source
from trainyard.judge.preflight.cluster.pairing import check


def test_two_drivers_of_dynamic_resources_own_the_same_definitions():
    """The GPU operator brings what the DRA driver is: it says so itself, and both own the definitions."""
    operators = {**OPERATORS, "dra-driver-nvidia-gpu": {"version": "0.4.0", "managed": False}}
    found = check(everything(operators=operators), source(operators=operators))
    assert [(item.rule, item.path, item.message) for item in found] == [
        (
            "pairing/excludes",
            "operators.gpu-operator",
            (
                "gpu-operator conflicts with dra-driver-nvidia-gpu: it deploys the DRA driver itself, with "
                "GPUCluster; remove one"
            ),
        ),
        (
            "pairing/shared-definition",
            "operators.dra-driver-nvidia-gpu",
            (
                "dra-driver-nvidia-gpu and gpu-operator both install computedomaincliques.resource.nvidia.com; have "
                "dra-driver-nvidia-gpu installed without it, then waive this"
            ),
        ),
    ]
