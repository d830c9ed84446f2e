from __future__ import annotations

import os
from pathlib import Path

import pytest

from repo import Repo
from trainyard.base.errors import ToolError
from trainyard.base.memory import Memory, World
from trainyard.base.system import git as system_git
from trainyard.base.system.cache import Cache
from trainyard.base.system.git import Git, blob_id
from trainyard.render.tree.commit import base_commit
from trainyard.render.tree.snapshot import listing


def at(repo: Repo) -> Git:
    """Return the repository as the product sees it."""
    found = system_git.find(repo.root)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Make a repository with one commit on main."""
    repo = Repo(tmp_path_factory.mktemp("first") / "repo")
    repo.put("a.txt", "one\n")
    repo.commit()
    return repo


def test_a_branch_is_compared_with_its_merge_base(repo: Repo) -> None:
    """What main got after the branch left it is not part of the base."""
    base = repo.git("rev-parse", "HEAD")
    repo.git("switch", "-qc", "work")
    repo.put("b.txt", "b")
    repo.commit()
    repo.git("switch", "-q", "main")
    repo.put("c.txt", "c")
    repo.commit()
    repo.git("switch", "-q", "work")
    assert base_commit(at(repo)) == base
    assert base_commit(at(repo), writing=True) == base
    assert base_commit(at(repo), "main") == base


def test_a_rebased_branch_is_compared_with_the_new_base(repo: Repo) -> None:
    """After a rebase the base is the tip of main."""
    repo.git("switch", "-qc", "work")
    repo.put("b.txt", "b")
    repo.commit()
    repo.git("switch", "-q", "main")
    repo.put("c.txt", "c")
    tip = repo.commit()
    repo.git("switch", "-q", "work")
    repo.git("rebase", "-q", "main")
    assert base_commit(at(repo)) == tip


def test_a_merge_in_progress_counts_as_merged(repo: Repo) -> None:
    """While main is being merged into a branch, what came from main is at the base already."""
    repo.git("switch", "-qc", "work")
    repo.put("b.txt", "b")
    repo.commit()
    repo.git("switch", "-q", "main")
    repo.put("c.txt", "c")
    tip = repo.commit()
    repo.git("switch", "-q", "work")
    repo.git("merge", "--no-commit", "--no-ff", "-q", "main")
    assert base_commit(at(repo), writing=True) == tip


def test_the_default_branch_is_compared_with_its_first_parent(repo: Repo) -> None:
    """A clean main is judged against the commit before it, also after the merge of a branch."""
    first = repo.git("rev-parse", "HEAD")
    repo.git("switch", "-qc", "work")
    repo.put("b.txt", "b")
    repo.commit()
    repo.git("switch", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "work")
    assert base_commit(at(repo)) == first
    assert base_commit(at(repo), "main") == first
    repo.git("switch", "-q", "--detach")
    assert base_commit(at(repo)) == first


def test_a_clone_of_the_default_branch_is_compared_with_its_first_parent(repo: Repo, tmp_path: Path) -> None:
    """The remote's branch is the default branch too."""
    repo.put("a.txt", "two\n")
    repo.commit()
    clone = repo.clone(tmp_path / "clone")
    assert base_commit(at(clone)) == clone.git("rev-parse", "HEAD~1")
    assert base_commit(at(clone), "origin/main") == clone.git("rev-parse", "HEAD~1")


def test_what_is_not_committed_on_the_default_branch_is_compared_with_head(repo: Repo) -> None:
    """The tree is to become the next commit, whose first parent is HEAD."""
    repo.put("a.txt", "two\n")
    head = repo.commit()
    assert base_commit(at(repo), writing=True) == head
    repo.put("new.txt", "")
    assert base_commit(at(repo)) == head


def test_a_new_branch_without_commits_is_compared_with_head(repo: Repo) -> None:
    """A fresh branch with changes in the working tree starts from what it left."""
    repo.git("switch", "-qc", "work")
    assert base_commit(at(repo)) == repo.git("rev-parse", "main")
    repo.put("a.txt", "two\n")
    assert base_commit(at(repo)) == repo.git("rev-parse", "main")


def test_the_first_commit_has_nothing_before_it(repo: Repo) -> None:
    """A root commit, like a repository without any commit, is compared with nothing."""
    assert base_commit(at(repo)) is None


def test_a_repository_without_commits_has_no_base(tmp_path: Path) -> None:
    """An unborn HEAD is no error."""
    repo = Repo(tmp_path)
    repo.put("a.txt", "")
    assert at(repo).head() is None
    assert base_commit(at(repo)) is None
    assert base_commit(at(repo), writing=True) is None


def test_the_remote_branch_wins_over_a_local_one(repo: Repo, tmp_path: Path) -> None:
    """Commits on a local main that were not pushed are a change like a branch: only what is pushed is frozen."""
    clone = repo.clone(tmp_path / "clone")
    pushed = clone.git("rev-parse", "HEAD")
    clone.put("b.txt", "b")
    clone.commit()
    clone.put("c.txt", "c")
    clone.commit()
    assert base_commit(at(clone)) == pushed


def test_base_names_any_commit(repo: Repo) -> None:
    """A commit given by its id is taken as it is, also HEAD itself."""
    first = repo.git("rev-parse", "HEAD")
    repo.put("a.txt", "two\n")
    second = repo.commit()
    repo.put("a.txt", "three\n")
    repo.commit()
    assert base_commit(at(repo), first) == first
    assert base_commit(at(repo), second[:10]) == second
    assert base_commit(at(repo), "HEAD") == repo.git("rev-parse", "HEAD")
    assert base_commit(at(repo), "HEAD~1") == second


@pytest.mark.parametrize("ref", ["nowhere", "", "-n", "--all", "0" * 40, "HEAD:a.txt"])
def test_a_base_that_is_no_commit_is_refused(repo: Repo, ref: str) -> None:
    """A misspelt or missing base must not pass as no base."""
    with pytest.raises(ToolError, match=r"--base .* is not a commit of this repository; fetch it, or use another"):
        base_commit(at(repo), ref)


def test_unrelated_history_is_refused(repo: Repo) -> None:
    """Two histories without a common commit have no base."""
    repo.git("switch", "-q", "--orphan", "other")
    repo.put("b.txt", "b")
    repo.commit()
    with pytest.raises(ToolError, match="no common commit"):
        base_commit(at(repo))


def test_a_default_branch_that_cannot_be_told_is_asked_for(tmp_path: Path) -> None:
    """Several branches, none of them named as usual."""
    repo = Repo(tmp_path, branch="trunk")
    repo.put("a", "")
    head = repo.commit()
    assert base_commit(at(repo), writing=True) == head
    repo.git("branch", "other")
    with pytest.raises(ToolError, match="set the commit to compare with: --base REF"):
        base_commit(at(repo))
    assert base_commit(at(repo), revision="trunk", writing=True) == head


def test_a_shallow_clone_says_what_to_fetch(repo: Repo, tmp_path: Path) -> None:
    """A cut-off history is never taken for a short one."""
    for number in range(3):
        repo.put("a.txt", str(number))
        repo.commit()
    clone = repo.clone(tmp_path / "clone", "--depth", "1")
    assert at(clone).shallow()
    with pytest.raises(ToolError, match="shallow"):
        base_commit(at(clone))
    assert base_commit(at(clone), writing=True) == clone.git("rev-parse", "HEAD")
    clone.git("fetch", "-q", "--deepen", "1")
    assert base_commit(at(clone)) == clone.git("rev-parse", "HEAD~1")


def test_a_shallow_branch_says_what_to_fetch(repo: Repo, tmp_path: Path) -> None:
    """Where the merge base was not fetched, the message says how to get it."""
    repo.git("switch", "-qc", "work")
    repo.put("b.txt", "b")
    repo.commit()
    repo.git("switch", "-q", "main")
    repo.put("c.txt", "c")
    repo.commit()
    clone = repo.clone(tmp_path / "clone", "--depth", "1", "--no-single-branch")
    clone.git("switch", "-q", "work")
    with pytest.raises(ToolError, match="git fetch --unshallow"):
        base_commit(at(clone))


def test_outside_of_git_there_is_none(tmp_path: Path) -> None:
    """A folder without a repository around it is no error."""
    assert system_git.find(tmp_path) is None


def test_without_git_installed_there_is_none(repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without Git can still render."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert system_git.find(repo.root) is None


def test_a_worktree_and_a_subfolder_are_found(repo: Repo, tmp_path: Path) -> None:
    """The folder may be a linked worktree, or lie below the repository's top."""
    repo.put("sub/generated/x.yaml", "x: 1\n")
    commit = repo.commit()
    repo.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "work")
    below = system_git.find(tmp_path / "tree" / "sub")
    assert below is not None
    assert below.prefix == "sub/"
    tree = below.object_id(commit, "generated")
    assert tree is not None
    assert below.listing(tree) == {"x.yaml": blob_id(b"x: 1\n")}
    assert below.object_id(commit, "missing") is None


def test_inside_a_hook_the_repository_is_the_folders_own(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that Git sets for its hooks do not lead to another repository or index."""
    monkeypatch.setenv("GIT_DIR", "elsewhere/.git")
    monkeypatch.setenv("GIT_INDEX_FILE", "elsewhere/index")
    assert at(repo).head() == repo.git("rev-parse", "HEAD")


def test_odd_file_names_and_bytes_survive(repo: Repo) -> None:
    """Names with spaces, quotes, line feeds, letters of any script and contents of any bytes are read back."""
    names = ["a b.yaml", 'quo"te', "line\nfeed", "schrägé.yaml", "tab\there", "-dash", "文.yaml"]
    for number, name in enumerate(names):
        repo.put(f"generated/{name}", f"{number}\n")
    (repo.root / "generated" / "bytes").write_bytes(bytes(range(256)))
    (repo.root / "generated" / "empty").write_bytes(b"")
    (repo.root / "generated" / "link").symlink_to("empty")
    (repo.root / "generated" / "folder").mkdir()
    commit = repo.commit()
    git = at(repo)
    tree = git.object_id(commit, "generated")
    assert tree is not None
    found = git.listing(tree)
    assert set(found) == {*names, "bytes", "empty"}
    contents = dict(zip(found, git.read(found.values()), strict=True))
    assert contents["bytes"] == bytes(range(256))
    assert contents["empty"] == b""
    assert [contents[name] for name in names] == [f"{number}\n".encode() for number in range(len(names))]


def test_many_files_are_read_in_order(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading in batches keeps the order, also over the border of a batch."""
    monkeypatch.setattr(system_git, "BATCH", 3)
    for number in range(10):
        repo.put(f"generated/{number}", f"text {number}\n")
    commit = repo.commit()
    git = at(repo)
    found = git.listing(git.object_id(commit, "generated") or "")
    assert list(git.read(found.values())) == [f"text {number}\n".encode() for number in range(10)]


def test_a_missing_object_is_named(repo: Repo) -> None:
    """A partial or damaged repository is an error, never an empty file."""
    with pytest.raises(ToolError, match="no object 111111111111"):
        list(at(repo).read(["1" * 40]))


def test_content_ids_are_gits_own(repo: Repo) -> None:
    """The id of a content is what `git hash-object` prints."""
    assert blob_id(b"one\n") == repo.git("hash-object", "a.txt")


def test_a_sha256_repository_works(tmp_path: Path) -> None:
    """Repositories with the newer object format are read alike."""
    repo = Repo(tmp_path, create=False)
    repo.git("init", "-q", "-b", "main", "--object-format=sha256")
    repo.put("generated/x", "x\n")
    commit = repo.commit()
    git = at(repo)
    found = git.listing(git.object_id(commit, "generated") or "")
    assert found == {"x": blob_id(b"x\n", "sha256")}
    assert list(git.read(found.values())) == [b"x\n"]


def test_reading_never_writes(repo: Repo) -> None:
    """Nothing below .git changes, not even the index's refreshed times."""
    os.utime(repo.root / "a.txt", (1, 1))
    before = {path: path.stat().st_mtime_ns for path in (repo.root / ".git").rglob("*")}
    base_commit(at(repo))
    assert {path: path.stat().st_mtime_ns for path in (repo.root / ".git").rglob("*")} == before


def test_a_listing_is_asked_for_once(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of a folder with a known id never change, names that are no text among them."""
    repo.put("generated/a/one.yaml", "1")
    (repo.root / "generated" / os.fsdecode(b"\xff.yaml")).write_text("2")
    repo.commit()
    git, memory = at(repo), Memory(Cache(tmp_path / "cache"), World())
    tree = git.object_id("HEAD", "generated")
    assert tree is not None
    first = listing(git, tree, memory)
    assert sorted(first) == ["a/one.yaml", os.fsdecode(b"\xff.yaml")]
    monkeypatch.setattr(Git, "listing", lambda *_: pytest.fail("asked again"))
    assert listing(git, tree, memory) == first
