"""Feature gates of operators change verdicts: what KubeRay's functions said of objects under gates, and ours."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest

from apiserver.agreement import hooks
from conftest import ROOT
from trainyard.base.findings import Severity
from trainyard.judge.checks.inputs import decode
from trainyard.upstream.apiserver import Judge, catalog, webhooks
from trainyard.upstream.apiserver.gates import Gates

RECORDED = hooks.FOLDER / "kuberay-gates.jsonl"


@cache
def known(*projects: tuple[str, str]):
    """The kinds of Kubernetes 1.35 and of these releases."""
    return catalog.load(ROOT / "schemas", kubernetes="1.35", projects=dict(projects))[0]


def judged(value, gates, *projects):
    """Judge an object under gates, on a cluster of which everything is known."""
    around = replace(webhooks.gather_objects(hooks.read("around"), complete=True), gates=Gates.of(gates))
    (manifest,), _ = decode("case.json", json.dumps(value).encode())
    return Judge(known(*projects), around=around, refused_later=Severity.ERROR).judge(manifest)


def test_objects_are_judged_as_kuberay_did_under_gates():
    """Neither accepted nor refused otherwise than by the functions of both releases, with these gates on and off."""
    lines = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]
    wrong = []
    for release, gates, value, reason in lines:
        found = judged(value, gates, ("kuberay", release))
        if (found.verdict == "valid") != (not reason):
            wrong.append((release, gates, reason, [finding.message for finding in found.findings]))
    assert wrong == []
    assert {True, False} == {bool(reason) for *_, reason in lines}


CRON = {
    "apiVersion": "ray.io/v1",
    "kind": "RayCronJob",
    "metadata": {"name": "nightly", "namespace": "hooks"},
    "spec": {"schedule": "0 2 * * *", "jobTemplate": hooks.read("bases")["rayjob"]["spec"]},
}
LAYERS = "kueue.x-k8s.io/podset-slice-required-topology-constraints"
BATCH = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "a", "namespace": "hooks", "labels": {"kueue.x-k8s.io/queue-name": "team"}},
    "spec": {
        "suspend": True,
        "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "i"}]}},
    },
}


def batch(**annotations):
    """A Job whose pods have annotations of a topology, or which is gated."""
    value = json.loads(json.dumps(BATCH))
    topology = {f"kueue.x-k8s.io/{key}": said for key, said in annotations.items() if key.startswith("podset")}
    value["spec"]["template"]["metadata"] = {"annotations": topology}
    value["metadata"]["annotations"] = {
        f"kueue.x-k8s.io/{key}": said for key, said in annotations.items() if not key.startswith("podset")
    }
    return value


NINETEEN, EIGHTEEN, SEVENTEEN = (("kueue", f"0.{minor}") for minor in ("19.2", "18.6", "17.8"))
RAY = ("kuberay", "1.7.0")
TOPOLOGY, GATED = "TopologyAwareScheduling", "AdmissionGatedBy"
WRONG = batch(**{"podset-required-topology": "a b"})
TWICE = batch(**{"admission-gated-by": "a,a"})
QUEUE = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q"}, "spec": {}}
QUEUE["spec"] = {"weight": 1, "guarantee": {"resource": {"cpu": "2"}}, "deserved": {"cpu": "1"}}

CASES = {
    "a gate starts the controller of schedules": (CRON, {"RayCronJob": True}, RAY, True),
    "its template is judged too": (
        {**CRON, "spec": {**CRON["spec"], "schedule": "TZ=UTC 0 2 * * *"}},
        *({"RayCronJob": True}, RAY, False),
    ),
    "Kueue looks at topologies": (WRONG, {}, NINETEEN, False),
    "nobody looks at topologies": (WRONG, {TOPOLOGY: False}, NINETEEN, True),
    "admission gates are looked at since 0.19": (TWICE, {}, NINETEEN, False),
    "nobody reads admission gates": (TWICE, {GATED: False}, NINETEEN, True),
    "an older release has that gate off": (TWICE, {}, EIGHTEEN, True),
    "and somebody turns it on": (TWICE, {GATED: True}, EIGHTEEN, False),
    "Volcano's webhook of queues is asked": (QUEUE, {}, ("volcano", "1.15.1"), False),
    "Volcano's webhook of queues is left out": (QUEUE, {"/queues/validate": False}, ("volcano", "1.15.1"), True),
}
"""An object, the gates that somebody set, a release, and whether the object is taken."""


@pytest.mark.parametrize(("value", "gates", "project", "taken"), CASES.values(), ids=CASES)
def test_a_gate_decides(value, gates, project, taken):
    """The same object is taken or refused by the gates, and by the release's defaults where nobody says anything."""
    found = judged(value, gates, project)
    assert (found.verdict == "valid") == taken, [finding.message for finding in found.findings]


def test_a_schedule_whose_gate_nobody_turned_on_is_a_warning():
    """No controller makes jobs of it, unless somebody turned the gate on and did not say so."""
    off, on = judged(CRON, {}, RAY), judged(CRON, {"RayCronJob": True}, RAY)
    assert [(found.severity, "RayCronJob" in found.message) for found in off.findings] == [(Severity.WARNING, True)]
    assert off.verdict == "valid"
    assert on.findings == ()
