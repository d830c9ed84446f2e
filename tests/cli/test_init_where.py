"""`init` says where in a Git repository the tree is, which branch Argo CD follows, and goes through no link."""

from __future__ import annotations

import pytest

from command import call
from new_repositories import PINNED, begin, files, settings
from repo import Repo


def test_a_folder_of_a_larger_repository_is_where_the_tree_is(tmp_path):
    """Argo CD reads paths from the top of the Git repository, whether the folder is there already or not."""
    repo = Repo(tmp_path / "all")
    (repo.root / "there").mkdir()
    for name, folder in {"there": repo.root / "there", "made": repo.root / "made"}.items():
        assert begin(folder).returncode == 0, name
        assert settings(folder)["path"] == f"{folder.relative_to(repo.root).as_posix()}/generated"
    assert begin(repo.root).returncode == 0
    assert settings(repo.root)["path"] == "generated"


def test_a_pipeline_belongs_at_the_top(tmp_path):
    """GitHub and GitLab read theirs nowhere else."""
    repo = Repo(tmp_path / "all")
    done = begin(repo.root / "training", "--ci", "github")
    said = "--ci writes to the top folder of a Git repository, but this is its subfolder training/; remove --ci"
    assert (done.returncode, done.stderr) == (2, f"trainyard: {said}\n")
    assert not (repo.root / "training").exists()


BRANCHES = {
    "a repository without commits": ("develop", False, "develop"),
    "a branch of somebody's work": ("develop", True, "main"),
    "one by a name that is usual": ("trunk", True, "trunk"),
    "one that YAML takes for a number": ("1.0", False, "main"),
    "one that YAML takes for a truth": ("on", False, "main"),
}


@pytest.mark.parametrize(("branch", "commits", "revision"), BRANCHES.values(), ids=BRANCHES)
def test_argo_cd_follows_the_default_branch(tmp_path, branch, commits, revision):
    """Of a clone it is what the clone notes; a branch with commits may be anybody's."""
    repo = Repo(tmp_path / "a", branch=branch)
    if commits:
        repo.commit()
    assert begin(repo.root).returncode == 0
    assert settings(repo.root)["revision"] == revision


def test_a_clone_knows_its_default_branch(tmp_path):
    """Also where another one is checked out."""
    origin = Repo(tmp_path / "origin", branch="release")
    origin.commit()
    clone = origin.clone(tmp_path / "clone")
    clone.git("switch", "-qc", "work")
    assert begin(clone.root).returncode == 0
    assert settings(clone.root)["revision"] == "release"


LINKS = {
    "a folder elsewhere": ("platform", "platform exists already; move it away"),
    "a list that grows": (".gitignore", ".gitignore exists already; move it away"),
}


@pytest.mark.parametrize(("name", "said"), LINKS.values(), ids=LINKS)
def test_nothing_is_written_through_a_link(tmp_path, name, said):
    """What it leads to may be anybody's."""
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "a"
    elsewhere.mkdir()
    folder.mkdir()
    (folder / name).symlink_to(elsewhere if name == "platform" else elsewhere / "list")
    if name != "platform":
        (elsewhere / "list").write_text("mine")
    before = files(elsewhere)
    done = begin(folder)
    assert (done.returncode, done.stderr) == (2, f"trainyard: {said}, or choose another folder\n")
    assert (files(elsewhere), (folder / name).is_symlink()) == (before, True)


def test_what_is_above_the_folder_is_a_folder(tmp_path):
    """The sentence names what stands in the way, not what could not be written."""
    (tmp_path / "notes").write_text("mine")
    (tmp_path / "lost").symlink_to(tmp_path / "nowhere")
    for folder, said in {tmp_path / "lost": "is a broken link", tmp_path / "notes": "is a file"}.items():
        done = begin(folder)
        assert (done.returncode, done.stderr) == (2, f"trainyard: {folder.name} {said}; choose a folder\n")
    assert "notes is a file; choose a folder" in call(tmp_path, "init", "notes/below", "--wheel", PINNED).stderr
