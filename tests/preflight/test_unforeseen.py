"""What nobody foresaw in one job, cluster or object is an error there, and the findings of others come out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from command import call
from conftest import ROOT
from make import JOB, fields, write_repository
from trainyard.apiserver import Judge, catalog
from trainyard.documents import Document
from trainyard.errors import SpecError
from trainyard.manifests import Manifest
from trainyard.preflight import check
from trainyard.specs.load import Loaded, read_repository
from trainyard.system.unforeseen import TRACEBACK, UNFORESEEN, judged

OTHER = {**JOB, "queue": "none"}


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands as people run them: tests let through what nobody foresaw."""
    monkeypatch.delenv(TRACEBACK)


def odd(root: Path) -> Loaded:
    """Return a repository with a wrong job, and one whose model says what no file can say, which stops Python."""
    write_repository(root, jobs={"nlp/odd": JOB, "nlp/other": OTHER})
    loaded = read_repository(root)
    jobs = tuple(
        replace(each, job=each.job.model_copy(update={"nodes": "many"})) if each.name == "odd" else each
        for each in loaded.specs.jobs
    )
    return replace(loaded, specs=replace(loaded.specs, jobs=jobs))


@pytest.mark.usefixtures("quiet")
def test_a_job_that_stops_trainyard_hides_no_other(tmp_path: Path) -> None:
    """It is an error in its file, it has no run, and the other job's errors are said."""
    checked = check(odd(tmp_path), tmp_path)
    said = {(each.location.file, each.rule) for each in checked.findings if each.is_error}
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
    cluster = loaded.specs.clusters["test"].model_copy(update={"operators": {"kueue": None}})
    loaded = replace(loaded, specs=replace(loaded.specs, clusters={"test": cluster}, jobs=()))
    said = {(each.location.file, each.rule) for each in check(loaded, tmp_path).findings}
    assert ("platform/clusters/test.yaml", UNFORESEEN.id) in said


@pytest.mark.usefixtures("quiet")
def test_an_object_that_stops_trainyard_is_not_valid() -> None:
    """An object that nests deeper than Python goes is an error, and has no verdict."""
    deep: dict[str, object] = {}
    for _ in range(20_000):
        deep = {"a": deep}
    value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "annotations": deep}}
    judge = Judge(catalog.load(ROOT / "schemas", kubernetes="1.35")[0])
    found = judge.judge(Manifest(Document("a.yaml", 0, value), value))
    assert found.verdict != "valid"
    assert any(each.is_error for each in found.findings)


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, SpecError, FileNotFoundError])
def test_what_stops_every_command_is_let_through(error: type[BaseException]) -> None:
    """Ctrl-C, and what means that a command cannot finish, are nothing about one job."""

    def stop() -> None:
        raise error

    with pytest.raises(error):
        judged(stop, lambda _: None)


REASONS = {
    "its values are nested too deep": RecursionError(),
    "a number in it is beyond what is computed (OverflowError)": OverflowError("x"),
    "KeyError: 'a'": KeyError("a"),
}


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(("said", "error"), REASONS.items(), ids=REASONS)
def test_the_reason_is_plain(said: str, error: Exception) -> None:
    """The finding says in a few words what stopped Trainyard."""

    def stop() -> str:
        raise error

    assert judged(stop, str) == said


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
