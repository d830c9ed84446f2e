"""`upgrade` writes releases where they stand, says what they do, and writes nothing that would not work."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from command import Done, call
from make import CLUSTER, JOB, TEAM, fields, write_repository

UNLISTED = {"like": "0.12.0", "reason": "compared by hand"}
OPERATORS = {
    **CLUSTER["operators"],
    "kueue": {"version": "0.18.6"},
    "jobset": {"version": "0.11.1", "unlisted": UNLISTED},
    "trainer": {"version": "2.2.1"},
    "volcano": {"version": "1.15.1"},
}
FLOW = 'kueue: {version: "0.18.6"}  # the oldest that trains here'


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a repository with a cluster that runs old releases, and one that takes them from it."""
    other = {"base": "test", "argocd": {"destination": {"name": "other"}}}
    clusters = {"test": fields(CLUSTER, {"operators": OPERATORS}), "other": other}
    root = write_repository(
        tmp_path_factory.mktemp("upgrade"), jobs={"nlp/train": JOB}, teams={"nlp": TEAM}, clusters=clusters
    )
    file = root / "platform/clusters/test.yaml"
    text = file.read_text("utf-8")
    assert '  kueue:\n    version: "0.18.6"\n' in text
    file.write_text(text.replace('  kueue:\n    version: "0.18.6"\n', f"  {FLOW}\n"), "utf-8")
    return root


@pytest.fixture
def root(first: Path, tmp_path: Path) -> Path:
    """Return a copy of the repository."""
    return Path(shutil.copytree(first, tmp_path / "repo"))


def upgrade(root: Path, *arguments: str) -> Done:
    """Call the command in a repository."""
    return call(root, "upgrade", *arguments)


def test_a_release_is_written_where_it_stands(root: Path) -> None:
    """Of a cluster with a base that is the base's file; the comment stays, and who else gets the release is said."""
    file = root / "platform/clusters/test.yaml"
    before = file.read_text("utf-8")
    dry = upgrade(root, "other", "kueue", "0.19.2", "--dry-run")
    assert (dry.returncode, file.read_text("utf-8")) == (0, before)
    assert "would write platform/clusters/test.yaml:" in dry.stdout
    done = upgrade(root, "other", "kueue", "0.19.2")
    assert done.returncode == 0, done.stderr
    assert file.read_text("utf-8") == before.replace(FLOW, FLOW.replace("0.18.6", "0.19.2"))
    lines = done.stdout.splitlines()
    assert lines[0] == "upgrade kueue 0.18.6 → 0.19.2"
    assert any(line.startswith("also upgrades test: kueue stands in platform/clusters/test.yaml") for line in lines)
    assert any("waitForPodsReady" in line for line in lines)
    assert any(line.startswith("  restarts: kueue-controller-manager") for line in lines)
    assert "jobs: no verdict changes, of 1 job" in lines
    assert lines[-1] == "next: trainyard synth, then trainyard plan"
    again = upgrade(root, "other", "kueue", "0.19.2")
    assert (again.returncode, again.stdout) == (0, "cluster other runs kueue 0.19.2 already; nothing was written\n")


def test_what_must_go_along_is_written_too(root: Path) -> None:
    """JobSet moves before Trainer, and nothing is unlisted any more; as JSON too."""
    done = upgrade(root, "test", "trainer", "2.3.0", "--dry-run")
    assert [line for line in done.stdout.splitlines() if line[:2] in {"1.", "2."}] == [
        "1. upgrade jobset 0.11.1 → 0.12.0 (trainer 2.3.0 needs 0.12.0 or newer)",
        "2. upgrade trainer 2.2.1 → 2.3.0",
    ]
    assert "  trainyard upgrade test jobset 0.12.0" in done.stdout.splitlines()
    left = [line for line in done.stdout.splitlines() if line.startswith("  left over: ")]
    assert [line.partition(";")[0].rpartition(": ")[2] for line in left] == [
        "Role jobset-system/jobset-controller",
        "RoleBinding jobset-system/jobset-controller",
    ]
    found = json.loads(upgrade(root, "test", "trainer", "2.3.0", "--format", "json").stdout)
    assert [step["move"]["operator"] for step in found["steps"]] == ["jobset", "trainer"]
    assert (found["dryRun"], found["cluster"], found["decidedAs"]) == (False, "test", [])
    text = (root / "platform/clusters/test.yaml").read_text("utf-8")
    assert '  jobset:\n    version: "0.12.0"\n' in text
    assert "unlisted" not in text
    assert "platform/clusters" not in call(root, "check").stdout


def test_a_downgrade_is_told_as_that(root: Path) -> None:
    """It is a warning where the older release can read what is stored."""
    done = upgrade(root, "test", "volcano", "1.14.4")
    assert done.returncode == 0
    assert "warning: volcano 1.14.4 is older than 1.15.1, which the cluster runs" in done.stderr + done.stdout
    assert "downgrade volcano 1.15.1 → 1.14.4" in done.stdout.splitlines()
    assert "fields that the new release does not know are dropped" in done.stdout
    left = [line.partition(";")[0] for line in done.stdout.splitlines() if line.startswith("  left over: ")]
    assert left == ["  left over: ConfigMap volcano-system/volcano-sharding-configmap"]


WRONG = {
    "a release that is not known": (("test", "kueue", "0.19.9"), 1, "kueue 0.19.9 is unknown; known releases: 0.19.2"),
    "an operator with a typo": (("test", "kueu", "0.19.2"), 1, "did you mean 'kueue'?"),
    "an operator that is not there": (("test", "lws", "0.10.0"), 1, "cluster 'test' has no operator 'lws'"),
    "a cluster with a typo": (("tset", "kueue", "0.19.2"), 2, "cluster 'tset' does not exist; did you mean 'test'?"),
}


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_written_is_one_finding(first: Path, arguments, code, message) -> None:
    """Nothing is written, and the file stays as it is."""
    before = (first / "platform/clusters/test.yaml").read_bytes()
    done = upgrade(first, *arguments)
    assert (done.returncode, message in done.stdout + done.stderr) == (code, True), done
    assert (first / "platform/clusters/test.yaml").read_bytes() == before
    if code == 1:
        said = json.loads(upgrade(first, *arguments, "--format", "json").stdout)
        assert said["refused"] is True
        assert len(said["findings"]) == 1


def test_values_that_the_chart_does_not_read_stop_it(root: Path) -> None:
    """A value that the other release's chart does not read is an error, and nothing is written."""
    file = root / "platform/clusters/test.yaml"
    assert upgrade(root, "test", "trainer", "2.3.0").returncode == 0
    written = file.read_text("utf-8")
    text = written.replace(
        '  trainer:\n    version: "2.3.0"\n', '  trainer: {version: "2.3.0", values: {crds: {enabled: true}}}\n'
    )
    assert text != written
    file.write_text(text, "utf-8")
    done = upgrade(root, "test", "trainer", "2.2.1")
    assert (done.returncode, file.read_text("utf-8")) == (1, text)
    assert "[values/unknown]" in done.stdout + done.stderr


def test_a_cluster_whose_file_has_errors_is_not_unknown(root: Path) -> None:
    """It is named with the command that shows them, and so is Kubernetes, which is no operator."""
    done = upgrade(root, "platform/clusters/test.yaml", "kubernetes", "1.36.2")
    assert (done.returncode, "write kubernetes: '1.36' into the file" in done.stdout + done.stderr) == (1, True)
    file = root / "platform/clusters/test.yaml"
    file.write_text(file.read_text("utf-8") + "nonsense: 1\n", "utf-8")
    done = upgrade(root, "test", "kueue", "0.19.2")
    assert done.returncode == 2
    assert "platform/clusters/test.yaml has errors; fix them first" in done.stderr
