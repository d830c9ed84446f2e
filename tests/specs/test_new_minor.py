"""A minor of Kubernetes is there as soon as its folder of schemas is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from make import CLUSTER, write_repository

MINOR = "1.38"
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: nlp}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a, resources: 5}]}}}
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A copy of Trainyard with the folder of one more minor, whose API types are those of the newest, and no more."""
    root = tmp_path_factory.mktemp("checkout")
    package = "platform/trainyard"
    shutil.copytree(ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "policies").symlink_to(ROOT / "policies")
    minors = root / "schemas/kubernetes"
    minors.mkdir(parents=True)
    for place in (*(ROOT / "schemas").iterdir(), *(ROOT / "schemas/kubernetes").iterdir()):
        if place.name != "kubernetes":
            (minors if place.parent.name == "kubernetes" else minors.parent).joinpath(place.name).symlink_to(place)
    newest = max((ROOT / "schemas/kubernetes").iterdir(), key=lambda path: int(path.name.partition(".")[2]))
    (minors / MINOR).symlink_to(newest)
    return root


def trainyard(checkout: Path, cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the copy."""
    env = {**os.environ, "PYTHONPATH": str(checkout / "platform"), "CI": ""}
    return subprocess.run(
        [sys.executable, "-m", "trainyard", *words], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_a_cluster_may_have_the_new_minor(checkout, tmp_path):
    """The file of a cluster, its operators and help take it; of operators only upstream's own bounds are said."""
    write_repository(tmp_path, clusters={"test": {**CLUSTER, "kubernetes": MINOR}})
    done = trainyard(checkout, tmp_path, "check", "--format", "json")
    assert "1.38" in done.stdout
    assert '"rule": "spec/' not in done.stdout, done.stdout
    assert "or 1.38" in trainyard(checkout, tmp_path, "new", "cluster", "--help").stdout


@pytest.mark.slow
def test_objects_are_judged_by_the_new_minor(checkout, tmp_path):
    """What is wrong for the newest minor is wrong for the copy of it."""
    (tmp_path / "job.yaml").write_text(JOB)
    done = trainyard(checkout, tmp_path, "validate", "job.yaml", "--kubernetes", MINOR)
    assert done.returncode == 1, done.stderr
    assert "spec.template.spec.containers[0].resources" in done.stdout
    assert f"checked for Kubernetes {MINOR}" in done.stdout
    assert "pairing/near-release" not in done.stdout
