"""Slips on the command line that everybody makes, each with what is said or done."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import call as trainyard
from make import JOB, TEAM, write_repository

SWEEP = """\
from trainyard.specs import Job


def jobs():
    fields = {"cluster": "test", "launcher": "python", "image": "IMAGE", "pool": "gpu", "queue": "research"}
    yield "sweep-low", Job(program="train.py", gpus_per_node=1, **fields)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a job, a broken one, and a program."""
    jobs = {"nlp/train": JOB, "nlp/broken": {**JOB, "nodez": 2}}
    root = write_repository(tmp_path / "repo", jobs=jobs, teams={"nlp": {**TEAM, "python": True}})
    (root / "jobs/nlp/sweep.py").write_text(SWEEP.replace("IMAGE", JOB["image"]))
    return root


NAMED = {
    "as <team>/<job>": (".", "nlp/train"),
    "by its file": (".", "jobs/nlp/train.yaml"),
    "by its file, as a shell completes it": (".", "./jobs/nlp/train.yaml"),
    "by its file, in its folder": ("jobs/nlp", "train.yaml"),
    "by its file, elsewhere": ("platform/teams", "../../jobs/nlp/train.yaml"),
    "by its file as seen from the root, elsewhere": ("platform/teams", "jobs/nlp/train.yaml"),
    "as <team>/<job>, elsewhere": ("platform/teams", "nlp/train"),
    "by its whole path": (".", "/jobs/nlp/train.yaml"),
}


@pytest.mark.parametrize(("folder", "name"), NAMED.values(), ids=NAMED)
def test_a_job_may_be_named_by_its_file(root: Path, folder: str, name: str) -> None:
    """From the root or from any folder below, by commands that read it and those that write it."""
    named = f"{root}{name}" if name.startswith("/") else name
    (root / "jobs/nlp/broken.yaml").unlink()
    assert trainyard(root / folder, "explain", named).stdout.startswith("JobSet nlp/train-")
    assert trainyard(root / folder, "retire", named).returncode == 0
    assert (root / "jobs/nlp/train.yaml").read_text().endswith("retired: true\n")


def test_a_job_with_an_error_shows_it(root: Path) -> None:
    """The error is told with its place, and why nothing is explained."""
    done = trainyard(root, "explain", "nlp/broken")
    assert done.returncode == 1
    assert "jobs/nlp/broken.yaml:" in done.stderr
    assert "did you mean 'nodes'?" in done.stderr
    assert done.stderr.endswith("job 'nlp/broken' cannot run; its findings say why\n")


MADE = {
    "run again": ("rerun", "nlp/sweep-low is made by a program; set run=2 in jobs/nlp/sweep.py"),
    "stopped": ("retire", "nlp/sweep-low is made by a program; set retired=True in jobs/nlp/sweep.py"),
}


@pytest.mark.parametrize(("command", "said"), MADE.values(), ids=MADE)
def test_a_job_of_a_sweep_is_changed_where_it_is_made(root: Path, command: str, said: str) -> None:
    """It is there, so it is not said to be missing: the file is named and what to write into it."""
    done = trainyard(root, command, "nlp/sweep-low")
    assert (done.returncode, done.stderr) == (2, f"trainyard: {said}\n")


def test_a_job_of_a_sweep_is_explained(root: Path) -> None:
    """As any other, where its program may be run."""
    (root / "jobs/nlp/broken.yaml").unlink()
    assert "nlp/sweep-low-" in trainyard(root, "explain", "nlp/sweep-low", "--python").stdout


WRONG = {
    "a word for a number": (("run", "nlp/train", "--nodes", "two"), "--nodes is 'two', but should be a whole number"),
    "a part of a node": (("run", "nlp/train", "--nodes", "1.5"), "--nodes is '1.5', but should be a whole number"),
    "less than one": (("run", "nlp/train", "--nodes", "0"), "--nodes is 0, but should be 1 or more"),
    "a word for seconds": (("run", "nlp/train", "--grace", "long"), "--grace is 'long', but should be a number"),
    "an option mistyped": (("synth", "--bse"), "no such option: --bse (possible options: --base)"),
    "a command mistyped": (("new", "jobb"), "no such command 'jobb'; did you mean 'job'?"),
    "a job left out": (("explain",), "missing argument 'job'"),
}


@pytest.mark.parametrize(("arguments", "said"), WRONG.values(), ids=WRONG)
def test_a_wrong_option_is_told_in_words(root: Path, arguments: tuple[str, ...], said: str) -> None:
    """The option, what it is, and what it should be, in one line."""
    done = trainyard(root, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"trainyard: {said}\n")


def test_a_missing_git_is_told_apart_from_a_missing_repository(root: Path, tmp_path: Path) -> None:
    """One is installed, the other is made."""
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "the program git is not installed" in trainyard(root, "plan", PATH=str(empty)).stderr
    assert "this folder is in no Git repository" in trainyard(root, "plan").stderr
