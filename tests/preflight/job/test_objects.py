"""Policies judge the objects of jobs before anything is written, and speak of the job's own fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from make import CLUSTER, JOB, fields, write_repository
from trainyard.base.documents import load
from trainyard.base.findings import Finding
from trainyard.judge import preflight

ROCE = {"type": "roce", "rails": 8, "attach": "sriov", "addresses": "10.56.0.0/16"}
NIC_OPERATORS = {
    **CLUSTER["operators"],
    "sriov-network-operator": {"version": "1.6.0"},
    "multus": {"version": "4.3.0"},
    "whereabouts": {"version": "0.9.4"},
}


def patch(target: str, **merge: Any) -> dict[str, Any]:
    """Return a patch of one object, by the top-level fields that it merges."""
    return {"patches": [{"object": target, "merge": merge, "reason": "a test"}]}


def container(**said: Any) -> dict[str, Any]:
    """Return the specification of a pod with the training container's fields."""
    return {"containers": [{"name": "trainer", **said}]}


def found(root: Path, job: dict[str, Any], cluster: dict[str, Any] | None = None) -> list[Finding]:
    """Return what policies find in a job beside what a right one has."""
    clusters = {"test": fields(CLUSTER, cluster or {})}
    write_repository(root, jobs={"nlp/train": fields({**JOB, "nodes": 1}, job)}, clusters=clusters)
    return [finding for finding in preflight.check_repository(root, home=ROOT).findings if finding.layer == "policy"]


FIELDS: dict[str, tuple[dict[str, Any], str, str]] = {
    "an argument with an unknown variable": ({"args": ["--a=1", "--out=$(OUTDIR)"]}, "tor-expansion", "args[1]"),
    "an argument for a shell": ({"args": ["--rank=${RANK}"]}, "tor-expansion", "args[0]"),
    "some of the GPUs": ({"env": {"CUDA_VISIBLE_DEVICES": "0,1"}}, "gpu-visible-devices", "env.CUDA_VISIBLE_DEVICES"),
    "GPUs without NVLink": ({"env": {"NCCL_P2P_DISABLE": 1}}, "nccl-ib-disable", "env.NCCL_P2P_DISABLE"),
    "more nodes than a rack has": (
        {"nodes": 3, "topology": {"required": "rack"}},
        "tas-domain-size",
        "topology",
    ),
    "a gang on one node": ({"nodes": 3, "gpusPerNode": 1}, "gpu-pod-per-gpu", "gpusPerNode"),
    "a device that no queue covers, in a container of one's own": (
        {"initContainers": [{"name": "a", "image": JOB["image"], "resources": {"limits": {"example.com/a": 1}}}]},
        "kq-uncovered",
        'initContainers[0].resources.limits["example.com/a"]',
    ),
    "a time to live by a patch": (
        patch("JobSet", spec={"ttlSecondsAfterFinished": 60}),
        "ft-ttl-gitops",
        "patches[0].merge.spec.ttlSecondsAfterFinished",
    ),
    "huge pages by a patch": (
        patch("Pod", spec=container(resources={"limits": {"hugepages-2Mi": "5120Mi"}})),
        "kq-uncovered",
        "patches[0].merge.spec.containers[0].resources.limits.hugepages-2Mi",
    ),
    "another pool by a patch": (
        patch("Pod", spec={"nodeSelector": {"trainyard.dev/pool": "cpu"}}),
        "kq-selector-conflict",
        'patches[0].merge.spec.nodeSelector["trainyard.dev/pool"]',
    ),
    "a zone by a patch": (
        patch("Pod", spec={"nodeSelector": {"example.com/zone": "b"}}),
        "kq-selector-foreign",
        'patches[0].merge.spec.nodeSelector["example.com/zone"]',
    ),
    "a variable by a patch": (
        patch("Pod", spec=container(env=[{"name": "CUDA_VISIBLE_DEVICES", "value": "0"}])),
        "gpu-visible-devices",
        "patches[0].merge.spec.containers[0].env[0]",
    ),
}


@pytest.mark.parametrize(("job", "rule", "path"), FIELDS.values(), ids=FIELDS)
def test_a_finding_names_the_field_or_the_patch(tmp_path, job, rule, path):
    """What is found in an object is said of what the person wrote, with its line."""
    assert [(item.rule, item.path or "") for item in found(tmp_path, job)] == [(rule, path)]


def test_a_line_is_that_of_the_field(tmp_path):
    """The location leads to the argument itself."""
    (finding,) = found(tmp_path, {"args": ["--a=1", "--out=$(OUTDIR)"]})
    file = tmp_path / finding.location.file
    assert file.read_text().splitlines()[finding.location.line - 1].strip() == "- --out=$(OUTDIR)"


RIGHT: dict[str, dict[str, Any]] = {
    "nothing special": {},
    "a variable of the job's own": {"env": {"OUT": "/out"}, "args": ["--out=$(OUT)"]},
    "where checkpoints are": {
        "args": ["--to=$(CHECKPOINT_DIR)"],
        "checkpoint": {"volume": "checkpoints", "size": "1Gi"},
    },
    "a secret": {"secrets": {"TOKEN": "tokens/hub"}, "args": ["--token=$(TOKEN)"]},
    "as many nodes as a rack has": {"nodes": 2, "topology": {"required": "rack"}},
    "all of the GPUs": {"env": {"CUDA_VISIBLE_DEVICES": "0,1,2,3,4,5,6,7"}},
    "a gang that is larger than a node": {"nodes": 2},
    "a patch that changes nothing of these": patch("Pod", spec={"hostAliases": [{"ip": "10.0.0.1"}]}),
    "a retired job": {"args": ["--out=$(OUTDIR)"], "retired": True},
    "what is accepted": {"args": ["--out=$(OUTDIR)"], "waive": {"tor-expansion": "the program expands it"}},
}


@pytest.mark.parametrize("job", RIGHT.values(), ids=RIGHT)
def test_a_right_job_passes(tmp_path, job):
    """The same policies find nothing in what is near."""
    assert found(tmp_path, job) == []


def test_rdma_that_is_switched_off(tmp_path):
    """NICs that a job asks for by its fabric count as those of a stranger's resources do."""
    job = {"fabric": "rdma", "env": {"NCCL_IB_DISABLE": 1}}
    (finding,) = found(tmp_path, job, {"fabric": ROCE, "operators": NIC_OPERATORS})
    assert (finding.rule, finding.path) == ("nccl-ib-disable", "env.NCCL_IB_DISABLE")


def test_one_patch_of_several_is_to_blame(tmp_path):
    """Each patch is tried without: the one that the problem goes away with is named."""
    several = [
        {"object": "Pod", "merge": {"spec": {"hostAliases": []}}, "reason": "a test"},
        *patch("Pod", spec=container(resources={"limits": {"example.com/a": 1}}))["patches"],
    ]
    (finding,) = found(tmp_path, {"patches": several})
    assert finding.path == 'patches[1].merge.spec.containers[0].resources.limits["example.com/a"]'


def test_a_patch_is_not_to_blame_for_the_place_of_another(tmp_path):
    """A patch that adds an entry to a list before the wrong entry of another moves it, and has not caused it."""
    several = [
        *patch("Pod", spec=container(env=[{"name": "FIRST", "value": "1"}]))["patches"],
        *patch("Pod", spec=container(env=[{"name": "A=B", "value": "1"}]))["patches"],
    ]
    write_repository(tmp_path, jobs={"nlp/train": fields({**JOB, "nodes": 1}, {"patches": several})})
    all_found = preflight.check_repository(tmp_path, home=ROOT).findings
    (finding,) = [finding for finding in all_found if finding.rule == "core/env"]
    assert finding.path == "patches[1].merge.spec.containers[0].env[0].name"


def test_a_policy_that_is_switched_off_is_not_asked(tmp_path):
    """The repository's settings count here as for generated objects."""
    assert found(tmp_path, {"args": ["--out=$(OUTDIR)"]})
    settings = tmp_path / "platform" / "repository.yaml"
    settings.write_text(settings.read_text() + "policies: {tor-expansion: programs expand it}\n")
    found_now = preflight.check_repository(tmp_path, home=ROOT).findings
    assert [item for item in found_now if item.rule == "tor-expansion"] == []
    assert load(settings.read_bytes(), file="a.yaml")[1] == []
