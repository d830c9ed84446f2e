"""What a stranger's branch brings is neither run nor believed, and whoever works in a repository notices nothing."""

from __future__ import annotations

import importlib.util
import os
import py_compile
from collections.abc import Mapping
from pathlib import Path

import pytest

from command import call
from make import JOB, TEAM, write_repository
from repo import POLICY, Repo

pytestmark = pytest.mark.node

EXTRA = """{does}
import cdk8s

def build(scope, cluster):
    cdk8s.ApiObject(scope, "x", api_version="v1", kind="ConfigMap", metadata={{"name": "x"}})
"""
SWEEP = f"""from trainyard.specs import Job

def jobs():
    yield "sweep-a", Job.model_validate({JOB!r})
"""


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Make a repository with a policy and a program of its own on main, rendered."""
    repo = Repo(tmp_path_factory.mktemp("first") / "repo")
    write_repository(repo.root, jobs={"nlp/train": JOB})
    repo.put("policies/own_policy.py", POLICY.format(why="w", does=""))
    repo.put("platform/extra/test/platform/own.py", EXTRA.format(does=""))
    repo.commit()
    done = call(repo.root, "synth")
    assert done.returncode == 0, done.stdout + done.stderr
    repo.commit()
    return repo


@pytest.fixture
def repo(first: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Return a copy of it, on a branch, with caches of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    repo = first.copied(tmp_path / "repo")
    repo.git("switch", "-qc", "stranger")
    return repo


def run(repo: Repo, *words: str, **env: str) -> tuple[bool, str]:
    """Run a command, and return whether what the branch brings was run by it, and what it says."""
    marker = repo.root.parent / "ran"
    marker.unlink(missing_ok=True)
    done = call(repo.root, *words, **env)
    return marker.exists(), done.stdout + done.stderr


def touches(repo: Repo) -> str:
    """Return a line of Python that leaves a mark."""
    return f"open({str(repo.root.parent / 'ran')!r}, 'w').close()"


COMMANDS = (("validate",), ("plan",), ("explain", "nlp/train"), ("check",), ("synth", "--check"), ("retire", "nlp/no"))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_policies_of_a_branch_are_not_run(command: tuple[str, ...], repo: Repo) -> None:
    """Neither one that it changes nor one that it adds; both are named, and the accepted one judges."""
    repo.put("policies/own_policy.py", POLICY.format(why="w", does=touches(repo)))
    repo.put("policies/other_policy.py", POLICY.format(why="w", does=touches(repo)))
    repo.commit()
    ran, said = run(repo, *command)
    assert not ran
    if command[0] in {"validate", "check", "plan"}:
        assert "policies/own_policy.py" in said
        assert "policies/other_policy.py" in said
        assert "differs from the default branch" in said


def test_policies_of_a_branch_are_run_where_it_is_trusted(repo: Repo) -> None:
    """Who has read it says so, by an option or a variable."""
    repo.put("policies/own_policy.py", POLICY.format(why="w", does=touches(repo)))
    repo.commit()
    assert run(repo, "validate", "--trust-checkout")[0]
    repo.put("policies/own_policy.py", POLICY.format(why="again", does=touches(repo)))
    repo.commit()
    assert run(repo, "validate", TRAINYARD_TRUST_CHECKOUT="1")[0]


def test_a_policy_that_a_branch_deletes_still_judges(repo: Repo) -> None:
    """What was merged counts until its removal is merged."""
    repo.git("switch", "-q", "main")
    finds = (
        "from trainyard.checks import Place, Problem\n\ndef check(world):\n"
        '    yield from (Problem(Place(each, ("kind",)), "no") for each in world.manifests)\n'
    )
    text = POLICY.format(why="w", does="").partition("\ndef check")[0] + "\n" + finds
    repo.put("policies/own_policy.py", text)
    repo.commit()
    repo.git("switch", "-qc", "other")
    (repo.root / "policies/own_policy.py").unlink()
    repo.commit()
    assert "own-policy" in run(repo, "validate")[1]
    assert "(own-policy)" not in run(repo, "validate", "--trust-checkout")[1]


def test_who_edits_a_policy_sees_what_it_does(repo: Repo) -> None:
    """What is not committed is the work of whoever is here; in a pipeline it is nobody's."""
    repo.put("policies/own_policy.py", POLICY.format(why="edited", does=touches(repo)))
    ran, said = run(repo, "validate")
    assert ran
    assert "differs from the default branch" not in said
    repo.put("policies/own_policy.py", POLICY.format(why="edited once more", does=touches(repo)))
    assert not run(repo, "validate", CI="true")[0]
    repo.git("add", "--all")
    repo.put("policies/third_policy.py", POLICY.format(why="new", does=touches(repo)))
    assert run(repo, "validate")[0]


def test_an_attribute_makes_no_edit(repo: Repo) -> None:
    """A file that is other than Git holds it, because of the branch's attributes, is the branch's."""
    repo.put(".gitattributes", "policies/*.py ident\n")
    repo.put("policies/own_policy.py", POLICY.format(why="$Id$", does=touches(repo)))
    repo.commit()
    (repo.root / "policies/own_policy.py").unlink()
    repo.git("checkout", "--", "policies/own_policy.py")
    assert "$Id: " in (repo.root / "policies/own_policy.py").read_text()
    assert not run(repo, "validate")[0]


def test_what_a_merge_has_staged_is_no_edit(repo: Repo) -> None:
    """A merge that is not done yet has the other branch's files, and not those of whoever is here."""
    repo.put("policies/own_policy.py", POLICY.format(why="w", does=touches(repo)))
    repo.commit()
    repo.git("switch", "-q", "main")
    repo.git("merge", "-q", "--no-commit", "--no-ff", "stranger")
    assert not run(repo, "validate")[0]


def test_the_default_branch_is_not_what_the_branch_says(repo: Repo, tmp_path: Path) -> None:
    """`revision` of the branch's repository.yaml does not make it the default branch."""
    repo.put("policies/own_policy.py", POLICY.format(why="w", does=touches(repo)))
    settings = (repo.root / "platform/repository.yaml").read_text()
    repo.put("platform/repository.yaml", settings + "revision: stranger\n")
    repo.commit()
    clone = repo.clone(tmp_path / "clone")
    clone.git("switch", "-q", "stranger")
    clone.git("remote", "set-head", "origin", "main")
    done = call(clone.root, "validate")
    assert not (repo.root.parent / "ran").exists(), done.stdout


def test_what_python_kept_of_a_policy_is_not_run(repo: Repo) -> None:
    """A branch can bring `__pycache__`, which Python takes for the file unless it is told not to."""
    source = repo.root.parent / "other.py"
    source.write_text(POLICY.format(why="w", does=touches(repo)))
    kept = importlib.util.cache_from_source(str(repo.root / "policies/own_policy.py"))
    py_compile.compile(str(source), cfile=kept, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    repo.git("add", "--force", "policies")
    repo.commit()
    for command in COMMANDS:
        assert not run(repo, *command)[0], command


def other(repo: Repo, name: str, files: Mapping[str, str]) -> Repo:
    """Return another repository with some files."""
    found = Repo(repo.root.parent / name)
    for path, text in files.items():
        found.put(path, text)
    found.commit()
    return found


@pytest.mark.parametrize("command", [("validate",), ("synth", "--check"), ("check",)], ids=" ".join)
def test_files_of_a_submodule_are_no_edits(command: tuple[str, ...], repo: Repo) -> None:
    """They come with a branch, and no index of ours has them."""
    kept = {path.relative_to(repo.root / "platform"): path for path in (repo.root / "platform").rglob("*.yaml")}
    specs = other(repo, "specs", {str(path): value.read_text() for path, value in kept.items()})
    specs.put("extra/test/platform/own.py", EXTRA.format(does=touches(repo)))
    specs.commit()
    policies = other(repo, "others", {"own_policy.py": POLICY.format(why="w", does=touches(repo))})
    for top, brought in (("platform", specs), ("policies", policies)):
        repo.git("rm", "-rq", top)
        repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "-f", str(brought.root), top)
    repo.commit()
    ran, said = run(repo, *command)
    assert not ran
    assert "Traceback" not in said
    assert "not a tree" not in said


def test_files_behind_a_link_are_no_edits(repo: Repo) -> None:
    """Git knows them by another path."""
    repo.git("mv", "policies", "judges")
    repo.put("judges/own_policy.py", POLICY.format(why="w", does=touches(repo)))
    repo.put("judges/new_policy.py", POLICY.format(why="w", does=touches(repo)))
    (repo.root / "policies").symlink_to("judges")
    repo.commit()
    ran, said = run(repo, "validate")
    assert not ran
    assert "not a tree" not in said


def test_what_was_squashed_is_no_edit(repo: Repo) -> None:
    """A branch that is squashed into the working tree is staged, and is still the branch's."""
    repo.put("policies/own_policy.py", POLICY.format(why="w", does=touches(repo)))
    repo.commit()
    repo.git("switch", "-q", "main")
    repo.git("merge", "-q", "--squash", "stranger")
    assert not run(repo, "validate")[0]


def test_programs_of_a_checkout_are_not_found(repo: Repo) -> None:
    """A PATH that begins where somebody stands finds no `git` and no `node` there."""
    for name in ("git", "node", "kubeconform"):
        repo.put(name, f"#!/bin/sh\ntouch {repo.root.parent / 'ran'}\n")
        (repo.root / name).chmod(0o755)
    repo.commit()
    for path in (f".:{os.environ['PATH']}", f":{os.environ['PATH']}"):
        for command in (("validate",), ("synth", "--check")):
            assert not run(repo, *command, PATH=path)[0], (path, command)


@pytest.mark.parametrize("command", [("synth", "--check"), ("check",), ("plan",), ("synth",)], ids=" ".join)
def test_programs_of_a_branch_that_make_objects_are_an_error(command: tuple[str, ...], repo: Repo) -> None:
    """Nothing is rendered without them, so nothing is; they are named."""
    repo.put("platform/extra/test/platform/own.py", EXTRA.format(does=touches(repo)))
    repo.commit()
    ran, said = run(repo, *command)
    assert not ran
    assert "platform/extra/test/platform/own.py" in said
    assert "--trust-checkout" in said


def test_a_branch_does_not_allow_itself_programs(repo: Repo) -> None:
    """That a team may have programs that make jobs is merged before there are any."""
    write_repository(repo.root, jobs={"nlp/train": JOB}, teams={"nlp": {**TEAM, "python": True}})
    repo.put("jobs/nlp/sweep.py", SWEEP)
    repo.commit()
    said = run(repo, "check")[1]
    assert "is not merged yet; merge it, or use --trust-checkout" in said
    assert "is not merged yet" not in run(repo, "check", "--trust-checkout")[1]


def test_api_types_of_a_branch_do_not_judge(repo: Repo) -> None:
    """Those that come along judge instead, and that is told."""
    repo.put("schemas/lock.yaml", "{}\n")
    repo.commit()
    said = run(repo, "validate")[1]
    assert "schemas/lock.yaml" in said
    assert "differs from the default branch" in said
    assert ": 0 errors" in said


def test_a_folder_without_history_is_its_user_s(tmp_path: Path) -> None:
    """A new repository, before its first commit, counts; in a pipeline, or where somebody says so, it does not."""
    repo = Repo(tmp_path / "repo")
    write_repository(repo.root, jobs={"nlp/train": JOB})
    repo.put("policies/own_policy.py", POLICY.format(why="w", does=touches(repo)))
    assert not run(repo, "validate", TRAINYARD_TRUST_CHECKOUT="0")[0]
    assert not run(repo, "validate", CI="true")[0]
    assert run(repo, "validate")[0]


def test_a_branch_does_not_waive_what_is_said_of_it(repo: Repo) -> None:
    """That it changes a judge is told whatever it waives, and the waiver is an error."""
    repo.put("policies/own_policy.py", POLICY.format(why="other", does=""))
    settings = (repo.root / "platform/repository.yaml").read_text()
    repo.put("platform/repository.yaml", settings + "waive: {spec/untrusted: trust me}\n")
    repo.commit()
    said = run(repo, "check")[1]
    assert "policies/own_policy.py:1:1: warning: this file differs from the default branch" in said
    assert "spec/untrusted" in said.partition("platform/repository.yaml")[2]


def test_who_judges_is_told_whatever_files_are_named(repo: Repo) -> None:
    """A hook names the files of a commit, and a policy that does not count contradicts the one at hand."""
    repo.put("policies/own_policy.py", POLICY.format(why="other", does=""))
    repo.put("policies/new_policy.py", POLICY.format(why="w", does=""))
    repo.commit()
    said = run(repo, "check", "jobs/nlp/train.yaml")[1]
    assert "policies/own_policy.py:1:1: warning: this file differs from the default branch" in said
    assert "policies/new_policy.py:1:1: warning: this file is not on the default branch, so it has no effect" in said


def test_a_clone_that_knows_no_default_branch_says_so(repo: Repo) -> None:
    """One error says what to do, where merged policies would else be left out one by one."""
    repo.git("branch", "-m", "main", "trunk")
    done = call(repo.root, "validate")
    assert done.returncode == 1
    assert (
        "the default branch is unknown, so nothing in policies/, schemas/ and platform/extra/ has effect" in done.stdout
    )
    assert call(repo.root, "check").returncode == 2
    assert call(repo.root, "check", TRAINYARD_DEFAULT_BRANCH="refs/heads/trunk").returncode == 0
