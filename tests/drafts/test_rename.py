"""A renamed job keeps the folder of its checkpoints, ends its run, and nothing else names what is not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from command import call as trainyard
from make import CLUSTER, JOB, REPOSITORY, TEAM, write_repository
from repo import Repo
from trainyard.base.documents import load

SAVES = {**JOB, "checkpoint": {"volume": "checkpoints", "size": "8Gi"}}
PLATFORM: dict[str, Any] = {"teams": {"nlp": {**TEAM, "python": True}}, "clusters": {"test": CLUSTER}}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Make a repository with a job that saves on main, and go to a branch."""
    repo = Repo(tmp_path_factory.mktemp("merged") / "repo")
    write_repository(repo.root, jobs={"nlp/train": SAVES, "nlp/plain": JOB}, **PLATFORM)
    repo.commit()
    repo.git("switch", "-qc", "work")
    return repo


def renamed(repo: Repo, *arguments: str) -> list[str]:
    """Rename a job and return what is said."""
    done = trainyard(repo.root, "rename", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def fields(repo: Repo, name: str) -> dict[str, Any]:
    """Return what a job's file says."""
    data = (repo.root / f"jobs/nlp/{name}.yaml").read_bytes()
    value = load(data, file=name)[0][0].value
    assert isinstance(value, dict)
    return value


def test_the_folder_stays(repo: Repo) -> None:
    """Only the folder and the former name are added to the file, and what becomes of the run is said."""
    assert renamed(repo, "nlp/train", "large") == [
        "jobs/nlp/train.yaml is now jobs/nlp/large.yaml; next: run make synth",
        "once this is merged, the run of train stops, and a run of large resumes from the checkpoints in folder train",
    ]
    assert not (repo.root / "jobs/nlp/train.yaml").exists()
    checkpoint = {"folder": "train", "volume": "checkpoints", "size": "8Gi"}
    assert fields(repo, "large") == {**SAVES, "checkpoint": checkpoint, "renamedFrom": "train"}
    assert trainyard(repo.root, "check", "jobs/nlp/large.yaml").returncode == 0


def test_a_job_that_is_renamed_twice_keeps_its_first_folder(repo: Repo) -> None:
    """Before a merge and after one; the former name is the one whose run is to end."""
    renamed(repo, "nlp/train", "two")
    renamed(repo, "nlp/two", "nlp/three")
    three = fields(repo, "three")
    assert (three["checkpoint"]["folder"], three["renamedFrom"]) == ("train", "train")
    repo.commit()
    repo.git("branch", "-f", "main", "work")
    renamed(repo, "jobs/nlp/three.yaml", "four")
    four = fields(repo, "four")
    assert (four["checkpoint"]["folder"], four["renamedFrom"]) == ("train", "three")


def test_a_job_that_never_ran_takes_all_with_it(repo: Repo) -> None:
    """What no cluster has seen has no checkpoints, and nothing of it ends."""
    repo.put("jobs/nlp/new.yaml", (repo.root / "jobs/nlp/train.yaml").read_text())
    assert renamed(repo, "nlp/new", "newer") == ["jobs/nlp/new.yaml is now jobs/nlp/newer.yaml; next: run make synth"]
    assert fields(repo, "newer") == SAVES


def test_a_job_without_checkpoints_is_said_to_start_from_nothing(repo: Repo) -> None:
    """It has no folder to keep."""
    assert renamed(repo, "nlp/plain", "simple")[1].endswith("and a run of simple starts from nothing")
    assert fields(repo, "simple") == {**JOB, "renamedFrom": "plain"}


def test_a_retired_job_has_nothing_that_ends(repo: Repo) -> None:
    """The folder is kept, for when it runs again; a job that is retired in the same change has a run that ends."""
    write_repository(repo.root, jobs={"nlp/train": {**SAVES, "retired": True}}, **PLATFORM)
    repo.commit()
    repo.git("branch", "-f", "main", "work")
    assert len(renamed(repo, "nlp/train", "large")) == 1
    assert "renamedFrom" not in fields(repo, "large")
    assert fields(repo, "large")["checkpoint"]["folder"] == "train"
    write_repository(repo.root, jobs={"nlp/plain": {**JOB, "retired": True}}, **PLATFORM)
    renamed(repo, "nlp/plain", "simple")
    assert fields(repo, "simple") == {**JOB, "retired": True, "renamedFrom": "plain"}


WRITTEN = {
    "a map in lines": "checkpoint:\n  volume: checkpoints\n  size: 8Gi\n",
    "a map in one line": "checkpoint: {volume: checkpoints, size: 8Gi}\n",
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_a_job_gets_its_name_back(repo: Repo, written: str) -> None:
    """Before a merge nothing has changed then, byte for byte."""
    text = (repo.root / "jobs/nlp/train.yaml").read_text()
    head, _, rest = text.partition("checkpoint:\n")
    body = "".join(line for line in rest.splitlines(keepends=True) if not line.startswith(" "))
    repo.put("jobs/nlp/train.yaml", f"{head}{written}{body}")
    repo.commit()
    repo.git("branch", "-f", "main", "work")
    renamed(repo, "nlp/train", "large")
    assert fields(repo, "large")["renamedFrom"] == "train"
    renamed(repo, "nlp/large", "train")
    assert repo.git("status", "--porcelain") == ""


def test_comments_and_form_of_the_file_stay(repo: Repo) -> None:
    """Only two lines are added."""
    text = (repo.root / "jobs/nlp/train.yaml").read_text()
    head, _, rest = text.partition("checkpoint:\n")
    repo.put("jobs/nlp/train.yaml", f"# mine\n{head}checkpoint: # where\n{rest}")
    renamed(repo, "nlp/train", "large")
    made = (repo.root / "jobs/nlp/large.yaml").read_text()
    assert made == f"# mine\n{head}checkpoint: # where\n  folder: train\n{rest}renamedFrom: train\n"


def test_what_names_the_job_follows_or_is_named(repo: Repo) -> None:
    """Jobs that come after it are changed, what a person wrote elsewhere is listed."""
    cluster = {**CLUSTER, "pipelines": {"image": f"registry.example.com/python@sha256:{'ab' * 32}"}}
    steps = {"nlp/train": {**SAVES, "after": []}, "nlp/eval": {**JOB, "after": ["train"]}}
    steps["nlp/report"] = {**JOB, "after": ["nlp/eval", "nlp/train"]}
    write_repository(repo.root, jobs=steps, **{**PLATFORM, "clusters": {"test": cluster}})
    repo.put(".github/CODEOWNERS", "/jobs/nlp/train.yaml @lead\n/jobs/nlp/trainer.yaml @lead\n")
    repo.put("README.md", "See nlp/train and nlp/train-2.\n")
    lines = renamed(repo, "nlp/train", "large")
    assert ", and changed jobs/nlp/eval.yaml, jobs/nlp/report.yaml;" in lines[0]
    assert lines[1] == "exported pipelines still use the old name; export them again with `trainyard pipeline`"
    assert "renamedFrom" not in fields(repo, "large")
    assert lines[-1] == "these files name the job too; check them: .github/CODEOWNERS:1, README.md:1"
    assert fields(repo, "eval")["after"] == ["large"]
    assert fields(repo, "report")["after"] == ["nlp/eval", "nlp/large"]


REFUSED = {
    "a job that is not there": (("nlp/trian", "x"), 2, "did you mean 'nlp/train'?"),
    "a name that is there": (("nlp/train", "plain"), 2, "job 'nlp/plain' exists already; choose another name"),
    "its own name": (("nlp/train", "train"), 2, "job 'nlp/train' exists already"),
    "another team": (("nlp/train", "vision/train"), 2, "because volumes belong to a team"),
    "a name in capitals": (("nlp/train", "Large"), 2, "only lower-case letters"),
    "a name that is too long": (("nlp/train", "l" * 31), 2, "has 31 characters; at most 30 are allowed"),
    "a program": (("nlp/sweep", "x"), 2, "nlp/sweep is a program"),
    "a job of a program": (("nlp/sweep-1", "x"), 2, "yield it under another name in jobs/nlp/sweep.py"),
    "a job that a program makes": (("nlp/train", "sweep-1"), 2, "job 'nlp/sweep-1' exists already"),
}
SWEEP = """\
from trainyard.specs import Job


def jobs():
    fields = {"cluster": "test", "launcher": "python", "image": "IMAGE", "pool": "gpu", "queue": "research"}
    yield "sweep-1", Job(program="train.py", gpus_per_node=1, **fields)
"""


@pytest.mark.parametrize(("arguments", "code", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_renamed_is_said(repo: Repo, arguments: tuple[str, ...], code: int, message: str) -> None:
    """No file has changed."""
    repo.put("jobs/nlp/sweep.py", SWEEP.replace("IMAGE", JOB["image"]))
    before = repo.git("status", "--porcelain")
    done = trainyard(repo.root, "rename", *arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert repo.git("status", "--porcelain") == before


def test_the_folder_of_another_job_is_no_name(repo: Repo) -> None:
    """Both would save there."""
    renamed(repo, "nlp/train", "large")
    done = trainyard(repo.root, "rename", "nlp/plain", "train")
    assert "job 'nlp/large' saves to folder 'train'; choose another name" in done.stderr


BOTH = {
    "a job that takes the folder's name": (
        {"nlp/large": {**SAVES, "checkpoint": {**SAVES["checkpoint"], "folder": "train"}}, "nlp/train": SAVES},
        ["ckp-folder"],
    ),
    "two that name one folder": (
        {f"nlp/{name}": {**SAVES, "checkpoint": {**SAVES["checkpoint"], "folder": "x"}} for name in "ab"},
        ["ckp-folder"],
    ),
    "one of them retired": (
        {"nlp/large": {**SAVES, "retired": True}, "nlp/small": {**SAVES, "renamedFrom": "large"}},
        [],
    ),
    "the former name is there": (
        {"nlp/large": {**JOB, "renamedFrom": "train"}, "nlp/train": JOB},
        ["spec/renamed-from"],
    ),
    "two that were one job": (
        {f"nlp/{name}": {**JOB, "renamedFrom": "train"} for name in "ab"},
        ["spec/renamed-from"],
    ),
    "a folder of its own": (
        {"nlp/large": {**SAVES, "checkpoint": {**SAVES["checkpoint"], "folder": "large"}}, "nlp/train": SAVES},
        [],
    ),
}


@pytest.mark.parametrize(("jobs", "rules"), BOTH.values(), ids=BOTH)
def test_two_jobs_never_save_in_one_folder(tmp_path: Path, jobs: dict[str, Any], rules: list[str]) -> None:
    """Whoever names the folder is told, and whoever is there beside its former name."""
    from trainyard.judge.preflight import check_repository

    root = write_repository(tmp_path, jobs=jobs, repository={**REPOSITORY, "live": False})
    assert [finding.rule for finding in check_repository(root).findings] == rules


@pytest.mark.node
@pytest.mark.slow
def test_the_plan_says_that_the_run_goes_on(repo: Repo) -> None:
    """Synth takes it, the old run ends, and a merge leaves nothing to do."""
    repo.git("switch", "-q", "main")
    assert trainyard(repo.root, "synth").returncode == 0
    repo.commit()
    repo.git("branch", "-f", "work", "main")
    repo.git("switch", "-q", "work")
    renamed(repo, "nlp/train", "large")
    assert trainyard(repo.root, "synth").returncode == 0
    said = trainyard(repo.root, "plan", "--base", "main")
    assert said.returncode == 0, said.stdout
    assert "replaces nlp/train-" in said.stdout
    assert "changed: its name (" in said.stdout
    assert "it resumes from the checkpoints of train in volume checkpoints" in said.stdout
    assert "runs: 1 replaced, 1 unchanged" in said.stdout
    (path,) = (repo.root / "generated/test/runs/nlp").glob("large-*/jobset.*.yaml")
    assert "subPath: train\n" in path.read_text()
    repo.commit()
    repo.git("branch", "-f", "main", "work")
    assert trainyard(repo.root, "synth", "--check", "--base", "main~1").returncode == 0
    assert trainyard(repo.root, "check", "--base", "main").returncode == 0
