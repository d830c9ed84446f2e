"""A team whose namespace has another name, in a repository: what commands say, and what becomes of its runs."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from unittest import mock

import pytest

from command import Done, call
from make import JOB, TEAM, write_repository
from repo import Repo
from trainyard.base.documents import dump

pytestmark = [pytest.mark.node, pytest.mark.slow]

FILE, TRAIN = "platform/teams/nlp.yaml", "jobs/nlp/train.yaml"


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Return a repository whose team has namespace `ml-prod`, with one run that is merged."""
    root = tmp_path_factory.mktemp("moved") / "repo"
    saved = {"volume": "checkpoints", "everyMinutes": 30, "size": "10Gi"}
    write_repository(
        root, teams={"nlp": {**TEAM, "namespace": "ml-prod"}}, jobs={"nlp/train": {**JOB, "checkpoint": saved}}
    )
    repo = Repo(root)
    assert done(repo, "synth").returncode == 0
    repo.commit()
    return repo


def done(repo: Repo, *arguments: str) -> Done:
    """Run a command that remembers nothing of other repositories."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"XDG_CACHE_HOME": folder}):
        return call(repo.root, *arguments, XDG_CACHE_HOME=folder)


def put(repo: Repo, **changes: object) -> None:
    """Write the team's file with other fields."""
    fields = {**TEAM, "namespace": "ml-prod", **changes}
    repo.put(FILE, dump({key: value for key, value in fields.items() if value is not None}))


def job(repo: Repo, **changes: object) -> None:
    """Write the job's file with other fields."""
    saved = {"volume": "checkpoints", "everyMinutes": 30, "size": "10Gi"}
    repo.put(TRAIN, dump({**JOB, "checkpoint": saved, **changes}))


def errors(found: Done) -> list[str]:
    """Return the errors of a report, as place and rule."""
    return re.findall(
        r"^(\S+?):[\d:]* error: .* \[(?:[a-z-]+/)?([a-z-]+)\]$", found.stdout + found.stderr, re.MULTILINE
    )


def test_commands_speak_of_the_namespace_and_of_the_team(repo: Repo) -> None:
    """Checks find nothing; a run is in the namespace, its folder and its job have the team's name."""
    checked, explained = done(repo, "check"), done(repo, "explain", "nlp/train")
    assert "0 errors, 0 warnings" in checked.stdout + checked.stderr
    assert re.match(r"JobSet ml-prod/train-[a-z2-7]{8} on cluster test\n", explained.stdout)
    assert "nlp/train  fits" in done(repo, "admit").stdout
    assert [path.parent.name for path in (repo.root / "generated/test/runs").glob("*/*/")] == ["nlp"]
    assert "`ml-prod/tokens`" in (repo.root / "generated/test/PREREQUISITES.md").read_text()


CHANGES = {
    "another namespace": {"namespace": "ml-other"},
    "none any more": {"namespace": None},
    "another on this cluster alone": {"namespace": {"default": "ml-prod", "test": "ml-test"}},
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("retired", [False, True], ids=["running", "retired with it"])
def test_a_team_with_runs_keeps_its_namespace(repo: Repo, changes, retired) -> None:
    """It is one error at the team's file, also where this change ends the runs: Argo CD would not see them any more."""
    put(repo, **changes)
    job(repo, retired=retired)
    found = done(repo, "check")
    assert errors(found) == [(FILE, "namespace-changed")]
    assert "namespace of team 'nlp' on 'test' was 'ml-prod', where it has runs: train-" in found.stdout + found.stderr
    assert "retire these runs, merge and sync that" in found.stdout + found.stderr


def test_the_same_namespace_in_other_words_changes_nothing(repo: Repo) -> None:
    """A map that says the same for the cluster is the same namespace."""
    put(repo, namespace={"default": "ml-elsewhere", "test": "ml-prod"})
    assert errors(done(repo, "check")) == []


def test_a_team_without_runs_moves_and_the_plan_says_what_stays(repo: Repo) -> None:
    """Its objects are made in the new namespace; those in the old one, claims above all, stay there."""
    job(repo, retired=True)
    assert done(repo, "synth").returncode == 0
    repo.commit()
    put(repo, namespace="ml-other")
    job(repo, run=2)
    assert done(repo, "synth").returncode == 0
    plan = done(repo, "plan").stdout
    for line in (
        "! data of team nlp stay behind in namespace ml-prod: copy them",
        "namespace of team nlp: ml-prod → ml-other (namespace ml-prod stays with its objects",
        "removes PersistentVolumeClaim ml-prod/checkpoints, kept in the cluster",
        "adds PersistentVolumeClaim ml-other/checkpoints",
        "removes LocalQueue ml-prod/research, kept in the cluster",
    ):
        assert line in plan, line


def test_what_is_remembered_follows_a_teams_namespace(repo: Repo, tmp_path: Path) -> None:
    """A job is looked at again where its team gets a namespace, though neither its file nor its cluster's changed."""
    job(repo, retired=True)
    put(repo)
    with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(tmp_path)}):
        call(repo.root, "synth", XDG_CACHE_HOME=str(tmp_path))
        repo.commit()
        job(repo, run=2)
        call(repo.root, "synth", XDG_CACHE_HOME=str(tmp_path))
        put(repo, namespace="ml-later")
        call(repo.root, "synth", XDG_CACHE_HOME=str(tmp_path))
    made = [path.read_text() for path in (repo.root / "generated/test/runs").glob("*/*/jobset.*.yaml")]
    assert ["namespace: ml-later" in text for text in made] == [True]
