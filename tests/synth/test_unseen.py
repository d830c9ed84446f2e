"""Whatever lies below `generated/` on disk or in Git, and is not of the tree, is an error in a check."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from make import JOB, write_repository
from repo import Repo
from trainyard import __version__
from trainyard.change.synth import session

pytestmark = pytest.mark.node

RUNS = "generated/test/runs/nlp"
EVIL = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: evil, namespace: nlp}\n"


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Make a repository with a job on main, rendered."""
    repo = Repo(tmp_path_factory.mktemp("first") / "repo")
    write_repository(repo.root, jobs={"nlp/train": JOB})
    outcome = session.run(repo.root, __version__)
    assert outcome.work is not None
    assert not outcome.refused
    list(outcome.work.write())
    repo.commit()
    repo.git("switch", "-qc", "work")
    return repo


def checked(repo: Repo) -> dict[str, str]:
    """Return the rule of each error that a check finds, by where it is."""
    findings = session.run(repo.root, __version__, checking=True).findings
    return {finding.location.file: finding.rule for finding in findings if finding.is_error}


NAMES = (
    *(".trainyard-1-1.yaml", ".trainyard-1-1.tmp", ".trainyard-x.tmp", ".evil.yaml", "evil.yml", "x.YAML", "x.json"),
    *("Kustomization", "kustomization.yaml", ".gitattributes", "Chart.yaml", "no-ending", ".argocd-source.yaml", "x~"),
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("folder", [RUNS, "generated/test/argocd", "generated", "generated/other/runs/nlp"])
def test_a_file_of_nobody_is_an_error(name: str, folder: str, repo: Repo) -> None:
    """Its name does not matter, nor whether it is hidden, in any folder."""
    repo.put(f"{folder}/{name}", EVIL)
    repo.commit()
    assert f"{folder}/{name}" in checked(repo) or folder in checked(repo)


def run_file(repo: Repo) -> Path:
    """Return a file of the run."""
    return next(path for path in sorted((repo.root / RUNS).rglob("*.yaml")) if path.is_file())


def submodule(repo: Repo) -> str:
    """Put a submodule into the runs that no disk shows."""
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},{RUNS}/evil")
    (repo.root / RUNS / "evil").mkdir()
    return f"{RUNS}/evil"


def submodule_of_jobs(repo: Repo) -> str:
    """Put one beside the jobs."""
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},jobs/nlp/more")
    return "jobs/nlp/more"


def link(repo: Repo) -> str:
    """Put a link to a file."""
    (repo.root / RUNS / "evil.yaml").symlink_to("../../../../jobs/nlp/train.yaml")
    repo.commit()
    return f"{RUNS}/evil.yaml"


def link_to_folder(repo: Repo) -> str:
    """Put a link to a folder."""
    (repo.root / RUNS / "evil").symlink_to("../../..")
    repo.commit()
    return f"{RUNS}/evil"


def not_checked_out(repo: Repo) -> str:
    """Have a file in Git that a sparse checkout leaves out."""
    repo.put(f"{RUNS}/evil.yaml", EVIL)
    repo.commit()
    repo.git("update-index", "--skip-worktree", f"{RUNS}/evil.yaml")
    (repo.root / RUNS / "evil.yaml").unlink()
    return f"{RUNS}/evil.yaml"


def taken_for_unchanged(repo: Repo) -> str:
    """Have Git hold another content of a file than the disk, and look at the disk no more."""
    path = run_file(repo)
    good, name = path.read_text(), path.relative_to(repo.root).as_posix()
    path.write_text(EVIL)
    repo.commit()
    repo.git("update-index", "--assume-unchanged", name)
    path.write_text(good)
    return name


def fifo(repo: Repo) -> str:
    """Put a pipe, which waits for ever whoever opens it."""
    os.mkfifo(repo.root / RUNS / "evil.yaml")
    return f"{RUNS}/evil.yaml"


def device(repo: Repo) -> str:
    """Link to a device that never ends."""
    (repo.root / RUNS / "evil.yaml").symlink_to("/dev/zero")
    return f"{RUNS}/evil.yaml"


HIDDEN: dict[str, Callable[[Repo], str]] = {
    "a submodule": submodule,
    "a submodule beside jobs": submodule_of_jobs,
    "a link to a file": link,
    "a link to a folder": link_to_folder,
    "a file that is not checked out": not_checked_out,
    "a file that Git takes for unchanged": taken_for_unchanged,
    "a pipe": fifo,
    "an endless device": device,
}


@pytest.mark.parametrize("case", HIDDEN)
def test_what_is_hidden_is_an_error(case: str, repo: Repo) -> None:
    """What Git holds and the disk does not show, and what is no plain file, is told where it is."""
    path = HIDDEN[case](repo)
    assert path in checked(repo)


def test_what_an_attribute_translates_is_an_error(repo: Repo) -> None:
    """A file whose content in Git is another than on disk is told, though Git takes the two for one."""
    path = run_file(repo)
    name = path.relative_to(repo.root).as_posix()
    good = path.read_bytes()
    repo.put(".gitattributes", f"{name} ident\n")
    path.write_bytes(good + b"# $Id$\n")
    repo.commit()
    path.unlink()
    repo.git("checkout", "--", name)
    assert b"$Id: " in path.read_bytes()
    assert checked(repo)[name] == "run/unseen"


def test_who_is_still_editing_is_told_nothing_new(repo: Repo) -> None:
    """Files that are not added yet, or changed since, are other than the index, and Git knows it."""
    write_repository(repo.root, jobs={"nlp/train": {**JOB, "nodes": 1}})
    outcome = session.run(repo.root, __version__)
    assert outcome.work is not None
    list(outcome.work.write())
    assert checked(repo) == {}
    repo.git("add", "--all")
    assert checked(repo) == {}


def test_an_edit_that_was_added_and_taken_back_is_told_by_nobody(repo: Repo) -> None:
    """What is staged is the next commit's: a pipeline sees it there."""
    path = run_file(repo)
    good = path.read_text()
    path.write_text(EVIL)
    repo.git("add", "--all")
    path.write_text(good)
    assert checked(repo) == {}


@pytest.mark.parametrize("top", ["jobs", "platform/clusters", "platform/teams", "platform", "generated", "jobs/nlp"])
def test_no_link_leads_to_a_folder_of_ours(top: str, repo: Repo, tmp_path: Path) -> None:
    """A folder behind a link is an error, and not read."""
    (repo.root / top).rename(tmp_path / "elsewhere")
    (repo.root / top).symlink_to(tmp_path / "elsewhere")
    assert checked(repo)
