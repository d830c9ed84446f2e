"""A name given by a person or a pipeline stands for a branch, never for a tag that somebody has pushed."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo import Repo
from trainyard.base.errors import ToolError
from trainyard.base.system import git as system_git
from trainyard.base.system.git import Git
from trainyard.base.system.revisions import resolve


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Make a clone of three commits: `main` and its origin at the first, the branch at hand at the third."""
    origin = Repo(tmp_path_factory.mktemp("origin") / "repo")
    origin.put("a.txt", "one\n")
    origin.commit()
    clone = origin.clone(tmp_path_factory.mktemp("first") / "repo")
    clone.git("switch", "-qc", "work")
    for text in ("two\n", "three\n"):
        clone.put("a.txt", text)
        clone.commit()
    return clone


def at(repo: Repo) -> Git:
    """Return the repository as the product sees it."""
    found = system_git.find(repo.root)
    assert found is not None
    return found


def found(repo: Repo, name: str) -> tuple[str, str | None] | None:
    """Return commit and reference of a name."""
    revision = resolve(at(repo), name, option="--base")
    return (revision.commit, revision.ref) if revision else None


NAMES = {
    "origin/main": ("main", "refs/remotes/origin/main"),
    "origin": ("main", "refs/remotes/origin/HEAD"),
    "main": ("main", "refs/heads/main"),
    "heads/main": ("main", "refs/heads/main"),
    "remotes/origin/main": ("main", "refs/remotes/origin/main"),
    "refs/remotes/origin/main": ("main", "refs/remotes/origin/main"),
    "main@{upstream}": ("main", "refs/remotes/origin/main"),
    "HEAD": ("work", "HEAD"),
    "@": ("work", "HEAD"),
    "HEAD~1": ("work~1", None),
    "HEAD^": ("work~1", None),
    "work~2": ("main", None),
    "work^{commit}": ("work", None),
}


@pytest.mark.parametrize("name", NAMES)
def test_what_people_write_is_found(name: str, repo: Repo) -> None:
    """Branches, their short and full names, ancestors and upstreams are found as Git finds them."""
    commit, ref = NAMES[name]
    assert found(repo, name) == (repo.git("rev-parse", commit), ref)


def test_ids_are_found_whole_and_by_their_beginning(repo: Repo) -> None:
    """As long as the beginning is that of one commit alone."""
    commit = repo.git("rev-parse", "work")
    for name in (commit, commit.upper(), commit[:10], f"{commit[:10]}~1"):
        assert found(repo, name) is not None
    assert found(repo, commit[:10]) == (commit, None)


UNKNOWN = ("nothing", "", "-x", "--all", "refs/heads/nothing", "0" * 40, "work:a.txt", "work@{1}", "work@{yesterday}")
SEARCHES = (
    ":/two",
    "work^{/two}",
    "HEAD^{tree}",
    "main..work",
    "work\nmain",
    "refs/heads/*",
    "work@{u}~0@{u}",
    "FETCH_HEAD",
)


@pytest.mark.parametrize("name", [*UNKNOWN, *SEARCHES])
def test_what_is_no_commit_is_not_found(name: str, repo: Repo) -> None:
    """Neither is a search, a range, a reflog or an object of another kind."""
    assert found(repo, name) is None


@pytest.mark.parametrize("name", ["origin/main", "main", "HEAD", "refs/remotes/origin/main", "heads/main"])
def test_a_tag_never_stands_for_a_branch(name: str, repo: Repo) -> None:
    """A tag of the same name at another commit is refused with the names, or not looked at where the name is full."""
    main = repo.git("rev-parse", "main")
    repo.git("update-ref", f"refs/tags/{name}", "work")
    if name.startswith("refs/"):
        assert found(repo, name) == (main, name)
    elif name == "HEAD":
        assert found(repo, name) == (repo.git("rev-parse", "work"), "HEAD")
    else:
        with pytest.raises(ToolError, match=f"may mean refs/.* and refs/tags/{name}; write the full name"):
            found(repo, name)


def test_a_tag_does_not_stand_in_for_a_branch_that_is_not_there(repo: Repo) -> None:
    """A clone without that branch has nothing of that name; Git would search for it among the tags."""
    for name in ("origin/release", "refs/remotes/origin/release", "MERGE_HEAD", "FETCH_HEAD"):
        repo.git("update-ref", f"refs/tags/{name}", "work")
    assert found(repo, "refs/remotes/origin/release") is None
    assert found(repo, "FETCH_HEAD") is None
    assert at(repo).commit_in_file("MERGE_HEAD") is None
    assert at(repo).commits(["refs/remotes/origin/release"]) == {}
    with pytest.raises(ToolError, match=r"'origin/release' is a tag, not a branch; .* write refs/tags/origin/release"):
        found(repo, "origin/release")


def test_a_tag_is_found_by_its_full_name(repo: Repo) -> None:
    """An annotated one, too; one of a file is no commit."""
    repo.git("tag", "v1", "main")
    repo.git("tag", "-a", "-m", "m", "v2", "main")
    repo.git("tag", "text", "main:a.txt")
    main = repo.git("rev-parse", "main")
    assert found(repo, "refs/tags/v1") == (main, "refs/tags/v1")
    assert found(repo, "refs/tags/v2") == (main, "refs/tags/v2")
    assert found(repo, "refs/tags/text") is None


def test_a_local_branch_named_like_a_remote_one_is_refused(repo: Repo) -> None:
    """Where both are at one commit the remote's is meant."""
    repo.git("update-ref", "refs/heads/origin/main", "main")
    assert found(repo, "origin/main") == (repo.git("rev-parse", "main"), "refs/remotes/origin/main")
    repo.git("update-ref", "refs/heads/origin/main", "work")
    with pytest.raises(ToolError, match="may mean refs/remotes/origin/main and refs/heads/origin/main"):
        found(repo, "origin/main")


def test_a_name_that_begins_an_id_is_refused(repo: Repo) -> None:
    """Git takes a tag of that name before the id."""
    start = repo.git("rev-parse", "main")[:8]
    repo.git("update-ref", f"refs/heads/{start}", "work")
    with pytest.raises(ToolError, match=f"may mean refs/heads/{start} and the beginning of an id"):
        found(repo, start)


def test_no_tag_is_head_before_the_first_commit(tmp_path: Path, repo: Repo) -> None:
    """A repository without a commit has no HEAD, whatever is fetched into it."""
    empty = Repo(tmp_path / "empty")
    empty.git("fetch", "-q", repo.root.as_uri(), "work:refs/tags/HEAD")
    assert at(empty).head() is None


def test_a_file_that_git_wrote_is_a_name(repo: Repo, tmp_path: Path) -> None:
    """What was fetched last is the commit that Git wrote down."""
    repo.git("fetch", "-q", "origin", "main")
    assert found(repo, "FETCH_HEAD") == (repo.git("rev-parse", "main"), None)
