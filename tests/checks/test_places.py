"""Files of a generated tree are judged against the releases of their cluster."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from command import call
from make import CLUSTER, write_repository
from trainyard.judge.checks.places import Place, by_place

LIKE = {"version": "0.18.5", "unlisted": {"like": "0.18.6", "reason": "the same API types"}}
FLAVOR = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: a}\nspec: {}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a repository of two clusters with a file for each, and one for none."""
    other = {**CLUSTER, "kubernetes": "1.34", "operators": {**CLUSTER["operators"], "kueue": LIKE}}
    root = write_repository(tmp_path, clusters={"test": CLUSTER, "old": other})
    for place in ("generated/test/platform", "generated/old/platform", "elsewhere"):
        (root / place).mkdir(parents=True, exist_ok=True)
        (root / place / "flavor.yaml").write_text(FLAVOR)
    return root


def test_paths_are_sorted_by_cluster(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative paths, folders, `generated` itself and standard input are told apart."""
    monkeypatch.chdir(root / "generated" / "test")
    given = ["platform/flavor.yaml", "../old", "../../elsewhere", "-", "..", "../none"]
    assert by_place(given) == {
        Place(root, "test"): ["platform/flavor.yaml", "../test"],
        Place(root, "old"): ["../old", "../old"],
        None: ["../../elsewhere", "-", "../none"],
    }


def test_each_cluster_is_judged_by_its_releases(root: Path) -> None:
    """Without options the cluster's file says what runs there."""
    done = call(root, "validate", "generated/test/platform/flavor.yaml", "generated/old", "elsewhere")
    said = "checked for Kubernetes 1.34, with argo-cd 3.5.1, gpu-operator 26.7.0, jobset 0.12.0, kueue 0.18.6"
    assert said in done.stdout
    assert f"checked for Kubernetes {CLUSTER['kubernetes']}, with" in done.stdout
    assert "the newest known release of " in done.stdout
    assert "3 objects (3 valid)" in done.stdout
    assert done.returncode == 0


def test_a_release_that_is_not_known_is_an_error_where_it_is_chosen(root: Path) -> None:
    """What stands for it is missing, and nobody is told that all is well."""
    path = root / "platform/clusters/old.yaml"
    lines = path.read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if line.strip() == "unlisted:")
    path.write_text("\n".join([*lines[:start], *lines[start + 3 :]]) + "\n")
    done = call(root, "validate", "generated/old")
    assert done.returncode == 1
    message = "error: kueue 0.18.5 is unknown; known releases: 0.19.2, 0.18.6 [pairing/unknown-release]"
    assert re.search(rf"platform/clusters/old.yaml:\d+:14: {re.escape(message)}", done.stdout), done.stdout


def test_options_count_before_the_cluster(root: Path) -> None:
    """Who names a release asks about that one."""
    done = call(root, "validate", "generated/old", "--kubernetes", "1.36", "--with", "kueue=0.19.2")
    assert "checked for Kubernetes 1.36, with kueue 0.19.2" in done.stdout


def test_a_description_that_cannot_be_read_says_nothing(root: Path) -> None:
    """The newest releases count then, and the report says so."""
    (root / "platform/clusters/old.yaml").write_text("kubernetes: [\n")
    done = call(root, "validate", "generated/old")
    assert "the newest known" in done.stdout


def test_files_before_belong_to_one_cluster(root: Path) -> None:
    """What was before on one cluster says nothing of another."""
    done = call(root, "validate", "generated", "--old", "elsewhere")
    assert done.returncode == 2
    assert "--old compares with files of one cluster" in done.stderr
