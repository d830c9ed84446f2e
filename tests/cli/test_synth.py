"""The commands on a small repository with real charts, from specs to files and words."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from command import call as trainyard
from conftest import ROOT
from make import CLUSTER, JOB, REPOSITORY, TEAM, UNLISTED, write_repository
from repo import ENV, Repo

pytestmark = pytest.mark.node

SRIOV = {"sriov-network-operator": "1.6.0", "multus": "4.3.0", "whereabouts": "0.9.4"}

MAIN = "import sys; from trainyard.faces.cli import main; main(sys.argv[1:])"


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Make a live repository with one job, synthesised and committed on main, and go to a branch."""
    repo = Repo(tmp_path_factory.mktemp("committed") / "repo")
    write_repository(repo.root)
    done = trainyard(repo.root, "synth")
    assert done.returncode == 0, done.stderr
    repo.commit()
    repo.git("switch", "-qc", "work")
    return repo


def rewrite(repo: Repo, **changes: Mapping[str, Any]) -> None:
    """Write the specs again with other values."""
    write_repository(repo.root, **{name: dict(value) for name, value in changes.items()})


def tree(root: Path) -> dict[str, bytes]:
    """Return every generated file."""
    return {
        str(path.relative_to(root)): path.read_bytes() for path in (root / "generated").rglob("*") if path.is_file()
    }


def test_from_specs_to_files_and_words(repo: Repo) -> None:
    """A job is added, checked, planned, committed; an edit by hand is refused; the job is retired."""
    assert trainyard(repo.root, "synth", "--check").returncode == 0
    before = tree(repo.root)
    rewrite(repo, jobs={"nlp/train": JOB, "nlp/small": {**JOB, "nodes": 1}})
    stale = trainyard(repo.root, "synth", "--check")
    assert stale.returncode == 1
    assert "+++ b/generated/test/runs/nlp/small-" in stale.stdout
    assert "[run/stale]" in stale.stderr
    done = trainyard(repo.root, "synth")
    assert done.returncode == 0, done.stderr
    assert "1 run rendered, 1 frozen" in done.stdout
    after = tree(repo.root)
    assert {path: after[path] for path in before} == before
    said = trainyard(repo.root, "plan")
    assert "starts nlp/small-" in said.stdout
    assert "JobSet of 1 pod with 8 nvidia.com/gpu, pool gpu, queue research, priority normal" in said.stdout
    assert said.returncode == 0
    assert trainyard(repo.root, "synth", "--check").returncode == 0

    run = next((repo.root / "generated/test/runs/nlp").glob("train-*/jobset.*.yaml"))
    run.write_text(run.read_text().replace("completions: 2", "completions: 3"))
    refused = trainyard(repo.root, "synth", "--check", "--base", "main")
    assert refused.returncode == 1
    assert "[run/frozen]" in refused.stderr
    assert trainyard(repo.root, "retire", "nlp/train").returncode == 0
    assert trainyard(repo.root, "synth").returncode == 0
    assert not run.parent.exists()
    assert f"stops nlp/{run.parent.name}" in trainyard(repo.root, "plan").stdout


@pytest.mark.slow
def test_a_cluster_that_changes_leaves_existing_runs_alone(repo: Repo) -> None:
    """Another release of an operator and another pool change the platform's files, and no file of a run."""
    before = {path: data for path, data in tree(repo.root).items() if "/runs/" in path or "/ledger/" in path}
    operators = {**CLUSTER["operators"], "kueue": UNLISTED}
    pools = {**CLUSTER["pools"], "more": CLUSTER["pools"]["cpu"]}
    cluster = {**CLUSTER, "topology": [{"rack": "example.com/row"}], "operators": operators, "pools": pools}
    rewrite(repo, clusters={"test": cluster})
    done = trainyard(repo.root, "synth")
    assert done.returncode == 0, done.stderr
    after = {path: data for path, data in tree(repo.root).items() if "/runs/" in path or "/ledger/" in path}
    assert after == before
    assert tree(repo.root) != before


@pytest.mark.slow
@pytest.mark.slow
def test_the_bytes_are_the_same_on_every_machine(repo: Repo, tmp_path: Path) -> None:
    """Another folder, hash seed, time zone and language give the same bytes."""
    other = write_repository(tmp_path / "elsewhere" / "a b")
    env = {"PYTHONPATH": str(ROOT / "platform"), "PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    command = [sys.executable, "-c", MAIN, "synth"]
    done = subprocess.run(
        command, cwd=other, env={**ENV, **env, "HOME": str(tmp_path)}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert tree(other) == tree(repo.root)


@pytest.mark.slow
def test_ci_has_to_say_what_it_compares_with(repo: Repo) -> None:
    """A checkout of a pipeline may lack the branches that tell the base."""
    missing = trainyard(repo.root, "synth", "--check", CI="true")
    assert missing.returncode == 2
    assert "--base REF" in missing.stderr
    assert trainyard(repo.root, "plan", CI="true").returncode == 2
    assert trainyard(repo.root, "plan", "--base", "main", CI="true").returncode == 0
    assert trainyard(repo.root, "synth", "--check", "--base", "main", CI="true").returncode == 0
    assert trainyard(repo.root, "synth", "--check", CI="true", TRAINYARD_BASE="main").returncode == 0
    assert trainyard(repo.root, "synth", "--check", "--base", "nowhere", CI="true").returncode == 2


@pytest.mark.slow
def test_what_operators_and_launchers_refuse_stops_a_synth(repo: Repo) -> None:
    """All problems are reported together, and nothing is written."""
    before = tree(repo.root)
    jobs = {"nlp/train": JOB, "nlp/a": {**JOB, "kind": "TrainJob"}, "nlp/b": {**JOB, "launcher": "torchrn"}}
    rewrite(repo, jobs=jobs, clusters={"test": {**CLUSTER, "operators": {"kueu": {"version": "1"}}}})
    done = trainyard(repo.root, "synth")
    assert done.returncode == 1
    assert "jobs/nlp/a.yaml" in done.stderr
    assert "did you mean 'torchrun'" in done.stderr
    assert "did you mean 'kueue'" in done.stderr
    assert tree(repo.root) == before


@pytest.mark.slow
def test_a_cluster_that_does_not_hold_together_stops_a_synth(repo: Repo) -> None:
    """Addresses that do not last, kubelets that would not start, and shapes that do not exist are all findings."""
    kubelet = {"cpuManagerPolicy": "none", "cpuManagerPolicyOptions": {"full-pcpus-only": "true"}}
    pools = {**CLUSTER["pools"], "gpu": {**CLUSTER["pools"]["gpu"], "kubelet": kubelet}}
    fabric = {"type": "roce", "rails": 8, "attach": "sriov", "addresses": "10.56.0.0/27"}
    operators = {name: {"version": version} for name, version in SRIOV.items()}
    wrong = {**CLUSTER, "pools": pools, "fabric": fabric, "operators": CLUSTER["operators"] | operators}
    unknown = {**CLUSTER, "pools": {**pools, "gpu": {"shape": "dgx-h10", "nodes": 4}}}
    for cluster, rules in ((wrong, {"rdma-ipam-capacity", "numa-full-pcpus"}), (unknown, {"spec/unknown-shape"})):
        rewrite(repo, clusters={"test": cluster})
        done = trainyard(repo.root, "synth")
        assert done.returncode == 1
        assert all(f"[{rule}]" in done.stderr for rule in rules), done.stderr


@pytest.mark.slow
def test_removing_a_volume_that_a_run_needs_is_refused(repo: Repo) -> None:
    """The finding names the run and stands at the team's file."""
    checkpoint = {"volume": "checkpoints", "size": "10Gi"}
    jobs = {"nlp/train": JOB, "nlp/saves": {**JOB, "checkpoint": checkpoint}}
    rewrite(repo, jobs=jobs)
    assert trainyard(repo.root, "synth").returncode == 0
    repo.commit()
    repo.git("switch", "-q", "main")
    repo.git("merge", "-q", "work")
    repo.git("switch", "-q", "work")
    rewrite(repo, jobs=jobs, teams={"nlp": {**TEAM, "volumes": {"states": {"storage": "shared", "size": "1Ti"}}}})
    done = trainyard(repo.root, "synth")
    assert done.returncode == 1
    assert "checkpoints" in done.stderr


@pytest.mark.slow
def test_turning_live_off_is_refused(repo: Repo) -> None:
    """The finding stands at the setting."""
    rewrite(repo, repository={**REPOSITORY, "live": False})
    done = trainyard(repo.root, "synth")
    assert done.returncode == 1
    assert "platform/repository.yaml:1:" in done.stderr
    assert "[run/live]" in done.stderr


@pytest.mark.slow
def test_a_folder_that_is_no_repository_is_named(tmp_path: Path) -> None:
    """Neither command leaves a traceback or a file."""
    for command in ("synth", "plan"):
        done = trainyard(tmp_path, command)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.slow
def test_a_folder_for_temporary_files_that_is_not_there_is_not_needed(repo: Repo) -> None:
    """cdk8s unpacks itself in another one."""
    rewrite(repo, jobs={"nlp/train": JOB, "nlp/small": {**JOB, "nodes": 1}})
    command = [sys.executable, "-c", MAIN, "synth"]
    env = {**ENV, "TMPDIR": str(repo.root / "nowhere")}
    done = subprocess.run(command, cwd=repo.root, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not (repo.root / "nowhere").exists()


@pytest.mark.slow
def test_a_commit_that_is_done_is_judged_with_advice(repo: Repo) -> None:
    """A synth on the default branch looks at what comes next, so it cannot mend what the last commit did."""
    repo.git("switch", "-q", "main")
    for nodes in (1, 3):
        rewrite(repo, jobs={"nlp/train": JOB, "nlp/small": {**JOB, "nodes": nodes}})
        assert trainyard(repo.root, "synth", "--base", "HEAD~0" if nodes == 1 else "HEAD~1").returncode == 0
        repo.commit()
    done = trainyard(repo.root, "synth", "--check")
    assert done.returncode == 1
    assert "fix: HEAD was compared with its first parent" in done.stderr
    assert trainyard(repo.root, "synth", "--check", "--base", "HEAD~2").returncode == 0


@pytest.mark.slow
def test_a_stopped_run_comes_back_under_another_name(repo: Repo) -> None:
    """Retired and merged, the same spec is refused until its `run:` is raised, which a command does."""
    assert trainyard(repo.root, "retire", "nlp/train").returncode == 0
    assert trainyard(repo.root, "synth").returncode == 0
    repo.commit()
    repo.git("switch", "-q", "main")
    repo.git("merge", "-q", "work")
    repo.git("switch", "-q", "work")
    path = repo.root / "jobs/nlp/train.yaml"
    path.write_text(path.read_text().replace("retired: true\n", ""))
    for _ in range(2):
        refused = trainyard(repo.root, "synth")
        assert refused.returncode == 1
        assert "jobs/nlp/train.yaml:1:1: error: run 'train-" in refused.stderr
        assert "was retired and cannot start again; set run: 2 [run/name-used]" in refused.stderr
    assert trainyard(repo.root, "rerun", "nlp/train").returncode == 0
    assert path.read_text().endswith("run: 2\n")
    assert trainyard(repo.root, "synth").returncode == 0
    assert "starts nlp/train-" in trainyard(repo.root, "plan").stdout
