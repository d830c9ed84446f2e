"""An object that inputs describe in several ways is judged itself, and has no say in the verdict on others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conftest import ROOT
from make import make_crd
from trainyard.judge.checks.validate import strangers
from trainyard.upstream.apiserver import neighbours

ADMISSION = "admissionregistration.k8s.io/v1"


def policy(expression: str) -> dict[str, Any]:
    """Return a policy for ConfigMaps."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": expression}]}
    return {
        "apiVersion": ADMISSION,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "no.example.com"},
        "spec": spec,
    }


BINDING: dict[str, Any] = {
    "apiVersion": ADMISSION,
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "no.example.com"},
    "spec": {"policyName": "no.example.com", "validationActions": ["Deny"]},
}
SUBJECT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
REFUSING, ALSO_REFUSING = policy("false"), policy("1 == 2")
PROBE = {"apiVersion": "example.com/v1", "kind": "Probe", "metadata": {"name": "a"}, "spec": {"size": 1}}
NUMBER, TEXT, FLAG = (make_crd({"size": {"type": kind}}) for kind in ("integer", "string", "boolean"))
QUEUE = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "a"}}
QUEUE["spec"] = {"clusterQueue": "a"}


def redefined(version: str) -> dict[str, Any]:
    """Return a CRD that takes the name of Kueue's LocalQueue, without any field of it."""
    crd = make_crd(name=version)
    crd["metadata"]["name"] = "localqueues.kueue.x-k8s.io"
    names = {"kind": "LocalQueue", "plural": "localqueues", "singular": "localqueue", "listKind": "LocalQueueList"}
    crd["spec"] |= {"group": "kueue.x-k8s.io", "names": names}
    return crd


CASES: dict[str, tuple[list[dict[str, Any]], str, bool]] = {
    "one policy": ([BINDING, REFUSING, SUBJECT], "invalid", False),
    "one policy, twice the same": ([BINDING, REFUSING, REFUSING, SUBJECT], "invalid", False),
    "a policy in two ways": ([BINDING, REFUSING, ALSO_REFUSING, SUBJECT], "valid", True),
    "a binding in two ways": (
        [BINDING, {**BINDING, "spec": {**BINDING["spec"], "validationActions": ["Audit"]}}, REFUSING, SUBJECT],
        "valid",
        True,
    ),
    "one definition": ([NUMBER, PROBE], "valid", False),
    "a definition in two ways, the last one right": ([TEXT, NUMBER, PROBE], "valid", True),
    "a definition in two ways, the last one wrong": ([NUMBER, TEXT, PROBE], "valid", True),
    "a definition in two ways, both wrong": ([TEXT, FLAG, PROBE], "unknown", True),
    "an operator's kind defined once": ([redefined("v1beta2"), QUEUE], "invalid", False),
    "an operator's kind defined in two ways": ([redefined("v1beta2"), redefined("v1"), QUEUE], "valid", True),
    "names that are none": ([{"kind": "Namespace", "apiVersion": 1, "metadata": []}, SUBJECT], "valid", False),
}


@pytest.mark.parametrize(("objects", "verdict", "said"), CASES.values(), ids=CASES)
def test_what_is_described_in_several_ways(objects: list[dict[str, Any]], verdict: str, said: bool) -> None:
    """Overlays for several clusters in one call do not refuse each other's objects; the report says so."""
    inputs = [(f"{number}.json", json.dumps(item).encode()) for number, item in enumerate(objects)]
    result = strangers(inputs, ROOT / "schemas", kubernetes="1.35", projects={"kueue": "0.19.2"})
    assert result.objects[-1].verdict == verdict
    assert any("more than once" in note for note in result.notes) is said


def test_the_note_stays_short() -> None:
    """Of many names three are shown."""
    made = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"n{n}"}, "x": x} for n in range(5) for x in "ab"
    ]
    assert neighbours.note(made) == (
        "defined more than once, so ignored when other objects are checked: "
        "Namespace n0, Namespace n1, Namespace n2 and 2 more"
    )
