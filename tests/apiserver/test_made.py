"""What the server refuses only when a controller makes pods is said of the object that they are made of."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conftest import TESTS
from trainyard.base.system.data import schemas_dir
from trainyard.judge.checks.validate import strangers

BASE = TESTS / "mistakes" / "base" / "strangers"

WRONG: Mapping[str, tuple[str, str, str, str, str]] = {
    "a container without an image in a JobSet": (
        "jobset",
        "              image: registry.example.com/nlp/bert:1.0\n",
        "",
        "core/container",
        "spec.replicatedJobs[0].template.spec.template.spec.containers[0].image",
    ),
    "a mount of no volume in a PyTorchJob": (
        "pytorchjob",
        "{name: shm, mountPath",
        "{name: shn, mountPath",
        "webhook/pytorchjob-pods",
        "spec.pytorchReplicaSpecs.Master.template.spec.containers[0].volumeMounts[0].name",
    ),
    "a Job of a JobSet that never ends": (
        "jobset",
        "restartPolicy: Never",
        "restartPolicy: Always",
        "core/job-restart-policy",
        "spec.replicatedJobs[0].template.spec.template.spec.restartPolicy",
    ),
    "a request above its limit in a RayJob": (
        "rayjob",
        'limits: {cpu: "4", memory: 16Gi}',
        'limits: {cpu: "4", memory: 16Gi}, requests: {cpu: "8"}',
        "core/resources",
        "spec.rayClusterSpec.headGroupSpec.template.spec.containers[0].resources.requests.cpu",
    ),
}


@pytest.mark.parametrize(("base", "old", "new", "rule", "path"), WRONG.values(), ids=WRONG)
def test_pods_that_are_never_made_are_refused(base: str, old: str, new: str, rule: str, path: str) -> None:
    """A definition takes the object, and the pods of its template would be refused: the finding names the field."""
    text = (BASE / f"{base}.yaml").read_text(encoding="utf-8")
    assert old in text
    changed = text.replace(old, new)
    result = strangers([("x.yaml", changed.encode())], schemas_dir(TESTS.parent))
    assert (rule, path) in [(finding.rule, finding.path) for finding in result.findings if finding.is_error]


@pytest.mark.parametrize("file", sorted(BASE.glob("*.yaml")), ids=lambda file: file.stem)
def test_what_controllers_add_is_not_missed(file) -> None:
    """What an operator sets or adds itself, such as a restart policy, a volume or a name, is asked of nobody."""
    result = strangers([(file.name, file.read_bytes())], schemas_dir(TESTS.parent))
    assert [finding.message for finding in result.findings] == []


ADDED: Mapping[str, tuple[str, str, str]] = {
    "shared memory of Ray": ("rayjob", "image: registry.example.com/ray:2.50.0", "shared-mem"),
    "keys of MPI": ("mpijob", "image: registry.example.com/hpc/nccl:1.0", "ssh-auth"),
}


@pytest.mark.parametrize(("base", "line", "volume"), ADDED.values(), ids=ADDED)
def test_volumes_that_operators_add_may_be_mounted(base: str, line: str, volume: str) -> None:
    """A container may mount what its operator brings, and no other volume of such a name elsewhere."""
    text = (BASE / f"{base}.yaml").read_text(encoding="utf-8")
    indent = " " * 12
    changed = text.replace(line, f"{line}\n{indent}volumeMounts: [{{name: {volume}, mountPath: /x}}]", 1)
    assert not strangers([("x.yaml", changed.encode())], schemas_dir(TESTS.parent)).findings
    other = changed.replace(f"name: {volume}", "name: other-mem")
    assert [
        finding.rule for finding in strangers([("x.yaml", other.encode())], schemas_dir(TESTS.parent)).findings
    ] == ["core/volume-mount"]
