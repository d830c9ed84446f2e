"""Only what somebody has written in the working tree counts as theirs: not what Git brought there, however it came."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from command import call
from make import JOB, write_repository
from repo import POLICY, Repo

OWN, NEW, THIRD = (f"policies/{name}_policy.py" for name in ("own", "new", "third"))
TEXT = "'''\n{}\n'''"


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Make a repository with a policy of its own on main."""
    repo = Repo(tmp_path_factory.mktemp("first") / "repo")
    write_repository(repo.root, jobs={"nlp/train": JOB})
    repo.put(OWN, POLICY.format(why="w", does=""))
    repo.commit()
    return repo


@pytest.fixture
def repo(first: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Return a copy of it, on a stranger's branch, with caches of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    repo = first.copied(tmp_path / "repo")
    repo.git("update-index", "-q", "--refresh", ok=False)
    repo.git("switch", "-qc", "stranger")
    return repo


def policy(repo: Repo, why: str = "w") -> str:
    """Return the text of a policy that leaves a mark where it is run."""
    return POLICY.format(why=why, does=f"open({str(repo.root.parent / 'ran')!r}, 'w').close()")


def ran(repo: Repo, at: Repo | None = None, **env: str) -> tuple[bool, str]:
    """Judge a repository, and return whether a policy with a mark was run, and what is said."""
    marker = repo.root.parent / "ran"
    marker.unlink(missing_ok=True)
    done = call((at or repo).root, "validate", **env)
    return marker.exists(), done.stdout + done.stderr


def theirs(repo: Repo) -> None:
    """Commit two policies of a stranger's on the branch at hand."""
    repo.put(OWN, policy(repo, "theirs"))
    repo.put(NEW, policy(repo, "theirs"))
    repo.commit()


def test_what_is_written_here_counts(repo: Repo) -> None:
    """While Git has not stored it; in a pipeline it is nobody's."""
    repo.put(OWN, policy(repo, "edited"))
    done, said = ran(repo)
    assert done
    assert f"run as edited here, not merged yet: {OWN}" in said
    assert not ran(repo, CI="true")[0]
    repo.git("checkout", "-q", "--", OWN)
    repo.put(THIRD, policy(repo, "new"))
    assert ran(repo)[0]
    assert not ran(repo, TRAINYARD_TRUST_CHECKOUT="0")[0]


def test_what_is_staged_is_not_told_from_what_a_branch_brings(repo: Repo) -> None:
    """Git stages what others have committed, too, and edits over that are not told from what attributes made of it."""
    repo.put(OWN, policy(repo, "edited"))
    repo.git("add", "--all")
    done, said = ran(repo)
    assert not done
    assert OWN in said
    repo.put(OWN, policy(repo, "edited once more"))
    assert not ran(repo)[0]
    assert ran(repo, TRAINYARD_TRUST_CHECKOUT="1")[0]


def test_an_edit_over_what_a_branch_has_committed_is_trusted_by_word_alone(repo: Repo) -> None:
    """Whoever works on a policy for several commits has read it, and says so."""
    theirs(repo)
    repo.put(OWN, policy(repo, "mine"))
    assert not ran(repo)[0]
    assert ran(repo, TRAINYARD_TRUST_CHECKOUT="1")[0]


TWO_STEPS = {
    "an identity": ("ident", "# $Id:abc$\n"),
    "an encoding": ("working-tree-encoding=latin1", "# coding: latin1\n"),
}


@pytest.mark.parametrize("case", TWO_STEPS)
def test_attributes_that_were_there_make_no_edit(case: str, repo: Repo, tmp_path: Path) -> None:
    """A branch takes an attribute back in its second commit, and Git leaves what it has made on disk."""
    attribute, first = TWO_STEPS[case]
    repo.put(".gitattributes", f"{NEW} {attribute}\n")
    (repo.root / NEW).parent.mkdir(exist_ok=True)
    (repo.root / NEW).write_bytes(first.encode() + policy(repo, "\N{LATIN SMALL LETTER E WITH ACUTE}").encode())
    oid = repo.git("hash-object", "-w", "--no-filters", str(repo.root / NEW))
    repo.git("add", ".gitattributes")
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{oid},{NEW}")
    repo.git("commit", "-qm", "with the attribute")
    (repo.root / NEW).unlink()
    repo.git("checkout", "-q", "--", NEW)
    repo.put(".gitattributes", "")
    repo.git("add", ".gitattributes")
    repo.git("commit", "-qm", "without it")
    assert not ran(repo)[0]
    assert not ran(repo, copied(repo, tmp_path / "copy"))[0]


def test_editors_with_windows_line_endings_write_edits(repo: Repo) -> None:
    """`eol=lf` adds none to a file, so they are somebody's."""
    repo.git("switch", "-q", "main")
    repo.put(".gitattributes", "* text=auto eol=lf\n")
    repo.commit()
    repo.git("switch", "-qc", "again")
    (repo.root / OWN).write_bytes(policy(repo, "edited").replace("\n", "\r\n").encode())
    assert ran(repo)[0]


def orphaned(repo: Repo) -> None:
    """Leave all history for a branch without any."""
    repo.git("checkout", "-q", "--orphan", "new")


def emptied(repo: Repo) -> None:
    """Lose the commit at hand."""
    (repo.root / ".git/refs/heads/stranger").write_text("")


def deleted(repo: Repo) -> None:
    """Lose the branch at hand."""
    repo.git("update-ref", "-d", "refs/heads/stranger")


def astray(repo: Repo) -> None:
    """Have a worktree whose repository is elsewhere, as in a container."""
    (repo.root / ".git").rename(repo.root.parent / "gone")
    (repo.root / ".git").write_text("gitdir: /nowhere/.git/worktrees/x\n")


def damaged(repo: Repo) -> None:
    """Have a folder that is no repository any more."""
    (repo.root / ".git/HEAD").unlink()


@pytest.mark.parametrize("way", [orphaned, emptied, deleted, astray, damaged], ids=lambda way: way.__name__)
def test_a_history_that_cannot_be_read_is_nobody_s(way: Callable[[Repo], None], repo: Repo) -> None:
    """Only a folder without any history is its user's own."""
    theirs(repo)
    way(repo)
    assert not ran(repo)[0]


def test_a_submodule_is_not_its_own_default_branch(repo: Repo, tmp_path: Path) -> None:
    """A branch that adds one brings everything that it holds."""
    other = repo.copied(tmp_path / "other")
    other.git("switch", "-q", "main")
    theirs(other)
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "-f", str(other.root), "sub")
    repo.commit()
    (repo.root.parent / "ran").unlink(missing_ok=True)
    call(repo.root, "check", "sub/jobs/nlp/train.yaml")
    call(repo.root / "sub", "validate")
    assert not (repo.root.parent / "ran").exists()


def copied(repo: Repo, folder: Path) -> Repo:
    """Return a copy as `cp -a` makes it: other inodes and other times of change."""
    return repo.copied(folder)


def unpacked(repo: Repo, folder: Path) -> Repo:
    """Return what an archive of the folder unpacks to."""
    archive = folder.with_suffix(".tar")
    with tarfile.open(archive, "w") as file:
        file.add(repo.root, arcname="repo")
    with tarfile.open(archive) as file:
        file.extractall(folder)
    return Repo(folder / "repo", create=False)


def touched(repo: Repo, folder: Path) -> Repo:
    """Return the repository with new times of all files."""
    for path in repo.root.rglob("*"):
        if ".git" not in path.parts and path.is_file():
            os.utime(path, (2_000_000_000, 2_000_000_000))
    return repo


def without_an_index(repo: Repo, folder: Path) -> Repo:
    """Return the repository as a restored workspace may leave it."""
    (repo.root / ".git/index").unlink()
    return repo


COPIES = {"a copy": copied, "an archive": unpacked, "files with new times": touched, "no index": without_an_index}


@pytest.mark.parametrize("case", COPIES)
def test_a_copied_clone_has_no_edits(case: str, repo: Repo, tmp_path: Path) -> None:
    """Whatever the times of its files are, what a branch has committed is the branch's; what is written here counts."""
    theirs(repo)
    copy = COPIES[case](repo, tmp_path / "copy")
    done, said = ran(repo, copy)
    assert not done
    assert OWN in said
    assert NEW in said
    copy.put(THIRD, policy(repo, "mine"))
    assert ran(repo, copy)[0]


def picked(repo: Repo) -> None:
    """Take their commit without committing it."""
    repo.git("cherry-pick", "--no-commit", "stranger")


def checked_out(repo: Repo) -> None:
    """Take their files."""
    repo.git("checkout", "-q", "stranger", "--", "policies")


def checked_out_and_unstaged(repo: Repo) -> None:
    """Take their files, and take them out of the index again."""
    checked_out(repo)
    repo.git("reset", "-q")


def restored(repo: Repo) -> None:
    """Take their files into the working tree alone."""
    repo.git("restore", "--source", "stranger", "--worktree", "--", "policies")


def popped(repo: Repo) -> None:
    """Take their files, put them aside and back."""
    checked_out(repo)
    repo.git("stash", "push", "-q")
    repo.git("stash", "pop", "-q")


def reset_from(repo: Repo) -> None:
    """Go to their commit, and move the branch back under it."""
    repo.git("reset", "-q", "--hard", "stranger")
    repo.git("reset", "-q", "HEAD~1")


def shown(repo: Repo) -> None:
    """Write their file by hand."""
    (repo.root / OWN).write_text(repo.git("show", f"stranger:{OWN}") + "\n")


def fetched(repo: Repo) -> None:
    """Take their files of a fetch that leaves no branch behind."""
    other = repo.clone(repo.root.parent / "other", "--branch", "stranger")
    repo.git("branch", "-q", "-D", "stranger")
    repo.git("fetch", "-q", other.root.as_uri(), "stranger")
    repo.git("restore", "--source", "FETCH_HEAD", "--worktree", "--", "policies")


def merged_by_lines(repo: Repo) -> None:
    """Merge their lines with ours, and end the merge without a commit."""
    repo.put(OWN, (repo.root / OWN).read_text() + "\n\n\n\nOURS = 1\n")
    repo.commit()
    repo.git("merge", "-q", "--no-commit", "stranger", ok=False)
    repo.git("reset", "-q")


WAYS = (picked, checked_out, checked_out_and_unstaged, restored, popped, reset_from, shown, fetched, merged_by_lines)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.replace("_", " "))
def test_what_git_brings_is_no_edit(way: Callable[[Repo], None], repo: Repo) -> None:
    """However it comes into the working tree, nobody here has written it."""
    theirs(repo)
    repo.git("switch", "-q", "main")
    way(repo)
    assert "open(" in (repo.root / OWN).read_text()
    done, said = ran(repo)
    assert not done
    assert OWN in said


def mailed(repo: Repo) -> None:
    """Apply their mail."""
    mail = repo.root.parent / "mail"
    mail.write_text(repo.git("format-patch", "-1", "--stdout", "stranger") + "\n")
    repo.git("am", "-q", "-3", str(mail), ok=False)


def picked_with_a_conflict(repo: Repo) -> None:
    """Take their commit without a commit."""
    repo.git("cherry-pick", "--no-commit", "stranger", ok=False)


def popped_with_a_conflict(repo: Repo) -> None:
    """Put their file aside, and back on one that was changed meanwhile."""
    repo.git("checkout", "-q", "stranger", "--", OWN)
    repo.git("stash", "push", "-q")
    repo.put(OWN, POLICY.format(why="w", does=TEXT.format("ours, again")))
    repo.commit()
    repo.git("stash", "pop", "-q", ok=False)


CONFLICTS = (mailed, picked_with_a_conflict, popped_with_a_conflict)


@pytest.mark.parametrize("way", CONFLICTS, ids=lambda way: way.__name__.replace("_", " "))
def test_a_conflict_is_no_edit(way: Callable[[Repo], None], repo: Repo) -> None:
    """A file with lines of both sides may run theirs: Python reads the marks of a conflict as part of a text."""
    repo.put(OWN, policy(repo).replace("\nopen(", f"\n{TEXT.format('theirs')}\nopen("))
    repo.commit()
    repo.git("switch", "-q", "main")
    repo.put(OWN, POLICY.format(why="w", does=TEXT.format("ours")))
    repo.commit()
    way(repo)
    assert "<<<<<<<" in (repo.root / OWN).read_text()
    done, said = ran(repo)
    assert not done
    assert OWN in said


ATTRIBUTES = {
    "an identity": ("ident", "$Id$"),
    "line endings": ("text eol=crlf", "one\r\ntwo"),
    "another encoding": ("working-tree-encoding=latin1", "\N{LATIN SMALL LETTER E WITH ACUTE}"),
    "a filter": ("filter=other", "w"),
}


@pytest.mark.parametrize("case", ATTRIBUTES)
def test_what_attributes_translate_is_no_edit_in_a_copy(case: str, repo: Repo, tmp_path: Path) -> None:
    """A checkout writes another content than Git has stored, and a copy of it has other times."""
    attribute, why = ATTRIBUTES[case]
    repo.put(".gitattributes", f"policies/*.py {attribute}\n")
    repo.git("config", "filter.other.smudge", "sed '$a# smudged'")
    path = repo.root / OWN
    coding = "# coding: latin1\n" if "encoding" in attribute else ""
    stored = (coding + policy(repo, why)).encode()
    path.write_bytes(stored)
    oid = repo.git("hash-object", "-w", "--no-filters", str(path))
    repo.git("add", ".gitattributes")
    repo.git("update-index", "--cacheinfo", f"100644,{oid},{OWN}")
    repo.git("commit", "-qm", "theirs")
    path.unlink()
    repo.git("checkout", "-q", "--", "policies")
    assert path.read_bytes() != stored
    assert not ran(repo, copied(repo, tmp_path / "copy"))[0]


def test_windows_line_endings_are_no_edit_in_a_copy(repo: Repo, tmp_path: Path) -> None:
    """A setting of the person's own writes other line endings than Git has stored."""
    theirs(repo)
    repo.git("config", "core.autocrlf", "true")
    for name in (OWN, NEW):
        (repo.root / name).unlink()
    repo.git("checkout", "-q", "--", "policies")
    assert b"\r\n" in (repo.root / OWN).read_bytes()
    copy = copied(repo, tmp_path / "copy")
    assert not ran(repo, copy)[0]
    copy.put(THIRD, policy(repo, "mine"))
    assert ran(repo, copy)[0]


def test_a_partial_clone_has_no_edits(repo: Repo) -> None:
    """What it lacks may be anybody's: a remote has it."""
    repo.put(OWN, policy(repo, "edited"))
    repo.git("config", "remote.origin.promisor", "true")
    assert not ran(repo)[0]


def test_an_edit_of_one_api_type_accepts_no_other(repo: Repo) -> None:
    """Types that a branch has committed do not count because somebody has edited another."""
    repo.put("schemas/lock.yaml", "{}\n")
    repo.put("schemas/theirs.json", "{}\n")
    repo.commit()
    repo.put("schemas/mine.json", "{}\n")
    assert "schemas/lock.yaml" in ran(repo)[1]


def test_who_works_on_api_types_sees_what_they_do(repo: Repo) -> None:
    """New ones that nobody has staged count, and so does an edit of those that were merged."""
    repo.put("schemas/lock.yaml", "{}\n")
    assert "differs from the default branch" not in ran(repo)[1]
    repo.git("switch", "-q", "main")
    repo.commit()
    repo.git("switch", "-qc", "again")
    assert "differs from the default branch" not in ran(repo)[1]
    repo.put("schemas/more.json", "{}\n")
    repo.put("schemas/new.json", '{"mine": true}\n')
    assert "differs from the default branch" not in ran(repo)[1]
