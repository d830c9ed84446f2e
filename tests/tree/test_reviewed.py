"""In a pipeline the base of a change is on the branch that reviewed changes go to, or nothing is judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import Done, call
from make import JOB, write_repository
from repo import Repo
from trainyard.base.system.cache import private
from trainyard.base.system.git import find
from trainyard.render.tree.commit import base_commit

pytestmark = pytest.mark.node

POLICY = '"""A policy.\n\nWhy: w\nFix: f\nSource: s\n"""\nopen({!r}, "w").close()\n\ndef check(world):\n    return ()\n'
COMMANDS = (("check",), ("plan",), ("synth", "--check"), ("validate",))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Make a live repository with a run, a clone of it, and in the clone a branch `evil` that edits the run."""
    origin = Repo(tmp_path_factory.mktemp("origin") / "repo")
    write_repository(origin.root, jobs={"nlp/train": JOB})
    assert call(origin.root, "synth").returncode == 0
    origin.commit()
    clone = origin.clone(tmp_path_factory.mktemp("first") / "repo")
    clone.git("switch", "-qc", "evil")
    (path,) = (clone.root / "generated/test/runs/nlp").glob("train-*/jobset.*.yaml")
    path.write_text(path.read_text().replace("args:", "args: # edited", 1))
    clone.put("policies/kq_lq_exists.py", POLICY.format("PLACE"))
    clone.commit()
    clone.git("update-ref", "refs/remotes/origin/evil", "evil")
    clone.git("switch", "-qc", "pr")
    clone.git("commit", "-q", "--allow-empty", "-m", "more")
    return clone


@pytest.fixture
def repo(first: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Return a copy of it, on a pull request that goes on from `evil`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return first.copied(tmp_path / "repo")


def piped(repo: Repo, *words: str, **env: str) -> Done:
    """Run a command as a pipeline does; the policy of the branch must never be run."""
    done = call(repo.root, *words, CI="true", **env)
    assert not (repo.root / "PLACE").exists(), words
    return done


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("base", ["refs/remotes/origin/evil", "origin/evil", "evil", "HEAD~1", "HEAD"])
def test_a_base_that_nobody_has_reviewed_is_refused(command: tuple[str, ...], base: str, repo: Repo) -> None:
    """A pull request against the author's own branch is not judged by that branch, in whatever way it is named."""
    done = piped(repo, *command, "--base", base)
    assert done.returncode == 2, done.stdout
    assert f"--base {base!r} is not on refs/remotes/origin/main" in done.stderr
    assert "TRAINYARD_DEFAULT_BRANCH" in done.stderr


def test_the_same_change_is_judged_against_what_is_merged(repo: Repo) -> None:
    """There its edit of a run is an error."""
    done = piped(repo, "check", "--base", "refs/remotes/origin/main")
    assert done.returncode == 1
    assert "run/frozen" in done.stdout


def test_no_tag_makes_a_base_of_a_branch(repo: Repo) -> None:
    """Neither as a name that is given nor as the default branch that a clone lacks."""
    repo.git("update-ref", "refs/tags/origin/main", "HEAD")
    repo.git("update-ref", "refs/tags/refs/remotes/origin/main", "HEAD")
    done = piped(repo, "check", "--base", "refs/remotes/origin/main")
    assert (done.returncode, "run/frozen" in done.stdout) == (1, True)
    done = piped(repo, "check", "--base", "origin/main")
    assert done.returncode == 2
    assert "may mean refs/remotes/origin/main and refs/tags/origin/main" in done.stderr
    repo.git("update-ref", "-d", "refs/remotes/origin/main")
    repo.git("symbolic-ref", "-d", "refs/remotes/origin/HEAD")
    repo.git("branch", "-qD", "main")
    done = piped(repo, "check", "--base", "refs/remotes/origin/evil")
    assert done.returncode == 2
    assert "refs/remotes/origin/HEAD is missing" in done.stderr


def test_what_was_reviewed_may_be_named(repo: Repo) -> None:
    """A merge queue has commits that are approved and not merged; a company may sync another branch."""
    done = piped_and_trusted(repo, "check", TRAINYARD_BASE="evil", TRAINYARD_DEFAULT_BRANCH="refs/heads/evil")
    assert "run/frozen" not in done.stdout
    commit = repo.git("rev-parse", "HEAD~1")
    done = piped_and_trusted(repo, "check", TRAINYARD_BASE=commit, TRAINYARD_DEFAULT_BRANCH=commit)
    assert "run/frozen" not in done.stdout
    done = piped(repo, "check", TRAINYARD_BASE="HEAD", TRAINYARD_DEFAULT_BRANCH="refs/heads/nobody")
    assert done.returncode == 2
    assert "TRAINYARD_DEFAULT_BRANCH 'refs/heads/nobody' is not a commit of this repository" in done.stderr


def piped_and_trusted(repo: Repo, *words: str, **env: str) -> Done:
    """Run a command as a pipeline does that takes the branch of the policy for reviewed, and so runs it."""
    done = call(repo.root, *words, CI="true", **env)
    (repo.root / "PLACE").unlink(missing_ok=True)
    return done


def test_the_default_branch_itself_is_compared_with_anything(repo: Repo) -> None:
    """After a push, forced ones included, HEAD is merged; what was there before may be on no branch any more."""
    before = repo.git("rev-parse", "evil")
    repo.git("checkout", "-q", "--detach", "refs/remotes/origin/main")
    assert piped(repo, "check", "--base", before).returncode in {0, 1}


def test_people_name_any_base(repo: Repo) -> None:
    """On a machine of one's own it is whoever works there who names it."""
    done = call(repo.root, "plan", "--base", "evil")
    assert done.returncode == 0, done.stderr
    assert f"compared with refs/heads/evil at commit {repo.git('rev-parse', 'evil')[:12]}" in done.stdout


def test_the_last_base_counts_for_all_that_is_decided_by_it(repo: Repo) -> None:
    """An option that is given twice is the last one, for the comparison and for what is trusted."""
    done = piped(repo, "check", "--base", "evil", "--base=refs/remotes/origin/main")
    assert (done.returncode, "run/frozen" in done.stdout) == (1, True)
    assert piped(repo, "check", "--base", "refs/remotes/origin/main", "--base", "evil").returncode == 2


def test_a_branch_does_not_name_itself_the_default_one(repo: Repo) -> None:
    """Where the clone does not tell, several branches are refused, and `revision` of a checkout decides on none."""
    repo.git("symbolic-ref", "-d", "refs/remotes/origin/HEAD")
    path = repo.root / "platform/repository.yaml"
    path.write_text(path.read_text() + "revision: evil\n")
    repo.commit()
    done = call(repo.root, "plan")
    assert done.returncode == 2
    assert "the default branch may be refs/remotes/origin/evil or refs/remotes/origin/main" in done.stderr
    assert "git remote set-head origin --auto" in done.stderr
    assert call(repo.root, "plan", TRAINYARD_DEFAULT_BRANCH="refs/remotes/origin/main").returncode in {0, 1}


def test_a_pipeline_says_which_branch_is_reviewed(repo: Repo) -> None:
    """Its clone has no `origin/HEAD`, and a stranger may push a branch `main` where another is the default one."""
    repo.git("symbolic-ref", "-d", "refs/remotes/origin/HEAD")
    base = "refs/remotes/origin/main"
    done = piped(repo, "check", "--base", base)
    assert done.returncode == 2
    assert "refs/remotes/origin/HEAD is missing; name it in TRAINYARD_DEFAULT_BRANCH" in done.stderr
    assert piped(repo, "check", "--base", base, TRAINYARD_DEFAULT_BRANCH=base).returncode == 1


def test_of_several_remotes_none_is_guessed(repo: Repo) -> None:
    """The first one by name may be a stranger's."""
    repo.git("remote", "rename", "origin", "upstream")
    repo.git("remote", "add", "alice", repo.root.as_uri())
    repo.git("update-ref", "refs/remotes/alice/main", "evil")
    done = call(repo.root, "plan")
    assert done.returncode == 2
    assert "cannot tell which of the remotes alice, upstream has the default branch" in done.stderr


def test_a_remote_may_have_a_slash_in_its_name(tmp_path: Path) -> None:
    """The default branch itself is compared with its first parent."""
    origin = Repo(tmp_path / "origin")
    origin.put("a", "1")
    first = origin.commit()
    origin.put("a", "2")
    origin.commit()
    clone = origin.clone(tmp_path / "clone", "-o", "up/stream")
    git = find(clone.root)
    assert git is not None
    assert base_commit(git) == first


def test_no_cache_is_kept_in_the_repository(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a branch can bring is believed by nobody, also where the specs lie in a folder below its top."""
    inside = repo.root / "infra"
    inside.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(repo.root / ".cache"))
    assert private("synth", outside=inside) is None
    assert not (repo.root / ".cache").exists()
    assert private("synth", outside=repo.root.parent / "elsewhere") is not None
