"""Pictures go where somebody says, replace nothing but pictures, and are linked by the report."""

from __future__ import annotations

import os

import pytest

from command import call
from make import CLUSTER, JOB, write_repository
from repo import Repo
from trainyard.base.errors import SpecError
from trainyard.faces.cli._pictures import folder_for

OTHER = {**CLUSTER, "argocd": {"version": "3.5.1", "destination": {"name": "other"}}}
JOBS = {"nlp/train": JOB, "nlp/small": {**JOB, "nodes": 1}}


@pytest.fixture
def site(tmp_path):
    """A repository of two jobs, one of them new since the base; nothing is rendered."""
    repo = Repo(tmp_path / "site")
    settings = {"live": False, "repoURL": "https://git.example.com/a/b.git", "registries": ["registry.example.com"]}
    clusters = {"test": CLUSTER, "other": OTHER}
    write_repository(repo.root, jobs={"nlp/train": JOB}, clusters=clusters, repository=settings)
    repo.commit()
    write_repository(repo.root, jobs=JOBS, clusters=clusters, repository=settings)
    return repo.root


def test_admit_draws_the_clusters_that_it_tells_of(site):
    """Hosts and quota of each are written, and told on standard error."""
    done = call(site, "admit", "--svg", "pictures")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (site / "pictures").iterdir()} == {"test.hosts.svg", "test.quota.svg"}
    assert "wrote pictures/test.hosts.svg: test: 24 of 32 GPUs in use, 8 free\n" in done.stderr


@pytest.mark.node
@pytest.mark.slow
def test_plan_draws_before_and_after_and_links_it(site):
    """Clusters that the change touches are drawn against the tree at the base; with --all every one is."""
    small = site / "jobs/nlp/small.yaml"
    text = small.read_text(encoding="utf-8")
    small.unlink()
    assert call(site, "synth").returncode == 0
    Repo(site, create=False).commit()
    small.write_text(text, encoding="utf-8")
    done = call(site, "plan", "--base", "HEAD", "--svg", "out/a b", "--format", "markdown")
    assert "![test: 16 → 24 of 32 GPUs in use, 8 free](out/a%20b/test.hosts.svg)" in done.stdout, done.stderr
    svg = (site / "out/a b/test.hosts.svg").read_text(encoding="utf-8")
    assert "1 job starts (8 GPUs)" in svg
    call(site, "plan", "--base", "HEAD", "--svg", "every", "--all", "--quiet")
    names = {f"{cluster}.{what}.svg" for cluster in ("test", "other") for what in ("hosts", "quota")}
    assert {path.name for path in (site / "every").iterdir()} == names


def test_a_picture_replaces_a_picture_and_nothing_else(site):
    """What is there and is no picture stays, whatever it is, and nothing is written beside it."""
    assert call(site, "admit", "--svg", "pictures").returncode == 0
    assert call(site, "admit", "--svg", "pictures").returncode == 0
    quota = site / "pictures/test.quota.svg"
    quota.write_text("<svg/>")
    (site / "pictures/test.hosts.svg").unlink()
    done = call(site, "admit", "--svg", "pictures")
    assert done.returncode == 2
    assert "test.quota.svg exists and was not written by Trainyard; move it away" in done.stderr
    assert [path.name for path in (site / "pictures").iterdir()] == ["test.quota.svg"]
    assert quota.read_text() == "<svg/>"


@pytest.mark.parametrize("command", ["admit", "plan"])
def test_a_folder_below_a_file_is_told_before_anything_is_decided(site, command):
    """It was told last, by the name of a temporary file."""
    (site / "notes").write_text("")
    done = call(site, command, "--svg", "notes/a/b")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("trainyard: --svg 'notes/a/b' is below ")
    assert done.stderr.endswith("/notes, which is a file; name a folder\n")


def test_a_folder_that_may_not_be_changed_is_told(tmp_path, monkeypatch):
    """Of the nearest folder that is there."""
    monkeypatch.setattr(os, "access", lambda path, _: path != tmp_path)
    with pytest.raises(SpecError, match=r"cannot be written: no permission to change"):
        folder_for(tmp_path / "a/b", tmp_path)


def test_no_link_is_followed(site, tmp_path):
    """Neither a folder nor a file that is a link is written to, nor a folder behind one."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (site / "link").symlink_to(outside)
    for folder in ("link", "link/below"):
        done = call(site, "admit", "--svg", folder)
        assert (done.returncode, "leads through a symbolic link" in done.stderr) == (2, True)
    (site / "pictures").mkdir()
    (site / "pictures/test.hosts.svg").symlink_to(outside / "target.svg")
    assert call(site, "admit", "--svg", "pictures").returncode == 2
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("folder", ["generated/test", "jobs/nlp", "platform/clusters"])
def test_pictures_do_not_go_where_something_else_belongs(site, folder):
    """What synth or people own holds no pictures."""
    done = call(site, "admit", "--svg", folder)
    assert (done.returncode, "where pictures do not belong" in done.stderr) == (2, True)


def test_a_file_is_no_folder(site):
    """A file that is named is told of and left alone."""
    (site / "note").write_text("words")
    done = call(site, "admit", "--svg", "note")
    assert (done.returncode, "is a file; name a folder" in done.stderr) == (2, True)
    assert (site / "note").read_text() == "words"


@pytest.mark.node
@pytest.mark.slow
def test_a_cluster_that_is_too_wrong_has_no_picture(site):
    """What is wrong is told as without pictures, and those of other clusters are drawn."""
    assert call(site, "synth").returncode == 0
    Repo(site, create=False).commit()
    wrong = {**CLUSTER, "pools": {**CLUSTER["pools"], "gpu": {"shape": "dgx-h10", "nodes": 4}}}
    write_repository(site, jobs=JOBS, clusters={"test": wrong})
    done = call(site, "plan", "--base", "HEAD", "--svg", "pictures", "--all")
    assert done.returncode == 1
    assert "node shape 'dgx-h10' does not exist" in done.stderr
    assert "no picture of cluster test: " in done.stderr
    assert {path.name for path in (site / "pictures").iterdir()} == {"other.hosts.svg", "other.quota.svg"}
