"""Whether a feature gate of Kueue is known to be set, by whatever starts Kueue."""

from __future__ import annotations

import pytest

from trainyard.checks import Queues, World
from trainyard.judge.checks.inputs import decode

CONFIG = """
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
featureGates: {FailureRecoveryPolicy: %s}
"""
CHART = """
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: kueue}
spec:
  source:
    chart: kueue
    helm: {valuesObject: {controllerManager: {featureGates: [{name: %s, enabled: true}]}}}
"""
MANAGER = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: kueue-controller-manager}
spec: {template: {spec: {containers: [{args: [%s]}]}}}
"""
GATES = {
    "nothing that starts Kueue": ("{apiVersion: v1, kind: Namespace, metadata: {name: a}}", None),
    "a configuration": (CONFIG % "true", True),
    "a configuration that says no": (CONFIG % "false", False),
    "a value of the chart": (CHART % "FailureRecoveryPolicy", True),
    "a value of another gate": (CHART % "TASBalancedPlacement", False),
    "an argument": (MANAGER % "'--feature-gates=A=false,FailureRecoveryPolicy=true'", True),
    "other arguments": (MANAGER % "'--zap-log-level=2'", False),
}


@pytest.mark.parametrize(("text", "expected"), GATES.values(), ids=GATES)
def test_a_gate_is_known_where_kueue_is_started(text, expected):
    """It is set, not set, or nobody can tell."""
    manifests, _ = decode("a.yaml", text.encode())
    assert Queues(World(tuple(manifests))).gate("FailureRecoveryPolicy") is expected
