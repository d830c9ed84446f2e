"""A multi-node job as it is first carried over from a notebook: every mistake of it has a finding of its own."""

from __future__ import annotations

import json

import pytest

from command import call
from conftest import ROOT
from make import CLUSTER, JOB, TEAM, write_repository
from trainyard.judge import preflight

MANIFEST = ROOT / "tests" / "data" / "first-version" / "manifest.yaml"

MISTAKES = {
    "nobody says which machine a pod is": ("tor-static-noderank", 23),
    "pods have no numbers and no names": ("rdv-indexed", 23),
    "what only a shell would expand": ("tor-expansion", 24),
    "an image that may change between two pulls": ("sec-digest", 22),
    "a key in the manifest": ("sec-env-secret", 27),
    "64Mi of shared memory": ("gpu-shm", 32),
    "a folder of the node": ("pod-security/restricted-volumes", 37),
    "a program that may be root": ("pod-security/run-as-non-root", 21),
    "a program that may become root": ("pod-security/allow-privilege-escalation", 21),
}


@pytest.fixture(scope="module")
def found() -> dict[str, set[int]]:
    """The lines of all findings, by their rule, beside the policies that a cluster has installed."""
    installed = sorted(str(path) for path in (ROOT / "generated/borealis/platform").glob("validatingadmission*"))
    done = call(ROOT, "validate", str(MANIFEST), *installed, "--kubernetes", "1.35", "--format", "json")
    rules: dict[str, set[int]] = {}
    for finding in json.loads(done.stdout)["findings"]:
        rules.setdefault(finding["rule"], set()).add(finding["line"])
    return rules


@pytest.mark.parametrize(("rule", "line"), MISTAKES.values(), ids=MISTAKES)
def test_each_mistake_of_a_stranger_is_found(found, rule, line):
    """A manifest that says all of them is valid to the API server, and would not train."""
    assert line in found.get(rule, set())


FIRST = {
    "launcher": "exec",
    "program": None,
    "command": ["accelerate", "launch", "--num_machines", "4", "--main_process_ip", "llava-0", "train.py"],
    "image": "registry.example.com/vision/llava:latest",
    "args": ["--output", "${OUTPUT_DIR}"],
    "env": {"WANDB_API_KEY": "0123456789abcdef0123456789abcdef01234567"},
    "volumes": [{"name": "data", "hostPath": {"path": "/mnt/data"}}],
    "mounts": [{"volume": "data", "mountPath": "/data"}],
    "nodes": 4,
    "fabric": "tcp",
    "topology": {"required": "rak"},
    "cpusPerNode": 300,
    "graceSeconds": 5,
    "checkpoint": {"volume": "checkpoint", "size": "160Gi"},
}
DIGEST = {"image": JOB["image"]}
NAMED = {**DIGEST, "topology": {"required": "rack"}, "cpusPerNode": None, "checkpoint": None}
OF_JOB: dict[str, tuple[dict[str, object], set[str]]] = {
    "as it is, a form that nothing reads": ({}, {"spec/form"}),
    "by digest, names that are not there": (
        DIGEST,
        {"spec/unknown-level", "spec/unknown-volume", "spec/cpus-per-node", "run/launcher-in-command"},
    ),
    "with names that are, what would be rendered": (
        NAMED,
        {"sec-env-secret", "tor-expansion", "tor-static-noderank", "tas-domain-size"},
    ),
}


def rules(tmp_path, **changes: object) -> set[str]:
    """Return the rules of what is wrong with a job in a repository of its own."""
    job = {name: value for name, value in {**JOB, **FIRST, **changes}.items() if value is not None}
    root = write_repository(tmp_path, jobs={"nlp/llava": job}, clusters={"test": CLUSTER}, teams={"nlp": TEAM})
    return {finding.rule for finding in preflight.check_repository(root).findings}


@pytest.mark.parametrize(("changes", "wanted"), OF_JOB.values(), ids=OF_JOB)
def test_each_mistake_of_a_job_is_found(tmp_path, changes, wanted):
    """The same first version as a job's file: each is said before anything is written, those of one kind together."""
    assert wanted <= rules(tmp_path, **changes)
