"""Commands that only look run no program that makes jobs, and tell its runs as `generated/` has them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from command import call
from make import CLUSTER, JOB, TEAM, write_repository
from repo import Repo
from trainyard import __version__
from trainyard.base.documents import dump
from trainyard.base.system.trust import idle
from trainyard.change.plan import make_plan
from trainyard.change.synth import session
from trainyard.judge.preflight import check_repository
from trainyard.render.tree import ledger

pytestmark = pytest.mark.node

SWEEP = f"""from trainyard.specs import Job

def jobs():
    yield "sweep-a", Job.model_validate({JOB!r})
"""
PIPELINES = {"image": "registry.example.com/python@sha256:" + "0" * 64, "namespace": "kubeflow"}
BOOM = 'raise SystemExit("this was run")\n'
WAIVES = SWEEP.replace("yield", 'accepted = dict(waive={"kq-lq-exists": "made by hand"})\n    yield')


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Make a live repository with a job and a program on main."""
    repo = Repo(tmp_path_factory.mktemp("first") / "repo")
    write_repository(repo.root, jobs={"nlp/train": JOB}, teams={"nlp": {**TEAM, "python": True}})
    repo.put("jobs/nlp/sweep.py", SWEEP)
    outcome = session.run(repo.root, __version__)
    assert outcome.findings == ()
    assert outcome.work is not None
    list(outcome.work.write())
    repo.commit()
    return repo


@pytest.fixture
def repo(first: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Return a copy of it whose program has been seen by no synth, on a branch."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    repo = first.copied(tmp_path / "repo")
    repo.git("switch", "-qc", "work")
    return repo


def test_a_plan_runs_no_program(repo: Repo) -> None:
    """One that changed is told as not run; its run is left alone, and nothing of that is remembered for a synth."""
    repo.put("jobs/nlp/sweep.py", BOOM + SWEEP)
    with idle():
        plan = make_plan(repo.root, __version__)
    assert [(finding.rule, finding.location.file, finding.is_error) for finding in plan.findings] == [
        ("run/python-idle", "jobs/nlp/sweep.py", False)
    ]
    assert {run.job: run.word for run in plan.runs} == {"sweep-a": "keeps", "train": "keeps"}
    assert "stopped with SystemExit: this was run" in session.run(repo.root, __version__).findings[0].message


def test_a_plan_of_programs_as_at_the_base_says_nothing_of_them(repo: Repo) -> None:
    """What was reviewed and merged is known by its runs."""
    with idle():
        assert make_plan(repo.root, __version__).findings == ()


def test_a_program_that_a_branch_adds_is_told_by_the_tree(repo: Repo) -> None:
    """The plan has the run that the branch's generated/ brings, without running what made it."""
    repo.put("jobs/nlp/more.py", SWEEP.replace("sweep-a", "more-a"))
    outcome = session.run(repo.root, __version__)
    assert outcome.work is not None
    list(outcome.work.write())  # not saved: another machine looks at it
    repo.put("jobs/nlp/more.py", BOOM + SWEEP)
    with idle():
        plan = make_plan(repo.root, __version__)
    assert {run.job: run.word for run in plan.runs} == {"sweep-a": "keeps", "train": "keeps", "more-a": "starts"}
    assert [finding.rule for finding in plan.findings] == ["run/python-idle"]


CHANGES = {
    "retired": ("sweep-a", {**JOB, "retired": True}, {"sweep-a": "stops"}),
    "renamed": ("sweep-b", {**JOB, "renamedFrom": "sweep-a"}, {"sweep-b": "replaces"}),
}


@pytest.mark.parametrize(("name", "job", "runs"), CHANGES.values(), ids=CHANGES)
def test_what_a_program_ends_is_told_by_the_tree(
    repo: Repo, name: str, job: dict[str, Any], runs: dict[str, str]
) -> None:
    """A job that it retires or renames is no job that is gone, though nobody runs the program to hear it."""
    repo.put("jobs/nlp/sweep.py", SWEEP.replace("sweep-a", name).replace(repr(JOB), repr(job)))
    outcome = session.run(repo.root, __version__)
    assert outcome.work is not None, outcome.findings
    list(outcome.work.write())  # not saved: another machine looks at it
    with idle():
        plan = make_plan(repo.root, __version__)
    assert [finding.rule for finding in plan.findings] == ["run/python-idle"]
    assert {run.job: run.word for run in plan.runs} == {"train": "keeps", **runs}


def test_validate_and_explain_run_no_program(repo: Repo) -> None:
    """Both say so; `--python` runs it."""
    repo.put("jobs/nlp/sweep.py", BOOM + SWEEP)
    done = call(repo.root, "validate")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 Python job file was not executed" in done.stdout + done.stderr
    done = call(repo.root, "explain", "nlp/sweep-a")
    assert "belongs to jobs/nlp/sweep.py, which was not executed; use --python to run it" in done.stderr
    assert "this was run" in call(repo.root, "explain", "nlp/sweep-a", "--python").stderr
    assert "this was run" in call(repo.root, "validate", "--python").stdout


def test_admit_counts_the_runs_of_programs(repo: Repo, tmp_path: Path) -> None:
    """They hold what generated/ says, and have no verdict; so do pictures, and what a job is told."""
    write_repository(repo.root, jobs={"nlp/train": JOB, "nlp/wide": JOB}, teams={"nlp": {**TEAM, "python": True}})
    repo.put("jobs/nlp/sweep.py", BOOM + SWEEP)
    done = call(repo.root, "admit", "--format", "json", "--svg", str(tmp_path / "svg"))
    found = {load["job"]: load for load in json.loads(done.stdout)}
    assert {name: value["verdict"] for name, value in found.items()} == {"nlp/train": "fits", "nlp/wide": "waits for"}
    assert "used by nlp/sweep-a, nlp/train" in found["nlp/wide"]["detail"]
    said = "jobs/nlp/sweep.py was not executed: 1 run in generated/ counts but gets no verdict; run with --python"
    assert done.stderr.count("was not executed") == done.stderr.count(said) == 1, done.stderr
    picture = (tmp_path / "svg/test.hosts.svg").read_text()
    assert "nlp/sweep-a" in picture
    assert "left out" not in picture
    assert "used by nlp/sweep-a" in call(repo.root, "explain", "nlp/wide").stdout
    repo.put("jobs/nlp/sweep.py", SWEEP)
    judged = {load["job"]: load for load in json.loads(call(repo.root, "admit", "--format", "json", "--python").stdout)}
    assert judged.pop("nlp/sweep-a")["verdict"] == "fits"
    assert judged == found


def test_runs_of_programs_on_other_clusters_do_not_count(repo: Repo) -> None:
    """Who asks about one cluster, or a job there, is told how many runs count on that one."""
    for cluster in ("test", "other"):
        repo.put(
            f"platform/clusters/{cluster}.yaml",
            dump({**CLUSTER, "argocd": {"version": "3.5.1", "destination": {"name": cluster}}}),
        )
    repo.put("jobs/nlp/far.yaml", dump({**JOB, "cluster": "other"}))
    none, one = "no run in generated/ counts", "1 run in generated/ counts"
    for given, said in (
        (["nlp/far"], none),
        (["--cluster", "other"], none),
        (["nlp/far", "nlp/train"], one),
        (["--cluster", "test"], one),
        ([], one),
    ):
        assert f"jobs/nlp/sweep.py was not executed: {said}" in call(repo.root, "admit", *given).stderr, given


def test_a_program_without_runs_counts_for_nothing(repo: Repo) -> None:
    """That is said in one sentence with the others."""
    repo.put("jobs/nlp/none.py", BOOM)
    repo.put("generated/test/ledger/nlp/odd.json", "{")
    done = call(repo.root, "admit")
    said = "jobs/nlp/none.py and jobs/nlp/sweep.py were not executed: 1 run in generated/ counts but gets no verdict"
    assert said in done.stderr
    (repo.root / "jobs/nlp/sweep.py").unlink()
    assert "jobs/nlp/none.py was not executed: no run in generated/ counts" in call(repo.root, "admit").stderr


ALTERED = "the run does not count: its files differ from its ledger; restore them"
DAMAGED = {
    "emptied": (b"", False, ALTERED),
    "of no YAML": (b"{[: :\n\t\xff", False, ALTERED),
    "other than remembered": (b"kind: JobSet\n", False, ALTERED),
    "a text for metadata": (
        b"apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: x\nspec: 3\n",
        True,
        'metadata must be a map, but is the text "x"',
    ),
    "tasks that are a number": (
        b"apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: x}\nspec: {tasks: 5}\n",
        True,
        "spec.tasks",
    ),
    "neither name nor pods": (b"apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {}\n", True, "name"),
    "no kind": (b"apiVersion: v1\nmetadata: {name: x}\n", True, ": kind 'v1 ' does not exist"),
}


@pytest.mark.parametrize(("text", "remembered", "said"), DAMAGED.values(), ids=DAMAGED)
def test_a_run_that_nobody_made_counts_for_nothing(repo: Repo, text: bytes, remembered: bool, said: str) -> None:
    """Whatever a branch writes into generated/, and even where its ledger agrees, others are judged without it."""
    folder = next((repo.root / "generated/test/runs/nlp").glob("sweep-a-*"))
    for path in list(folder.iterdir()):
        path.unlink()
    (folder / "jobset.x.yaml").write_bytes(text)
    book = repo.root / "generated/test/ledger/nlp/sweep-a.json"
    if remembered:
        (entry,) = ledger.load(book.read_bytes()) or ()
        entry = replace(entry, files=ledger.digest_of_bytes({"jobset.x.yaml": text}))
        book.write_text(ledger.dump([entry]), encoding="utf-8")
    done = call(repo.root, "admit", "--format", "json")
    assert [load["verdict"] for load in json.loads(done.stdout)] == ["fits"]
    (line,) = [one_line for one_line in done.stderr.splitlines() if "does not count" in one_line]
    assert line.startswith(f"generated/test/runs/nlp/{folder.name}: the run does not count: ")
    assert said in line
    assert "no run in generated/ counts" in done.stderr


def test_a_plan_says_which_queue_is_none(repo: Repo) -> None:
    """Its jobs cannot be judged, and the place is that of the object that somebody wrote."""
    keep = {"annotations": {"argocd.argoproj.io/sync-options": "Prune=false"}}
    queue = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "k", **keep}}
    repo.put("platform/extra/test/platform/k.yaml", json.dumps({**queue, "spec": {"resourceGroups": 5}}))
    done = call(repo.root, "plan")
    assert done.returncode == 2
    assert (
        "platform/extra/test/platform/k.yaml:1: ClusterQueue k: spec.resourceGroups must be of type array"
        in done.stderr
    )


def test_a_run_counts_for_its_own_job_alone(repo: Repo) -> None:
    """A ledger that names the run of another job adds none."""
    folder = repo.root / "generated/test/ledger/nlp"
    (folder / "sweep-b.json").write_bytes((folder / "sweep-a.json").read_bytes())
    done = call(repo.root, "admit")
    assert "the run does not count" in done.stderr
    assert "1 run in generated/ counts but gets no verdict" in done.stderr


def test_what_a_program_may_waive_is_not_told_of_its_runs(repo: Repo) -> None:
    """A program that names a rule in a waiver is believed where it is not run, and held to it where it is."""
    folder = next((repo.root / "generated/test/runs/nlp").glob("sweep-a-*"))
    file = next(path for path in folder.iterdir() if "jobset" in path.name or "job." in path.name)
    file.write_text(
        file.read_text(encoding="utf-8").replace("queue-name: research", "queue-name: other"), encoding="utf-8"
    )
    found = call(repo.root, "validate").stdout
    repo.put("jobs/nlp/sweep.py", WAIVES)
    waived = call(repo.root, "validate").stdout
    assert ("kq-lq-exists" in found, "kq-lq-exists" in waived) == (True, False)


def test_a_job_may_come_after_one_of_a_program(tmp_path: Path) -> None:
    """Whether the program makes it is not known where that is not run, and no error."""
    team = {"nlp": {**TEAM, "python": True}}
    cluster = {**CLUSTER, "pipelines": PIPELINES}
    job = {**JOB, "after": ["sweep-a", "lost"]}
    root = write_repository(tmp_path, jobs={"nlp/train": job}, teams=team, clusters={"test": cluster})
    (root / "jobs/nlp/sweep.py").write_text(BOOM + SWEEP, encoding="utf-8")
    with idle():
        found = check_repository(root).findings
    (message,) = [item.message for item in found if item.rule == "run/after-step"]
    assert "lost" in message
