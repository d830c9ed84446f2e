"""Jobs that preempt each other for ever are told so, and who does it."""

from __future__ import annotations

from dataclasses import replace

from kueue.worlds import case
from make import CLUSTER, JOB, fields, write_repository
from trainyard.judge.admission.asks import Ask, asks
from trainyard.judge.admission.cluster_jobs import Crowd
from trainyard.judge.admission.machines import Machines
from trainyard.judge.admission.rules import findings
from trainyard.judge.admission.site import Site, site
from trainyard.judge.admission.verdicts import by_kueue
from trainyard.judge.admission.witness import borrowing_text
from trainyard.judge.preflight import check_repository

RESTLESS = 143
"""The seed of a small crowded cluster in which Kueue's own scheduler goes on preempting."""


def test_jobs_that_preempt_each_other_for_ever_do_not_settle(tmp_path):
    """A job that loses its quota again and again does not settle; one that is there throughout fits."""
    one = case(RESTLESS)
    (file,) = check_repository(write_repository(tmp_path, jobs={"nlp/train": fields(JOB, {})})).specs.jobs
    cluster = check_repository(write_repository(tmp_path, clusters={"test": CLUSTER})).specs.clusters["test"]
    where = Site("drawn", cluster, one["config"], [item for item in one["objects"] if item["kind"] != "Workload"])
    work = [item for item in one["objects"] if item["kind"] == "Workload"]
    asks = [Ask(replace(file, name=item["metadata"]["name"]), None, [named(item)], [item]) for item in work]
    answer = where.prepared.decided([one for item in asks for one in item.workloads], one.get("admitted", ()))
    crowd = Crowd(where, asks, answer, Machines.of(where), Machines.of(where), {})
    words = {item.file.name: by_kueue(item, crowd) for item in asks if item.file.name in {"w00", "w08", "w09"}}
    assert words["w00"].word == "does not settle"
    assert words["w00"].detail.endswith(", which preempts it")
    (told,) = findings(words.values(), [])
    assert (told.rule, told.is_error) == ("kq-restless", False)
    assert told.message.startswith("job does not settle: ")
    assert words["w09"].word.startswith("fits")


def test_what_kueue_does_not_survive_is_an_error(tmp_path):
    """Quota held in a queue whose cohorts form a circle overflows its stack: nothing is judged, and the job is told."""
    there = check_repository(write_repository(tmp_path, jobs={"nlp/train": fields(JOB, {})}))
    where = site(there.specs, "test")
    (ask,) = asks(there, {"test": where}, ["test"])
    crowd = Crowd(where, [ask], {"error": "stack overflow"}, Machines.of(where), Machines.of(where), {})
    verdict = by_kueue(ask, crowd)
    assert (verdict.word, verdict.detail) == ("not judged", "Kueue crashes: stack overflow")
    (told,) = findings([verdict], [])
    assert (told.rule, told.location.file, told.is_error) == ("kq-crash", "jobs/nlp/train.yaml", True)


def named(workload):
    """A Workload with its namespace."""
    return {**workload, "metadata": {"namespace": "default", **workload["metadata"]}}


def test_what_was_borrowed_and_is_not_any_more_is_told_so(tmp_path):
    """A job is told to have borrowed also where others went later, and its queue ends within its own quota."""
    checked = check_repository(write_repository(tmp_path, jobs={"nlp/train": fields(JOB, {})}))
    where = site(checked.specs, "test")
    (ask,) = asks(checked, {"test": where}, ["test"])
    answer = {
        "workloads": {key: {"clusterQueue": "research"} for key in ask.keys},
        "clusterQueues": {"research": {"active": True}},
    }
    assert borrowing_text(ask, where, answer) == (
        "queue research borrows at first, and in the end uses only its own quota"
    )
