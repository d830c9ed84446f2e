"""Who on a cluster refuses an object: the server, a webhook, a controller or a node."""

from __future__ import annotations

import pytest

from conftest import ROOT
from trainyard.faces.report.json_ import as_dict
from trainyard.judge.checks.deciders import DECIDERS
from trainyard.judge.checks.validate import strangers

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: a, namespace: b}}
spec: {{containers: [{{name: a, image: "{image}"}}]}}
"""
MPIJOB = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: a, namespace: b}
spec:
  slotsPerWorker: 1
  mpiReplicaSpecs: {Worker: {replicas: 1, template: {spec: {containers: [{name: a, image: "a:1"}]}}}}
"""
JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: a, namespace: b}
spec:
  successPolicy: {operator: All, targetReplicatedJobs: [nobody]}
  replicatedJobs:
    - name: w
      template: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: "a:1"}]}}}}
"""
RESTRICTED = """\
apiVersion: v1
kind: Namespace
metadata: {name: b, labels: {pod-security.kubernetes.io/enforce: restricted}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: b}
spec: {template: {spec: {hostNetwork: true, restartPolicy: Never, containers: [{name: a, image: "a:1"}]}}}
"""
CASES: dict[str, tuple[str, tuple[str | None, ...]]] = {
    "nobody": (POD.format(image="a:1"), ("valid", "valid", "valid", "valid")),
    "the server": (POD.format(image=" "), ("invalid", None, None, None)),
    "a webhook": (JOBSET, ("valid", "invalid", None, None)),
    "a controller": (MPIJOB, ("valid", "valid", "invalid", None)),
    "a pod": (RESTRICTED, ("valid", "valid", "valid", "invalid")),
    "nobody who is known": (
        "apiVersion: example.com/v1\nkind: A\nmetadata: {name: a}\n",
        ("unknown", None, None, None),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_everybody_has_a_verdict(case: str) -> None:
    """Each error names who refuses, and an object has a verdict of all who are asked."""
    text, expected = CASES[case]
    report = as_dict(strangers([("a.yaml", text.encode())], ROOT / "schemas", kubernetes="1.35"))
    last = report["objects"][-1]
    assert tuple(last["verdicts"][name] for name in DECIDERS) == expected
    errors = [finding for finding in report["findings"] if finding["severity"] == "error"]
    refused = {name for name, verdict in last["verdicts"].items() if verdict == "invalid"}
    assert {finding["decider"] for finding in errors} - {None} >= refused
