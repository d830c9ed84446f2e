"""Jobs that preempt each other for ever are told so, and who does it."""

from __future__ import annotations

from dataclasses import replace

from make import CLUSTER, JOB, fields, write_repository
from queueing.worlds import case
from trainyard.admission.asks import Ask, asks
from trainyard.admission.crowd import Crowd
from trainyard.admission.machines import Machines
from trainyard.admission.rules import findings
from trainyard.admission.site import Site, site
from trainyard.admission.verdicts import by_kueue
from trainyard.admission.witness import borrowed
from trainyard.preflight import check_repository

RESTLESS = 143
"""The seed of a small crowded cluster in which Kueue's own scheduler goes on preempting."""


def test_jobs_that_preempt_each_other_for_ever_do_not_settle(tmp_path):
    """A job that loses its quota again and again does not settle; one that is there throughout fits."""
    one = case(RESTLESS)
    (file,) = check_repository(write_repository(tmp_path, jobs={"nlp/train": fields(JOB, {})})).specs.jobs
    cluster = check_repository(write_repository(tmp_path, clusters={"test": CLUSTER})).specs.clusters["test"]
    where = Site("drawn", cluster, one["config"], [each for each in one["objects"] if each["kind"] != "Workload"])
    work = [each for each in one["objects"] if each["kind"] == "Workload"]
    asks = [Ask(replace(file, name=each["metadata"]["name"]), None, [named(each)], [each]) for each in work]
    answer = where.prepared.decided([one for each in asks for one in each.workloads], one.get("admitted", ()))
    crowd = Crowd(where, asks, answer, Machines.of(where), Machines.of(where), {})
    words = {each.file.name: by_kueue(each, crowd) for each in asks if each.file.name in {"w00", "w08", "w09"}}
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
    assert (verdict.word, verdict.detail) == ("not judged", "Kueue itself does not survive it: stack overflow")
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
    assert borrowed(ask, where, answer) == (
        "queue research borrowed when it came, and in the end uses its own quota alone"
    )
