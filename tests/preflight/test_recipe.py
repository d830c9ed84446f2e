"""The rule that the documentation shows is declared where it is checked: commands and pages find it from there."""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import page
import recipes
from conftest import ROOT
from make import CLUSTER, JOB, write_repository

(CODE,) = recipes.code("A rule")
FILE = "judge/preflight/job/deadline.py"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A copy of Trainyard in which the rule was added as the page says."""
    root = tmp_path_factory.mktemp("checkout")
    shutil.copytree(
        ROOT / "platform/trainyard", root / "platform/trainyard", ignore=shutil.ignore_patterns("__pycache__")
    )
    (root / "tools").mkdir()
    for tool in (*(ROOT / "tools").glob("docs*.py"), ROOT / "tools/schemas_yaml.py"):
        shutil.copy(tool, root / "tools")
    for name in ("platform/clusters", "platform/teams", "platform/extra", "jobs"):
        shutil.copytree(ROOT / name, root / name)  # docs show a cluster of the repository
    shutil.copy(ROOT / "platform/repository.yaml", root / "platform")
    (root / "tests/live").mkdir(parents=True)
    for record in ("first_sync.json", "whole_clusters.json"):
        shutil.copy(ROOT / "tests/live" / record, root / "tests/live")
    (root / "docs").mkdir()
    for name in ("docs/rules.md", "docs/argocd.md", "tests/pitfalls.yaml", "tests/pairs.yaml", "tests/recordings.yaml"):
        shutil.copy(ROOT / name, root / name)
    for name in ("policies", "schemas", "tests/apiserver"):
        (root / name).symlink_to(ROOT / name)
    (root / "platform/trainyard" / FILE).write_text(CODE, encoding="utf-8")
    return root


def run(checkout: Path, *command: str, cwd: Path | None = None) -> str:
    """Run Python with the copy, and return what it prints."""
    env = {**os.environ, "PYTHONPATH": str(checkout / "platform"), "CI": ""}
    done = subprocess.run([sys.executable, *command], cwd=cwd or checkout, env=env, capture_output=True, text=True)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def changed(left: Path, right: Path) -> set[str]:
    """Return the files that differ between two folders, or are in one alone."""
    found: set[str] = set()
    todo = [(filecmp.dircmp(left, right, ignore=["__pycache__"]), "")]
    while todo:
        compared, at = todo.pop()
        names = (*compared.left_only, *compared.right_only, *compared.diff_files)
        found |= {f"{at}{name}" for name in names}
        todo += ((inner, f"{at}{name}/") for name, inner in compared.subdirs.items())
    return found


def test_one_file_was_added(checkout):
    """Nothing lists checks or rules, and the page names the file."""
    assert f"`{FILE}`" in page.text(recipes.PAGE, "A rule")
    assert changed(ROOT / "platform/trainyard", checkout / "platform/trainyard") == {FILE}


@pytest.mark.go
@pytest.mark.slow
def test_it_is_explained_and_found_and_waived(checkout, tmp_path):
    """By `trainyard rule`, by every command that reads jobs, and by a reason in the job."""
    said = run(checkout, "-m", "trainyard", "rule", "run/deadline")
    assert said.splitlines()[0] == "run/deadline: A job of several nodes says how long it may take."
    assert "fix: set maxHours" in said
    assert "waive: {run/deadline: <reason>}" in said
    small = {**JOB, "waive": {"run/deadline": "somebody watches it"}}
    root = write_repository(tmp_path, clusters={"test": CLUSTER}, jobs={"nlp/one": JOB, "nlp/two": small})
    (root / ".tools").symlink_to(ROOT / ".tools")
    found = run(checkout, "-m", "trainyard", "validate", cwd=root)
    lines = [line for line in found.splitlines() if "run/deadline" in line]
    assert len(lines) == 1
    assert lines[0].startswith("jobs/nlp/one.yaml:")
    assert "nodes is 2, but maxHours is not set" in lines[0]


@pytest.mark.slow
def test_the_page_on_rules_tells_of_it(checkout):
    """`make docs` writes it into its chapter."""
    run(checkout, "tools/docs.py")
    page = (checkout / "docs/rules.md").read_text(encoding="utf-8")
    assert "\n### run/deadline\n\nWarning. **A job of several nodes says how long it may take.**\n" in page
