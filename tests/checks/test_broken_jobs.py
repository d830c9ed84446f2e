"""One training Job, broken in twenty-six ways and odd but right in two: every verdict, with layer, field and reason."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from command import call
from conftest import ROOT
from trainyard.judge.checks.validate import strangers

RELEASES = ("1.34", "1.35", "1.36", "1.37")

JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: llama
  namespace: nlp
  labels:
    app: llama
spec:
  completionMode: Indexed
  completions: 4
  parallelism: 4
  backoffLimit: 0
  template:
    metadata:
      labels:
        app: llama
    spec:
      restartPolicy: Never
      containers:
      - name: train
        image: registry.example.com/nlp/llama:1.0
        imagePullPolicy: IfNotPresent
        command: [torchrun, train.py]
        env:
        - name: MASTER_PORT
          value: "29500"
        ports:
        - containerPort: 29500
        resources:
          requests:
            cpu: "8"
            memory: 64Gi
            nvidia.com/gpu: 8
          limits:
            cpu: "8"
            memory: 64Gi
            nvidia.com/gpu: 8
        volumeMounts:
        - name: data
          mountPath: /data
        - name: memory
          mountPath: /dev/shm
      tolerations:
      - key: nvidia.com/gpu
        operator: Exists
        effect: NoSchedule
      volumes:
      - name: data
        persistentVolumeClaim:
          claimName: data
      - name: memory
        emptyDir:
          medium: Memory
          sizeLimit: 16Gi
"""
POD = "spec.template.spec"
MAIN = f"{POD}.containers[0]"


class Broken(NamedTuple):
    """A piece of the Job, what stands there instead, and what must be said: layer, field, and words of the server's."""

    piece: str
    instead: str
    layer: str
    path: str | None
    words: tuple[str, ...]


BROKEN: Mapping[str, Broken] = {
    # what a strict schema sees
    "a misspelt field of the Job": Broken(
        "  parallelism: 4\n", "  paralelism: 4\n", "schema", "spec.paralelism", ("unknown field", "paralelism")
    ),
    "a misspelt field of the container": Broken(
        "        command: [", "        comand: [", "schema", f"{MAIN}.comand", ("unknown field", "comand")
    ),
    "a number in words": Broken(
        "completions: 4",
        "completions: four",
        "schema",
        "spec.completions",
        ("spec.completions must be a whole number of 32 bits", 'is the text "four"'),
    ),
    "a number as a variable's value": Broken(
        'value: "29500"',
        "value: 29500",
        "schema",
        f"{MAIN}.env[0].value",
        ("env[0].value must be text", "29500; quote it"),
    ),
    # what decoding and metadata see
    "a key twice": Broken(
        "  backoffLimit: 0\n",
        "  backoffLimit: 0\n  backoffLimit: 1\n",
        "decode",
        "spec.backoffLimit",
        ("written twice",),
    ),
    "a name in upper case": Broken(
        "name: llama\n", "name: Llama\n", "meta", "metadata.name", ('metadata.name is "Llama"', "lower case")
    ),
    "a label with a space": Broken(
        "    app: llama\n",
        "    app: llama 7b\n",
        "meta",
        "metadata.labels.app",
        ('metadata.labels.app is "llama 7b"', "at both ends"),
    ),
    "a label key with two slashes": Broken(
        "    app: llama\n",
        "    a/b/app: llama\n",
        "meta",
        'metadata.labels["a/b/app"]',
        ('key "a/b/app" of metadata.labels must look like', "example.com/name"),
    ),
    "no name": Broken(
        "  name: llama\n  namespace",
        "  namespace",
        "meta",
        "metadata.name",
        ("metadata.name is required: set it, or generateName",),
    ),
    # what the rules for pods see
    "a quantity with a wrong unit": Broken(
        "memory: 64Gi",
        "memory: 64GB",
        "schema",
        f"{MAIN}.resources.requests.memory",
        ('requests.memory is "64GB"', "must be a quantity, such as 500m, 2 or 64Gi"),
    ),
    "a restart policy that does not exist": Broken(
        "Never",
        "Sometimes",
        "schema",
        f"{POD}.restartPolicy",
        ('restartPolicy is "Sometimes"', '"Never" or "OnFailure"'),
    ),
    "a pull policy that does not exist": Broken(
        "IfNotPresent",
        "Sometimes",
        "schema",
        f"{MAIN}.imagePullPolicy",
        ('imagePullPolicy is "Sometimes"', '"Always", "IfNotPresent" or "Never"'),
    ),
    "no image": Broken(
        "        image: registry.example.com/nlp/llama:1.0\n",
        "",
        "core",
        f"{MAIN}.image",
        ("containers[0].image is required",),
    ),
    "no containers": Broken(
        JOB[JOB.index("      - name: train") : JOB.index("      tolerations:")],
        "",
        "core",
        f"{POD}.containers",
        ("template.spec.containers is required",),
    ),
    "a port beyond the last": Broken(
        "containerPort: 29500",
        "containerPort: 70000",
        "core",
        f"{MAIN}.ports[0].containerPort",
        ("ports[0].containerPort is 70000", "between 1 and 65535"),
    ),
    "a mount of no volume": Broken(
        "        - name: data\n          mountPath",
        "        - name: date\n          mountPath",
        "core",
        f"{MAIN}.volumeMounts[0].name",
        ('volumeMounts[0].name is "date"', "has no volume of that name"),
    ),
    "GPUs requested unlike their limit": Broken(
        "nvidia.com/gpu: 8\n          limits",
        "nvidia.com/gpu: 4\n          limits",
        "core",
        f'{MAIN}.resources.requests["nvidia.com/gpu"]',
        ('requests["nvidia.com/gpu"] is 4', "must be equal to the nvidia.com/gpu limit of 8"),
    ),
    "more requested than the limit": Broken(
        'cpu: "8"\n            memory: 64Gi\n            nvidia.com/gpu: 8\n          limits',
        'cpu: "9"\n            memory: 64Gi\n            nvidia.com/gpu: 8\n          limits',
        "core",
        f"{MAIN}.resources.requests.cpu",
        ('requests.cpu is "9"', "must be less than or equal to the cpu limit of 8"),
    ),
    "two sources of a volume": Broken(
        "          claimName: data\n",
        "          claimName: data\n        emptyDir: {}\n",
        "core",
        f"{POD}.volumes[0].emptyDir",
        ("volumes[0].emptyDir", "may not specify more than 1 volume type"),
    ),
    "a toleration of any value with a value": Broken(
        "operator: Exists\n",
        'operator: Exists\n        value: "true"\n',
        "core",
        f"{POD}.tolerations[0].operator",
        ('tolerations[0].operator is "Exists"', 'needs an empty value, not "true"'),
    ),
    "a variable with a value and a source": Broken(
        'value: "29500"\n',
        'value: "29500"\n          valueFrom: {fieldRef: {fieldPath: metadata.name}}\n',
        "core",
        f"{MAIN}.env[0].valueFrom",
        ("env[0].valueFrom", "may not be specified when value is not empty"),
    ),
    # what the rules for Jobs see
    "pods that restart for ever": Broken(
        "restartPolicy: Never",
        "restartPolicy: Always",
        "core",
        f"{POD}.restartPolicy",
        ('is "Always"', 'must be "OnFailure" or "Never"'),
    ),
    "less than no pods": Broken(
        "parallelism: 4",
        "parallelism: -1",
        "core",
        "spec.parallelism",
        ("spec.parallelism is -1", "must be greater than or equal to 0"),
    ),
    "indexes without an end": Broken(
        "  completions: 4\n",
        "",
        "core",
        "spec.completions",
        ("spec.completions is required", "when completion mode is Indexed"),
    ),
    "a selector of one's own": Broken(
        "  template:\n",
        "  selector: {matchLabels: {app: llama}}\n  template:\n",
        "core",
        "spec.selector",
        ("spec.selector", "is generated by the server"),
    ),
    "a failure policy for pods that restart": Broken(
        "  template:\n",
        "  podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}\n  template:\n",
        "core",
        f"{POD}.restartPolicy",
        ('restartPolicy is "OnFailure"', "only Never"),
    ),
}

GOOD: Mapping[str, str] = {
    "as it is": JOB,
    "odd, but right": JOB.replace("backoffLimit: 0", "backoffLimit: 0x0\n  suspend: off")
    .replace('cpu: "8"', "cpu: 0.5")
    .replace("            nvidia.com/gpu: 8\n          limits", "          limits")
    .replace("containerPort: 29500", "containerPort: 0o71474"),
}


def text(case: Broken) -> str:
    """Return the Job with its mistake."""
    assert JOB.count(case.piece) >= 1
    changed = JOB.replace(case.piece, case.instead, 1)
    if "podFailurePolicy" in case.instead:
        changed = changed.replace("restartPolicy: Never", "restartPolicy: OnFailure")
    return changed


@pytest.mark.parametrize("kubernetes", RELEASES)
@pytest.mark.parametrize("case", BROKEN.values(), ids=BROKEN)
def test_broken_job_is_refused_for_its_mistake(case, kubernetes):
    """One mistake is one finding: at the field, from the layer that decides it, in a sentence that names the field."""
    result = strangers([("job.yaml", text(case).encode())], ROOT / "schemas", kubernetes=kubernetes)
    assert [item.verdict for item in result.objects] == ["invalid"]
    (finding,) = result.findings
    assert (finding.layer, finding.path) == (case.layer, case.path)
    assert all(word in finding.message for word in case.words), finding.message
    assert finding.is_error
    assert finding.location.line
    assert finding.source or finding.layer == "decode"


@pytest.mark.parametrize("kubernetes", RELEASES)
@pytest.mark.parametrize("manifest", GOOD.values(), ids=GOOD)
def test_good_job_is_valid(manifest, kubernetes):
    """What is right is valid without a word, also where it looks wrong."""
    result = strangers([("job.yaml", manifest.encode())], ROOT / "schemas", kubernetes=kubernetes)
    assert ([item.verdict for item in result.objects], result.findings) == (["valid"], [])


def test_one_call_judges_all(tmp_path: Path):
    """A folder of all of them comes to 26 refused and 2 good ones, each file by itself."""
    for number, case in enumerate(BROKEN.values()):
        (tmp_path / f"broken-{number:02}.yaml").write_text(text(case))
    for number, manifest in enumerate(GOOD.values()):
        (tmp_path / f"good-{number}.yaml").write_text(manifest)
    done = call(ROOT, "validate", str(tmp_path), "--kubernetes", "1.35", "--format", "json")
    report = json.loads(done.stdout)
    verdicts = {Path(item["file"]).stem: item["verdict"] for item in report["objects"]}
    assert done.returncode == 1
    assert len(BROKEN) == 26
    assert len(verdicts) == 28
    assert all((verdict == "valid") == name.startswith("good") for name, verdict in verdicts.items())
    assert {Path(finding["file"]).stem for finding in report["findings"]} == {
        f"broken-{number:02}" for number in range(26)
    }
