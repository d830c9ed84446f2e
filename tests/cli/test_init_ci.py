"""What `init` writes for a forge: a pipeline that knows its base, and who approves what."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml
from pathspec import GitIgnoreSpec

from command import call
from conftest import ROOT
from new_repositories import begin
from repo import ENV, Repo
from trainyard.faces.drafts.owners import owners, rules
from trainyard.specs.load import read_repository

FORGES = {
    "github": (".github/workflows/trainyard.yaml", ".github/CODEOWNERS"),
    "gitlab": (".gitlab-ci.yml", "CODEOWNERS"),
}
BASH = ["bash", "-e", "-o", "pipefail", "-c"]
"""How runners of both start what a pipeline says."""


def owner(rules: str, path: str) -> str:
    """Return who owns a path: the last line that matches, as GitHub and GitLab read it."""
    return next(group for pattern, group in compiled(rules) if pattern.match_file(path))


@cache
def compiled(rules: str) -> list[tuple[GitIgnoreSpec, str]]:
    """Return patterns and groups, the last line first."""
    lines = [line.split() for line in rules.splitlines() if line and not line.startswith("#")]
    return [(GitIgnoreSpec.from_lines([pattern]), group) for pattern, group in reversed(lines)]


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A repository with both pipelines, rendered and committed, and a program that stands for the one of .venv/."""
    repo = Repo(tmp_path_factory.mktemp("ci") / "a")
    assert begin(repo.root, "--ci", "github", "--repo-url", "https://github.com/acme/training.git").returncode == 0
    other = repo.root.parent / "b"
    begin(other, "--ci", "gitlab", "--repo-url", "https://gitlab.com/acme/ml/training.git")
    for name in FORGES["gitlab"]:
        repo.put(name, (other / name).read_text())
    done = call(repo.root, "synth")
    assert done.returncode == 0, done.stderr
    repo.commit()
    return repo


def started(repo: Repo) -> Repo:
    """Put the program where a setup would, later than all that it is made of."""
    program = repo.put(".venv/bin/trainyard", f'#!/bin/sh\nexec "{sys.executable}" -P -m trainyard "$@"\n')
    program.chmod(0o755)
    repo.put(".venv/.ready", "")
    repo.put(".tools/.ready", "")
    return repo


def shell(script: str, repo: Repo, **env: str) -> subprocess.CompletedProcess[str]:
    """Run what a pipeline runs, with the variables that its forge sets."""
    variables = {**ENV, "PYTHONPATH": str(ROOT / "platform"), "CI": "true", **env}
    return subprocess.run([*BASH, script], cwd=repo.root, env=variables, capture_output=True, text=True, check=False)


def github(repo: Repo, **env: str) -> tuple[dict[str, int], str, str]:
    """Return how each step of the workflow ends, its summary and its log."""
    loaded = yaml.safe_load((repo.root / FORGES["github"][0]).read_text())
    steps, env = loaded["jobs"]["check"]["steps"], {**loaded["env"], **env}
    summary, variables = repo.root.parent / "summary", repo.root.parent / "env"
    for file in (summary, variables):
        file.write_text("")
    codes, log = {}, ""
    for step in steps:
        if "run" in step:
            given = dict(line.split("=", 1) for line in variables.read_text().splitlines())
            files = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_ENV": str(variables)}
            done = shell(step["run"], repo, **{**files, **env, **given})
            codes[step["name"]] = done.returncode
            log += done.stdout + done.stderr
    return codes, summary.read_text(), log


def gitlab(repo: Repo, **env: str) -> tuple[int, str, str]:
    """Return how the job ends, its plan and its log."""
    job = yaml.safe_load((repo.root / FORGES["gitlab"][0]).read_text())["trainyard"]
    variables = {name: str(value) for name, value in job["variables"].items()}
    done = shell("\n".join(job["script"]), repo, **variables, **env)
    return done.returncode, (repo.root / "plan.md").read_text(), done.stdout + done.stderr


@pytest.fixture
def branch(begun, tmp_path):
    """A clone as a forge makes it, with a branch that adds a job."""
    repo = begun.clone(tmp_path / "clone")
    repo.git("checkout", "--quiet", "-b", "more")
    text = (repo.root / "jobs/research/hello.yaml").read_text()
    repo.put("jobs/research/more.yaml", text.replace("nodes: 2", "nodes: 1"))
    assert call(repo.root, "synth").returncode == 0
    repo.commit()
    return started(repo)


@pytest.mark.node
def test_a_change_of_jobs_is_the_teams_alone(branch):
    """All that a new job writes is its team's, by both files; what is beside it is the platform's."""
    changed = branch.git("diff", "--name-only", "main", "more").splitlines()
    assert {path.split("/")[0] for path in changed} == {"jobs", "generated"}
    assert len(changed) >= 4
    for file, team, platform in (
        (".github/CODEOWNERS", "@acme/research", "@acme/platform"),
        ("CODEOWNERS", "@acme/ml/research", "@acme/ml/platform"),
    ):
        rules = (branch.root / file).read_text()
        assert {path: owner(rules, path) for path in changed} == dict.fromkeys(changed, team)
        others = ["platform/clusters/dev.yaml", "jobs/nlp/x.yaml", "generated/dev/argocd/x.yaml", ".github/CODEOWNERS"]
        others += ["generated/dev/teams/research/role.team.yaml", "generated/dev/platform/x.yaml", "Makefile"]
        assert {path: owner(rules, path) for path in others} == dict.fromkeys(others, platform)


def test_the_example_of_the_docs_knows_every_file_of_a_job():
    """In this repository too, what comes from a job is its team's, whatever its kind, and the rest the platform's."""
    rules = (ROOT / "docs/examples/CODEOWNERS").read_text()
    assert rules == owners("example", sorted(read_repository(ROOT).specs.teams))
    made = {}
    for index in (ROOT / "generated").glob("*/index/**/*.json"):
        top, listed = index.relative_to(ROOT).parts[:2], json.loads(index.read_text())
        made |= {"/".join([*top, listed["folder"], name]): file["spec"] for name, file in listed["files"].items()}
    for path in (path for path in (ROOT / "generated").rglob("*") if path.is_file()):
        name = path.relative_to(ROOT).as_posix()
        match = re.match(r"generated/[^/]+/(?:runs|ledger|index/runs)/([^/.]+)", name)
        assert owner(rules, name) == (f"@example/{match[1]}" if match else "@example/platform"), name
        if (spec := made.get(name, "")).startswith("jobs/"):
            assert owner(rules, name) == f"@example/{spec.split('/')[1]}"
    assert sum(spec.startswith("jobs/") for spec in made.values()) > 100


@pytest.mark.parametrize(("forge", "file"), [(forge, one_forge[0]) for forge, one_forge in FORGES.items()])
def test_nothing_in_a_pipeline_can_change_by_itself(begun, forge, file):
    """Actions are named by commit, all of the history is fetched, and no credentials stay behind."""
    text = (begun.root / file).read_text()
    for used in re.findall(r"uses: (.*)", text):
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", used)
    loaded = yaml.safe_load(text)
    if forge == "gitlab":
        assert loaded["trainyard"]["variables"]["GIT_DEPTH"] == 0
        return
    checkout = loaded["jobs"]["check"]["steps"][0]
    assert checkout["with"] == {"fetch-depth": 0, "persist-credentials": False}
    assert loaded["permissions"] == {"contents": "read"}
    assert not [step["run"] for step in loaded["jobs"]["check"]["steps"] if "${{" in step.get("run", "")]
    kinds = ["opened", "synchronize", "reopened", "edited"]  # edited: with a new target, it is another change
    assert loaded[True] == {"pull_request": {"types": kinds}, "push": {"branches": ["main"]}, "merge_group": None}
    assert "if" not in loaded["jobs"]["check"]  # a job that is skipped counts as passed


def test_the_page_on_people_shows_the_same_owners():
    """A line that is missing there would be missing everywhere."""
    shown = re.sub(r" +", " ", (ROOT / "docs/people.md").read_text())
    assert re.sub(r" +", " ", rules("nlp", "@example/nlp")) in shown


@pytest.mark.slow
@pytest.mark.node
def test_github_shows_what_a_pull_request_does(branch):
    """Beside the base branch, the summary has the plan; a fault fails and stands at its line."""
    event = {"EVENT": "pull_request", "BEFORE": "", "QUEUED": ""}
    codes, summary, log = github(branch, **event)
    assert codes == {"base": 0, "setup": 0, "plan": 0, "check": 0}, log
    assert "research/more" in summary
    assert "research/hello-" not in summary
    (branch.root / "jobs/research/more.yaml").write_text("cluster: deu\n")
    branch.commit()
    codes, summary, log = github(branch, **event)
    assert (codes["plan"], codes["check"]) == (1, 1)
    assert "::error file=jobs/research/more.yaml,line=1" in log


@pytest.mark.slow
@pytest.mark.node
def test_gitlab_shows_what_a_merge_request_does(branch):
    """The same, as a file and as the report of tests that GitLab reads."""
    event = {"CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_EVENT_TYPE": "detached"}
    code, plan, log = gitlab(branch, **event)
    assert (code, "research/more" in plan) == (0, True), log
    (branch.root / "jobs/research/more.yaml").write_text("cluster: deu\n")
    branch.commit()
    code, plan, log = gitlab(branch, **event)
    assert code == 1
    assert "jobs/research/more.yaml:1:1: error" in log
    assert "<testsuites" in (branch.root / "trainyard.xml").read_text()


PUSHES = {
    "a push": ("HEAD~1", "HEAD~1"),
    "a first push, before which there was nothing": ("0" * 40, "HEAD~1"),
    "a schedule": ("", "HEAD~1"),
}


@pytest.mark.parametrize(("before", "base"), PUSHES.values(), ids=PUSHES)
def test_a_push_is_compared_with_what_was_there(branch, tmp_path, before, base):
    """On the branch itself the base is what it was before; where that is not known, the commit before."""
    before = branch.git("rev-parse", before) if before.startswith("HEAD") else before
    asked = {"EVENT": "push", "BEFORE": before, "QUEUED": ""}
    expected = {"TRAINYARD_BASE": branch.git("rev-parse", base)}
    assert of_github(branch, tmp_path, asked) == expected
    assert of_gitlab(branch, {"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BEFORE_SHA": before}) == {**SYNCED, **expected}


def test_a_forced_push_is_compared_with_what_it_replaced(branch, tmp_path):
    """That is on no branch any more, and is fetched by its id; where nobody has it, the job fails."""
    gone = Repo(tmp_path / "other")
    gone.put("a", "1")
    before = gone.commit()
    branch.git("remote", "set-url", "origin", gone.root.as_uri())
    gone.git("config", "uploadpack.allowAnySHA1InWant", "true")
    asked = {"EVENT": "push", "BEFORE": before, "QUEUED": ""}
    assert of_github(branch, tmp_path, asked) == {"TRAINYARD_BASE": before}
    assert branch.git("cat-file", "-t", before) == "commit"
    script = yaml.safe_load((branch.root / FORGES["gitlab"][0]).read_text())["trainyard"]["script"][0]
    assert shell(script, branch, CI_PIPELINE_SOURCE="push", CI_COMMIT_BEFORE_SHA="c0ffee" * 6 + "c0ff").returncode != 0


def test_a_pipeline_in_a_fork_compares_with_the_parent(branch, tmp_path):
    """GitLab runs merge requests of forks in the fork, whose default branch its owner may write to."""
    parent = branch.clone(tmp_path / "parent.git", "--bare", "--branch", "more")
    parent.git("branch", "-f", "main", "more~1")
    branch.git("update-ref", "refs/remotes/origin/main", "more")
    asked = {"CI_PROJECT_ID": "2", "CI_MERGE_REQUEST_PROJECT_ID": "1", "CI_MERGE_REQUEST_IID": "7"}
    url = parent.root.as_uri().removesuffix(".git")
    assert of_gitlab(branch, {**MERGE_REQUEST, **asked, "CI_MERGE_REQUEST_PROJECT_URL": url}) == {
        **SYNCED,
        "TRAINYARD_BASE": "refs/remotes/origin/main",
    }
    assert branch.git("rev-parse", "refs/remotes/origin/main") == parent.git("rev-parse", "main")


SYNCED = {"TRAINYARD_DEFAULT_BRANCH": "refs/remotes/origin/main"}
MERGE_REQUEST = {"CI_MERGE_REQUEST_IID": "7", "CI_COMMIT_BEFORE_SHA": "0" * 40}


def of_github(repo: Repo, folder: Path, asked: dict[str, str]) -> dict[str, str]:
    """Return what the step `base` of the workflow says."""
    loaded = yaml.safe_load((repo.root / FORGES["github"][0]).read_text())
    (step,) = (one_step for one_step in loaded["jobs"]["check"]["steps"] if one_step.get("name") == "base")
    file = folder / "env"
    file.unlink(missing_ok=True)
    done = shell(step["run"], repo, GITHUB_ENV=str(file), **loaded["env"], **asked)
    assert done.returncode == 0, done.stderr
    return dict(line.split("=", 1) for line in file.read_text().splitlines())


def of_gitlab(repo: Repo, asked: dict[str, str]) -> dict[str, str]:
    """Return what the first line of the job's script says."""
    job = yaml.safe_load((repo.root / FORGES["gitlab"][0]).read_text())["trainyard"]
    variables = {name: str(value) for name, value in job["variables"].items()}
    done = shell(f"{job['script'][0]}\nenv | grep -E '^TRAINYARD_(BASE|DEFAULT)' | sort", repo, **variables, **asked)
    assert done.returncode == 0, done.stderr
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


@pytest.mark.parametrize("target", ["main", "evil", "release/1"])
def test_a_change_is_compared_with_what_argo_cd_syncs(branch, tmp_path, target):
    """Whatever its target is, which its author chooses, and may choose anew after a check."""
    asked = {"EVENT": "pull_request", "BEFORE": branch.git("rev-parse", "HEAD~1"), "QUEUED": "", "TARGET": target}
    assert of_github(branch, tmp_path, asked) == {"TRAINYARD_BASE": "refs/remotes/origin/main"}
    for kind in ("detached", "merged_result", ""):
        asked = {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": target, "CI_MERGE_REQUEST_EVENT_TYPE": kind, **MERGE_REQUEST}
        assert of_gitlab(branch, asked) == {**SYNCED, "TRAINYARD_BASE": "refs/remotes/origin/main"}


def test_a_queued_change_is_compared_with_those_before_it(branch, tmp_path):
    """They were approved, and are merged first; the branch itself does not hold them yet."""
    queued = branch.git("rev-parse", "HEAD~1")
    expected = {"TRAINYARD_DEFAULT_BRANCH": queued, "TRAINYARD_BASE": queued}
    assert of_github(branch, tmp_path, {"EVENT": "merge_group", "BEFORE": "", "QUEUED": queued}) == expected
    asked = {"CI_MERGE_REQUEST_EVENT_TYPE": "merge_train", "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": queued}
    assert of_gitlab(branch, {**asked, **MERGE_REQUEST}) == expected


def test_a_first_commit_is_its_own_base(tmp_path):
    """There is nothing before it, and still something to check."""
    repo = Repo(tmp_path / "a")
    begin(repo.root, "--ci", "gitlab", "--empty")
    first = repo.commit()
    asked = {"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BEFORE_SHA": "0" * 40}
    assert of_gitlab(repo, asked) == {**SYNCED, "TRAINYARD_BASE": first}
    assert call(repo.root, "check", CI="true", TRAINYARD_BASE=first).returncode == 0


@pytest.mark.node
def test_the_example_goes_before_anything_is_live(branch):
    """Its three files are deleted in one change, and nothing of it stays behind."""
    for name in ("jobs/research/hello.yaml", "jobs/research/more.yaml", "platform/clusters/dev.yaml"):
        (branch.root / name).unlink()
    (branch.root / "platform/teams/research.yaml").unlink()
    branch.put("platform/clusters/.gitkeep", "")
    done = call(branch.root, "synth")
    assert done.returncode == 0, done.stderr
    assert not [path for path in (branch.root / "generated").rglob("*") if path.is_file()]
    assert call(branch.root, "check").returncode == 0


OWNED = ["CODEOWNERS", "docs/CODEOWNERS", ".github/CODEOWNERS"]


@pytest.mark.parametrize("there", OWNED)
def test_owners_that_are_there_stay(tmp_path, there):
    """A second file would silence the first; what it needs is said."""
    path = tmp_path / "a" / there
    path.parent.mkdir(parents=True)
    path.write_text("* @mine\n")
    done = begin(tmp_path / "a", "--ci", "github", "--repo-url", "https://github.com/acme/training.git")
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "a").rglob("CODEOWNERS")) == [path]
    assert path.read_text() == "* @mine\n"
    assert f"kept {there} as it was\nit needs these lines:\n/jobs/research/" in done.stdout


def test_owners_that_have_the_lines_are_asked_for_none(tmp_path):
    """A second begin in the same folder says nothing of what the first has written."""
    for _ in range(2):
        done = begin(tmp_path / "a", "--ci", "github", "--repo-url", "https://github.com/acme/training.git")
    assert "kept .github/CODEOWNERS as it was\n" in done.stdout
    assert "it needs these lines" not in done.stdout
