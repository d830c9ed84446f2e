"""What nobody foresaw in one job, cluster or object is an error there, and the findings of others come out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

import recipes
from command import call
from conftest import ROOT
from make import CLUSTER, JOB, TEAM, fields, write_repository
from trainyard.base.documents import Document
from trainyard.base.errors import SpecError
from trainyard.base.manifests import Manifest
from trainyard.base.system.unforeseen import TRACEBACK, UNFORESEEN, judge_safely
from trainyard.judge.preflight import between, check, cluster, job, team
from trainyard.judge.preflight.declared import checks_in, ordered
from trainyard.specs.load import Loaded, read_repository
from trainyard.upstream.apiserver import Judge, catalog

OTHER = {**JOB, "queue": "none"}
ELSEWHERE = fields(TEAM, {"volumes": {"data": {"storage": "shared", "size": "1Ti", "clusters": ["nowhere"]}}})


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands as people run them: tests let through what nobody foresaw."""
    monkeypatch.delenv(TRACEBACK)


def odd(root: Path) -> Loaded:
    """Return a repository with a wrong job, and one whose model says what no file can say, which stops Python."""
    write_repository(root, jobs={"nlp/odd": JOB, "nlp/other": OTHER})
    loaded = read_repository(root)
    jobs = tuple(
        replace(one_job, job=one_job.job.model_copy(update={"nodes": "many"})) if one_job.name == "odd" else one_job
        for one_job in loaded.specs.jobs
    )
    return replace(loaded, specs=replace(loaded.specs, jobs=jobs))


@pytest.mark.usefixtures("quiet")
def test_a_job_that_stops_trainyard_hides_no_other(tmp_path: Path) -> None:
    """It is an error in its file, it has no run, and the other job's errors are said."""
    checked = check(odd(tmp_path), tmp_path)
    said = {(finding.location.file, finding.rule) for finding in checked.findings if finding.is_error}
    assert ("jobs/nlp/odd.yaml", UNFORESEEN.id) in said
    assert "jobs/nlp/other.yaml" in {file for file, _ in said}
    assert "odd" not in {run.run.job_name for run in checked.runs}
    assert checked.refused


def test_tests_see_what_nobody_foresaw(tmp_path: Path) -> None:
    """With the variable that tests set, a mistake in Trainyard is a traceback."""
    loaded = odd(tmp_path)
    with pytest.raises(TypeError):
        check(loaded, tmp_path)


@pytest.mark.usefixtures("quiet")
def test_a_cluster_that_stops_trainyard_hides_no_job(tmp_path: Path) -> None:
    """It is an error in its file, beside those of jobs."""
    write_repository(tmp_path, jobs={"nlp/other": OTHER})
    loaded = read_repository(tmp_path)
    odd = loaded.specs.clusters["test"].model_copy(update={"operators": {"kueue": None}})
    loaded = replace(loaded, specs=replace(loaded.specs, clusters={"test": odd}, jobs=()))
    said = {(finding.location.file, finding.rule) for finding in check(loaded, tmp_path).findings}
    assert ("platform/clusters/test.yaml", UNFORESEEN.id) in said


@pytest.mark.usefixtures("quiet")
def test_an_object_that_stops_trainyard_is_not_valid() -> None:
    """An object that nests deeper than Python goes is an error, and has no verdict."""
    value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "annotations": deep()}}
    judge = Judge(catalog.load(ROOT / "schemas", kubernetes="1.35")[0])
    found = judge.judge(Manifest(Document("a.yaml", 0, value), value))
    assert found.verdict != "valid"
    assert any(finding.is_error for finding in found.findings)


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, SpecError, FileNotFoundError])
def test_what_stops_every_command_is_let_through(error: type[BaseException]) -> None:
    """Ctrl-C, and what means that a command cannot finish, are nothing about one job."""

    def stop() -> None:
        raise error

    with pytest.raises(error):
        judge_safely(stop, lambda _: None)


REASONS = {
    "its values are nested too deep": RecursionError(),
    "a number in it is too large (OverflowError)": OverflowError("x"),
    "KeyError: 'a'": KeyError("a"),
}


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(("said", "error"), REASONS.items(), ids=REASONS)
def test_the_reason_is_plain(said: str, error: Exception) -> None:
    """The finding says in a few words what stopped Trainyard."""

    def stop() -> str:
        raise error

    assert judge_safely(stop, str) == said


@pytest.mark.usefixtures("quiet")
def test_nothing_is_written_while_a_job_cannot_be_judged(tmp_path: Path) -> None:
    """Hostile amounts, long lists and deep patches end in findings and exit code 1, never in a traceback."""
    deep = "{a: " * 60 + "b" + "}" * 60
    write_repository(tmp_path, jobs={"nlp/other": fields(JOB, {"patches": []})})
    job = (tmp_path / "jobs/nlp/other.yaml").read_text()
    (tmp_path / "jobs/nlp/deep.yaml").write_text(
        job.replace("patches: []", f"patches: [{{object: Pod, reason: x, merge: {{spec: {deep}}}}}]")
    )
    done = call(tmp_path, "synth")
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert not (tmp_path / "generated").exists()


STOPS = '''"""A check that stops Trainyard itself."""

from trainyard.judge.preflight.subjects import {subject}


@{subject}.check()
def check(*_):
    """Raise what nobody foresaw."""
    raise KeyError("nobody foresaw it")
    yield
'''
WHY = "KeyError: 'nobody foresaw it'"
SUBJECTS: dict[str, tuple[ModuleType, str, str, str]] = {
    "all files": (
        between,
        "BETWEEN",
        "platform/repository.yaml",
        f"check between/odd.py:check stopped, so its rules were not checked: {WHY}",
    ),
    "a team": (
        team,
        "TEAM",
        "platform/teams/nlp.yaml",
        f"check team/odd.py:check stopped, so its rules were not checked: {WHY}",
    ),
    "a cluster": (cluster, "CLUSTER", "platform/clusters/test.yaml", f"Trainyard cannot check this cluster: {WHY}"),
    "a job's file": (job, "JOB", "jobs/nlp/other.yaml", f"Trainyard cannot check this job: {WHY}"),
    "a run": (job, "RESOLVED", "jobs/nlp/other.yaml", f"Trainyard cannot check this job: {WHY}"),
}


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(("folder", "subject", "file", "message"), SUBJECTS.values(), ids=SUBJECTS)
def test_a_check_that_stops_trainyard_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: ModuleType, subject: str, file: str, message: str
) -> None:
    """It is one error that names the check or what it looks at; what other checks find is said as without it."""
    wrong = {**CLUSTER, "operators": {**CLUSTER["operators"], "kueue": {"version": "0.15.4"}}}
    root = write_repository(
        tmp_path / "repository",
        jobs={"nlp/other": JOB, "ads/lost": JOB},
        clusters={"test": CLUSTER, "wrong": wrong},
        teams={"nlp": TEAM, "two": ELSEWHERE},
    )
    before = check(read_repository(root), root).findings
    recipes.put(tmp_path, folder, "odd.py", STOPS.format(subject=subject), monkeypatch)
    with recipes.fresh(checks_in, ordered):
        found = check(read_repository(root), root).findings
    added = [item for item in found if item.rule == UNFORESEEN.id]
    assert (file, message) in {(item.location.file, item.message) for item in added}
    files = {item.location.file for item in added}
    assert len(added) == len(files)
    assert [item for item in before if item.location.file not in files] == [
        item for item in found if item.location.file not in files
    ]
    assert {item.location.file for item in before} - files
    if folder in {between, team}:
        assert [item for item in found if item not in added] == before


@pytest.mark.usefixtures("quiet")
def test_a_search_for_credentials_that_stops_shows_none(tmp_path: Path) -> None:
    """The finding names the check; what others say of a token is hidden by its shape, since nobody told its place."""
    token = "glpat-" + "x7k2m9q4w1z8r5t3v6b0"
    files = {"files": [{"source": "config.ini", "mountPath": "/etc/it"}], "cluster": "none"}
    root = write_repository(tmp_path, jobs={"nlp/other": {**JOB, "queue": token}, "nlp/odd": {**JOB, **files}})
    (root / "jobs/nlp/config.ini").write_text("a = 1\n")
    loaded = read_repository(root)
    jobs = tuple(
        replace(one_job, contents=dict.fromkeys(one_job.contents, 1)) for one_job in loaded.specs.jobs
    )  # no text
    found = check(replace(loaded, specs=replace(loaded.specs, jobs=jobs)), root).findings
    stopped = [item.message for item in found if item.rule == UNFORESEEN.id]
    begins = "check between/credentials.py:check stopped, so its rules were not checked: "
    assert any(message.startswith(begins) for message in stopped)
    assert "spec/unknown-queue" in {item.rule for item in found}
    assert not [item for item in found if token in item.message]


def deep() -> dict[str, object]:
    """Return a value that nests deeper than Python goes."""
    value: dict[str, object] = {}
    for _ in range(20_000):
        value = {"a": value}
    return value
