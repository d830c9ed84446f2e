"""Commands where something around them is odd: policies that cannot be used, no Git, names that steer a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import call
from make import REPOSITORY, write_repository
from repo import Repo

pytestmark = pytest.mark.node

COMMANDS = ("synth", "synth --check", "plan", "check", "validate")
WITH_BASE = ("plan", "plan --base main", "synth --base main", "validate --against main generated", "check", "synth")
RUBBISH = {
    "a word": ("x.yaml", "rubbish\n", "policies/x.yaml:1:1: error: a policy's file must contain only one"),
    "another kind": ("x.yaml", "kind: ConfigMap\n", "policies/x.yaml:1:7: error: kind is 'ConfigMap', but must be"),
    "a program that ends": (
        "x.py",
        "raise SystemExit(3)\n",
        "policies/x.py:1:1: error: import stopped",
    ),
}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Make a repository that is committed, whose tree is not written yet."""
    repo = Repo(tmp_path / "repo")
    write_repository(repo.root, repository={**REPOSITORY, "live": False})
    repo.commit()
    return repo


@pytest.mark.parametrize("case", RUBBISH)
def test_a_broken_policy_is_one_error_of_every_command(repo: Repo, case: str) -> None:
    """Each says where it is broken, and exits with 1: something is wrong in a file; nothing is written."""
    name, text, said = RUBBISH[case]
    repo.put(f"policies/{name}", text)
    for command in COMMANDS:
        done = call(repo.root, *command.split())
        assert done.returncode == 1, (command, done)
        assert (done.stdout + done.stderr).count(said) == 1, (command, done)
    assert not (repo.root / "generated").exists()


def test_without_the_program_git_every_command_says_so(repo: Repo, tmp_path: Path) -> None:
    """There is a repository; what is missing is the program, and nobody is sent to look for the repository."""
    write_repository(repo.root)
    empty = tmp_path / "empty"
    empty.mkdir()
    (repo.root / "generated").mkdir()
    for command in WITH_BASE:
        done = call(repo.root, *command.split(), PATH=str(empty))
        said = done.stdout + done.stderr
        assert "the program git is not installed" in said, (command, said)
        assert "no Git repository" not in said


def test_a_plan_says_which_engine_it_lacks(repo: Repo, tmp_path: Path) -> None:
    """Without kubeconform objects are judged by one engine alone, and the plan says so beside its words."""
    call(repo.root, "synth")
    done = call(repo.root, "plan")
    assert "skipped schema/kubeconform: kubeconform, the second schema engine, is not installed" in done.stderr
    assert "skipped schema/kubeconform" not in call(repo.root, "plan", "--quiet").stderr


@pytest.mark.parametrize("command", ["validate", "check", "explain", "node replay"])
def test_what_stops_a_command_steers_no_terminal(repo: Repo, command: str) -> None:
    """Names in a sentence on standard error are shown with their controls as escapes."""
    done = call(repo.root, *command.split(), "gone\x1b[31m\u202e.yaml")
    assert done.returncode
    assert "\x1b" not in done.stderr
    assert "\u202e" not in done.stderr
    assert "gone\\x1b[31m" in done.stderr
