"""`retire --finished`: a cluster says which runs have ended, files say so then, and nothing on the cluster changes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from make import CLUSTER, JOB, fields, write_repository
from trainyard.base.documents import dump
from trainyard.base.errors import ToolError
from trainyard.faces.cli import main
from trainyard.faces.live import retiring
from trainyard.faces.live.finished import ask, tree_at
from trainyard.faces.live.server import Answer
from trainyard.render.tree import layout, ledger
from trainyard.render.tree.wanted import Wanted, wanted_entry
from trainyard.specs.load import read_repository

KINDS = {"Job": ("batch/v1", "jobs"), "JobSet": ("jobset.x-k8s.io/v1alpha2", "jobsets")}
YES = Answer(200, "", "")


def condition(kind: str, status: str = "True", reason: str = "") -> dict[str, Any]:
    """Return a status of one condition."""
    return {"status": {"conditions": [{"type": kind, "status": status, "reason": reason}]}}


DONE, COMPLETED = condition("Complete"), condition("Completed")
FAILED = condition("Failed", reason="BackoffLimitExceeded")


class Recorded:
    """A server that has these objects by kind, name and status, gives two a page, and can only be asked."""

    def __init__(self, objects: Mapping[tuple[str, str], Mapping[str, Any]], *, served: tuple[str, ...] = ("Job",)):
        self.objects, self.served = objects, served

    def request(self, method: str, path: str, *, query: Any = None) -> tuple[Answer, dict[str, Any]]:
        """Answer a list, or what a version of a group serves."""
        assert method == "GET"
        for kind, (version, plural) in KINDS.items():
            if path == f"/apis/{version}":
                there = kind in self.served
                resources = [{"kind": kind, "name": plural}, {"kind": kind, "name": f"{plural}/status"}]
                return (YES, {"resources": resources}) if there else (Answer(404, "NotFound", ""), {})
            if path == f"/apis/{version}/namespaces/nlp/{plural}":
                asked = dict(query)
                assert asked["labelSelector"] == "trainyard.dev/run"
                listed = [self.value(name, status) for (of, name), status in self.objects.items() if of == kind]
                begin = int(asked.get("continue", 0))
                onward = {"continue": str(begin + 2)} if len(listed) > begin + 2 else {}
                return YES, {"metadata": onward, "items": listed[begin : begin + 2]}
        raise AssertionError(path)

    @staticmethod
    def value(name: str, status: Mapping[str, Any]) -> dict[str, Any]:
        """Return an item of a list, which does not say its kind."""
        return {"metadata": {"name": name, "namespace": "nlp"}, **status}


class Unreachable:
    """A server that does not answer, or lets nobody list."""

    def __init__(self, answer: Answer | None = None):
        self.answer = answer

    def request(self, *_: Any, **__: Any) -> tuple[Answer, dict[str, Any]]:
        """Refuse."""
        if self.answer is None:
            raise ToolError("the API server cannot be reached: timed out")
        return self.answer, {}


def repository(root: Path, jobs: Mapping[str, Mapping[str, Any]], kind: str = "Job") -> dict[str, Wanted]:
    """Write a repository whose tree has the run of each job; return what the jobs ask for, by name."""
    write_repository(root, jobs={f"nlp/{name}": fields(JOB, changes) for name, changes in jobs.items()})
    asked = {job.name: wanted_entry(job) for job in read_repository(root).specs.jobs}
    for item in asked.values():
        write_run(root, item, kind)
    return asked


def write_run(root: Path, asked: Wanted, kind: str = "Job") -> None:
    """Write the files and the ledger of a run."""
    metadata = {"name": asked.run, "namespace": asked.team, "labels": {"trainyard.dev/run": asked.run}}
    value = {"apiVersion": KINDS[kind][0], "kind": kind, "metadata": metadata}
    place = root / "generated" / asked.cluster / asked.folder / f"{kind.lower()}.{asked.run}.yaml"
    record = root / "generated" / asked.cluster / layout.ledger_file(asked.team, asked.job)
    for path, text in ((place, dump(value)), (record, ledger.dump([ledger.Entry(asked.run, "s", "f", "1")]))):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def outcomes(root: Path, server: Any, *, failed: bool = False) -> dict[str, retiring.Outcome]:
    """Return what is done about each job, by its name, and do it."""
    specs = read_repository(root).specs
    decided = retiring.decide(ask(server, tree_at(root), "test"), specs.jobs, failed=failed)
    return {item.job.partition("/")[2]: item for item in retiring.write(root, decided)}


def is_retired(root: Path, name: str) -> bool:
    """Whether a job's file says so."""
    return "retired: true" in (root / f"jobs/nlp/{name}.yaml").read_text(encoding="utf-8")


STATES: dict[str, tuple[str, Mapping[str, Any] | None, bool, str]] = {
    "a Job that is done": ("Job", DONE, True, ""),
    "a JobSet that is done": ("JobSet", COMPLETED, True, ""),
    "one that was suspended before": ("Job", {"status": {"conditions": [
        {"type": "Suspended", "status": "False"}, {"type": "Complete", "status": "True"}]}}, True, ""),
    "one that runs": ("Job", {"status": {"active": 2}}, False, "still active"),
    "one that waits": ("Job", condition("Suspended"), False, "still active"),
    "one of which nothing is known yet": ("Job", {}, False, "still active"),
    "one whose end is taken back": ("Job", condition("Complete", "False"), False, "still active"),
    "a JobSet by the word of a Job": ("JobSet", DONE, False, "still active"),
    "one that failed": ("Job", FAILED, False, " failed (BackoffLimitExceeded); raise run: to try again, or retire it"),
    "one that is not there": ("Job", None, False, " is not on the cluster; the next sync creates it"),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "status", "retired", "why"), STATES.values(), ids=STATES)
def test_a_job_is_retired_when_its_run_is_done(tmp_path, kind, status, retired, why):
    """Whatever else its run is at, its file stays as it is, and a reason is given."""
    run = repository(tmp_path, {"train": {}}, kind)["train"].run
    server = Recorded({} if status is None else {(kind, run): status}, served=(kind,))
    found = outcomes(tmp_path, server)["train"]
    assert (found.retired, is_retired(tmp_path, "train"), found.stuck) == (retired, retired, False)
    assert why in found.why


def test_one_that_failed_is_retired_on_request(tmp_path):
    """Who has looked at it says --failed."""
    run = repository(tmp_path, {"train": {}})["train"].run
    assert outcomes(tmp_path, Recorded({("Job", run): FAILED}), failed=True)["train"].retired
    assert is_retired(tmp_path, "train")


def test_a_cluster_without_the_kind_has_none_of_its_runs(tmp_path):
    """Before an operator is there its runs are neither finished nor an error."""
    repository(tmp_path, {"train": {}}, "JobSet")
    assert outcomes(tmp_path, Recorded({}, served=()))["train"].seen.state == "absent"


def test_all_pages_are_read(tmp_path):
    """A namespace has more runs than a page."""
    asked = repository(tmp_path, {f"job-{number}": {} for number in range(5)})
    found = outcomes(tmp_path, Recorded({("Job", item.run): DONE for item in asked.values()}))
    assert [item.retired for item in found.values()] == [True] * 5


def test_a_job_that_asks_for_another_run_now_is_left(tmp_path):
    """Its file was edited after the run that ended; the new one has yet to come."""
    run = repository(tmp_path, {"train": {}})["train"].run
    (tmp_path / "jobs/nlp/train.yaml").write_text(dump(fields(JOB, {"nodes": 1})))
    found = outcomes(tmp_path, Recorded({("Job", run): DONE}))["train"]
    assert not found.retired
    assert not found.stuck
    assert f"{run} succeeded, but jobs/nlp/train.yaml now produces train-" in found.why
    assert not is_retired(tmp_path, "train")


def test_a_job_that_is_retired_already_is_left(tmp_path):
    """The change is waiting for its synth."""
    run = repository(tmp_path, {"train": {}})["train"].run
    (tmp_path / "jobs/nlp/train.yaml").write_text(dump(fields(JOB, {"retired": True})))
    assert "already has retired: true" in outcomes(tmp_path, Recorded({("Job", run): DONE}))["train"].why


def test_a_job_of_a_program_is_a_persons_to_retire(tmp_path):
    """Only who wrote the program knows where; the others are retired nevertheless."""
    asked = repository(tmp_path, {"train": {}})
    program = f"from trainyard.specs import Job\n\n\ndef jobs():\n    yield 'sweep-low', Job.model_validate({JOB!r})\n"
    (tmp_path / "jobs/nlp/sweep.py").write_text(program)
    team = (tmp_path / "platform/teams/nlp.yaml").read_text()
    (tmp_path / "platform/teams/nlp.yaml").write_text(team + "python: true\n")
    made = [item for item in map(wanted_entry, read_repository(tmp_path).specs.jobs) if item.job != "train"]
    assert len(made) == 1, [finding.message for finding in read_repository(tmp_path).findings]
    write_run(tmp_path, made[0])
    found = outcomes(tmp_path, Recorded({("Job", item.run): DONE for item in (*asked.values(), *made)}))
    assert found["train"].retired
    assert found[made[0].job].stuck
    assert "set retired=True in jobs/nlp/sweep.py" in found[made[0].job].why


def test_a_file_that_only_a_person_can_edit_stops_no_other(tmp_path):
    """It is named, and the rest is done."""
    asked = repository(tmp_path, {"one": {}, "two": {}})
    (tmp_path / "jobs/nlp/one.yaml").write_text(f"{{{dump(JOB).strip().replace(chr(10), ', ')}}}\n")
    found = outcomes(tmp_path, Recorded({("Job", item.run): DONE for item in asked.values()}))
    assert (found["one"].retired, found["one"].stuck, found["two"].retired) == (False, True, True)
    assert "cannot be edited automatically; write retired: true" in found["one"].why


DEAF = {
    "that cannot be reached": (Unreachable(), "the API server cannot be reached"),
    "that lets nobody look": (
        Unreachable(Answer(403, "Forbidden", "jobs is forbidden")),
        "does not list its resources",
    ),
}


@pytest.mark.parametrize(("server", "message"), DEAF.values(), ids=DEAF)
def test_a_server_that_does_not_tell_changes_nothing(tmp_path, server, message):
    """All are asked about before any file is changed."""
    repository(tmp_path, {"train": {}})
    with pytest.raises(ToolError, match=message):
        outcomes(tmp_path, server)
    assert not is_retired(tmp_path, "train")


ADVICE = "; raise run: to try again, or retire it with --failed"


def test_what_was_done_is_told_and_the_rest_counted(tmp_path):
    """A line for each job that ended or is missing; those that go on are a number."""
    asked = repository(tmp_path, {"done": {}, "bad": {}, "on": {}, "gone": {}})
    run = {name: value.run for name, value in asked.items()}
    server = Recorded({("Job", run["done"]): DONE, ("Job", run["bad"]): FAILED, ("Job", run["on"]): {}})
    decided = list(
        retiring.decide(ask(server, tree_at(tmp_path), "test"), read_repository(tmp_path).specs.jobs, failed=False)
    )
    assert retiring.render(decided, dry_run=True).splitlines() == [
        f"skipped nlp/bad: {run['bad']} failed (BackoffLimitExceeded){ADVICE}",
        f"would retire nlp/done: Job {run['done']} succeeded",
        f"skipped nlp/gone: {run['gone']} is not on the cluster; the next sync creates it",
        "runs: 1 succeeded, 1 failed, 1 queued or running, 1 not on the cluster; 1 file to change",
    ]
    assert not is_retired(tmp_path, "done")
    last = retiring.render(retiring.write(tmp_path, decided), dry_run=False).splitlines()[-1]
    assert last.endswith("; 1 file changed; next: run trainyard synth")


USES = {
    "neither": ([], "name a job, or use --finished --context NAME"),
    "both": (["nlp/train", "--finished", "--context", "x"], "--finished needs --context, and no job"),
    "no context": (["--finished"], "--finished needs --context, and no job"),
    "an option of the other": (["nlp/train", "--dry-run"], "name a job, or use --finished --context NAME"),
    "a cluster that does not exist": (
        ["--finished", "--context", "tset"],
        "cluster 'tset' does not exist; did you mean ",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), USES.values(), ids=USES)
def test_a_job_or_a_cluster_is_named(tmp_path, capsys, arguments, message):
    """Either is retired by name, or a cluster is asked."""
    repository(tmp_path, {"train": {}})
    with pytest.raises(SystemExit) as stopped:
        main(["retire", *arguments, "--root", str(tmp_path)])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


@pytest.fixture
def real() -> Iterator[Any]:
    """A cluster that may be changed, with the namespace of a test; or a loud skip."""
    kubeconfig = os.environ.get("TRAINYARD_KUBECONFIG")
    if not kubeconfig or os.environ.get("TRAINYARD_THROWAWAY") != "1":
        pytest.skip("runs that end on a real cluster: set TRAINYARD_KUBECONFIG and TRAINYARD_THROWAWAY=1")
    from kubernetes import client, config

    api = config.new_client_from_config(kubeconfig)
    core, batch = client.CoreV1Api(api), client.BatchV1Api(api)
    name = f"retire-{os.getpid()}"
    core.create_namespace({"metadata": {"name": name}})
    yield Path(kubeconfig), name, batch
    core.delete_namespace(name)


@pytest.mark.cluster
def test_a_real_cluster_tells_what_is_finished(tmp_path, real, capsys):
    """One of two Jobs has ended there: its file says retired, the other's does not, both objects stay."""
    kubeconfig, namespace, batch = real
    team = {"group": "people"}
    jobs = {f"{namespace}/{name}": JOB for name in ("done", "waits")}
    queues = {"research": {"teams": [namespace], "nominalQuota": {"gpu": {"gpus": 32}}}}
    write_repository(
        tmp_path, jobs=jobs, teams={namespace: team}, clusters={"test": fields(CLUSTER, {"queues": queues})}
    )
    for item in map(wanted_entry, read_repository(tmp_path).specs.jobs):
        write_run(tmp_path, item)
        pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.com/nothing"}]}
        labels = {"trainyard.dev/run": item.run}
        body = {"metadata": {"name": item.run, "labels": labels}, "spec": {"suspend": True, "template": {"spec": pod}}}
        batch.create_namespaced_job(namespace, body)
        if item.job == "done":
            now = "2026-01-01T00:00:00Z"
            ends = [
                {"type": kind, "status": "True", "lastTransitionTime": now}
                for kind in ("SuccessCriteriaMet", "Complete")
            ]
            status = {"startTime": now, "completionTime": now, "succeeded": 1, "conditions": ends}
            batch.patch_namespaced_job_status(item.run, namespace, {"spec": {"suspend": False}, "status": status})
    before = {item.metadata.name: item.metadata.generation for item in batch.list_namespaced_job(namespace).items}
    from kubernetes import config

    context = config.list_kube_config_contexts(str(kubeconfig))[1]["name"]
    command = ["retire", "--finished", "--context", context, "--cluster", "test", "--kubeconfig", str(kubeconfig)]
    with pytest.raises(SystemExit) as stopped:
        main([*command, "--root", str(tmp_path)])
    said = capsys.readouterr().out
    assert stopped.value.code == 0, said
    assert f"retired {namespace}/done: Job done-" in said
    assert "runs: 1 succeeded, 1 queued or running; 1 file changed; next: run trainyard synth" in said
    texts = {name: (tmp_path / f"jobs/{namespace}/{name}.yaml").read_text() for name in ("done", "waits")}
    assert {name: "retired: true" in text for name, text in texts.items()} == {"done": True, "waits": False}
    after = {item.metadata.name: item.metadata.generation for item in batch.list_namespaced_job(namespace).items}
    assert after == before
