"""What a server takes is not refused: names that it makes, ways of applying, gates, kinds described in several ways."""

from __future__ import annotations

import itertools
import json

import pytest
import yaml

from conftest import ROOT
from make import make_crd
from trainyard.base.errors import TrainyardError
from trainyard.judge.checks.validate import strangers
from trainyard.upstream.apiserver.gates import parse_gates

JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {generateName: %s}
spec:
  replicatedJobs:
  - name: workers
    template: {spec: {completions: 2, parallelism: 2, template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}}
"""  # noqa: E501
TRAINJOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {generateName: %s}
spec: {runtimeRef: {name: torch-distributed}}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a%s}
spec: {containers: [{name: a, image: b, ports: [{name: a, containerPort: 80}, {name: b, containerPort: 80}]}]}
"""


def judge(*texts, **options):
    """Verdicts and findings of files, called a, b, c and so on."""
    inputs = [(f"{chr(97 + number)}.yaml", text.encode()) for number, text in enumerate(texts)]
    result = strangers(inputs, ROOT / "schemas", kubernetes="1.35", **options)
    return [item.verdict for item in result.objects], [
        (str(finding.severity), finding.rule) for finding in result.findings
    ]


NAMES = {
    "a JobSet": (JOBSET % "sleep-", "valid", []),
    "a JobSet whose jobs would have names that are too long": (
        JOBSET % f"a{'b' * 57}",
        "invalid",
        [("error", "webhook/jobset")],
    ),
    "a JobSet whose prefix is no name": (JOBSET % "Sleep_", "invalid", [("error", "meta/name")]),
    "a TrainJob": (TRAINJOB % "train-", "valid", []),
    "a TrainJob whose name would begin with a digit": (TRAINJOB % "1-", "invalid", [("error", "cel/rule")]),
}


@pytest.mark.parametrize(("text", "verdict", "found"), NAMES.values(), ids=NAMES)
def test_a_name_is_made_before_it_is_judged(text, verdict, found):
    """The server makes a name of the prefix before rules and webhooks see the object."""
    assert judge(text) == ([verdict], found)


def test_rules_see_the_name_that_is_made():
    """A rule in CEL over the name holds for the name that the server makes."""
    rule = {"rule": "self.metadata.name.startsWith('ok-')", "message": "no"}
    crd = make_crd()
    version = crd["spec"]["versions"][0]
    version["schema"]["openAPIV3Schema"]["x-kubernetes-validations"] = [rule]
    group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
    for prefix, verdict in (("ok-", "valid"), ("no-", "invalid")):
        made = {"apiVersion": f"{group}/{version['name']}", "kind": kind, "metadata": {"generateName": prefix}}
        found, _ = judge(yaml.safe_dump(crd), yaml.safe_dump(made))
        assert found == ["valid", verdict]


def test_what_only_one_way_of_applying_refuses_weighs_as_that_way_is_taken():
    """Ports that differ in name alone, and a uid: an error for server-side apply, else a warning or nothing."""
    for text in (POD % "", (POD % ", uid: 7b6c").replace("name: b, containerPort: 80", "name: b, containerPort: 81")):
        assert judge(text, apply="server")[0] == ["invalid"]
        assert [severity for severity, _ in judge(text, apply="client")[1]] == ["warning"]
        assert judge(text, apply="client")[0] == ["valid"]
        assert judge(text, apply="create") == (["valid"], [])


def test_what_every_way_refuses_is_refused_by_each():
    """The way of applying mends nothing else."""
    wrong = (POD % "").replace("containerPort: 80}]", "containerPort: 99999}]")
    for way in ("server", "client", "create"):
        assert judge(wrong, apply=way)[0] == ["invalid"]


def test_gates_that_are_on_are_believed():
    """JobSet's gates are off unless it is said that they are on; a gate that changes nothing is not taken."""
    text = (JOBSET % "a-").replace("spec:\n", "spec:\n  failurePolicy: {rules: [{name: r, action: RestartJob}]}\n", 1)
    assert judge(text) == (["invalid"], [("error", "webhook/jobset")])
    assert judge(text, gates=parse_gates(["RestartJob=true"])) == (["valid"], [])
    later = parse_gates(["RestartJob=true,InPlaceRestart=true", "RestartJob=false"])
    assert (later.on, later.off) == ({"InPlaceRestart"}, {"RestartJob"})
    for wrong, words in (("RestartJobs=true", "did you mean 'RestartJob'"), ("RestartJob", "must be Name=true")):
        with pytest.raises(TrainyardError, match=words):
            parse_gates([wrong])


def test_what_every_definition_refuses_is_invalid():
    """A fault that no definition would take is told at its place, as if there were one."""
    texts = [json.dumps(make_crd({field: {"type": "integer"}})) for field in ("one", "two")]
    probe = {"apiVersion": "example.com/v1", "kind": "Probe", "metadata": {"name": "a"}, "spec": {"x": 1}}
    found, findings = judge(*texts, json.dumps(probe))
    assert found == ["valid", "valid", "invalid"]
    assert ("error", "schema/unknown-field") in findings


def test_a_kind_described_in_several_ways_takes_what_any_takes():
    """Of definitions that differ none decides alone: what one takes is valid, the rest unknown, in any order."""
    texts = []
    for field in ("one", "two"):
        crd = make_crd()
        root = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        root.setdefault("properties", {})["spec"] = {"type": "object", "properties": {field: {"type": "integer"}}}
        texts.append(json.dumps(crd))
    spec, names = crd["spec"], []
    for fields in (["one"], ["two"], ["one", "two"]):
        made = {"apiVersion": f"{spec['group']}/{spec['versions'][0]['name']}", "kind": spec["names"]["kind"]}
        names.append(json.dumps({**made, "metadata": {"name": "-".join(fields)}, "spec": dict.fromkeys(fields, 1)}))
    expected = {names[0]: "valid", names[1]: "valid", names[2]: "unknown", texts[0]: "valid", texts[1]: "valid"}
    for order in itertools.islice(itertools.permutations(expected), 0, 120, 7):
        found, findings = judge(*order)
        assert found == [expected[item] for item in order]
        assert [rule for _, rule in findings if rule.startswith("schema/")] == ["schema/several-definitions"]
