"""What verdicts promise holds: a change that they name makes the job fit, and no two pods are in one place."""

from __future__ import annotations

import copy
import re
from collections import Counter

import pytest

from admission.drawn_repositories import Draw
from make import write_repository
from trainyard.base.documents import load
from trainyard.faces.cli.admit import document
from trainyard.judge.admission.verdicts import verdicts
from trainyard.judge.preflight import check_repository
from trainyard.upstream.kubelet.configuration.cpulist import parse
from trainyard.upstream.kubelet.sets import members

FEW, MANY = range(6), range(6, 36)
NUMBER = re.compile(r"\d+")


def repository(root, drawn, jobs):
    """A repository with the drawn cluster and these jobs, checked."""
    return check_repository(write_repository(root, jobs=jobs, clusters={"test": drawn.cluster}))


def verdict(root, drawn, name, job):
    """What is said of a job that has the cluster to itself, and the errors about it."""
    there = repository(root, drawn, {name: job})
    (found,) = verdicts(there)
    return found, [
        finding.message for finding in there.findings if finding.is_error and "jobs/" in finding.location.file
    ]


def applied(job, change, more=0):
    """A job with a change as it is written, its numbers greater by `more`."""
    found = copy.deepcopy(job)
    for part in change.split(" with "):
        path, _, text = part.partition(": ")
        if more:
            text = NUMBER.sub(lambda number: str(int(number[0]) + more), text, count=1)
        (value,), _ = load(text.encode(), file="change")
        place = found
        for name in path.split(".")[:-1]:
            place = place.setdefault(name, {})
        place[path.split(".")[-1]] = value.value
    return found


def held(root, seed):
    """Hold the changes that verdicts name to what becomes of the jobs with them; how many there were."""
    drawn = Draw(seed)
    count = 0
    for found in verdicts(repository(root / f"{seed}", drawn, drawn.jobs)):
        for index, change in enumerate(found.changes):
            name = found.ask.name
            where = root / f"{seed}-{found.ask.file.name}-{index}"
            better, errors = verdict(where / "better", drawn, name, applied(drawn.jobs[name], change))
            assert (better.word[:4], errors) == ("fits", []), (seed, name, change, better.word, better.detail)
            if NUMBER.search(change) and " with " not in change:
                more, errors = verdict(where / "more", drawn, name, applied(drawn.jobs[name], change, more=1))
                assert not more.word.startswith("fits") or errors, (seed, name, change, more.detail)
            count += 1
    return count


def test_a_job_with_the_change_that_its_verdict_names_fits(tmp_path):
    """Applied to its file, with the cluster to itself and no finding against it; and one more does not fit."""
    assert sum(held(tmp_path, seed) for seed in FEW) > 5


@pytest.mark.slow
def test_changes_that_verdicts_name_hold_in_many_repositories(tmp_path):
    """As above."""
    assert sum(held(tmp_path, seed) for seed in MANY) > 50


def witnesses(root, seed):
    """Hold what is said of all jobs together to what a cluster has; how many pods are placed."""
    drawn = Draw(seed)
    found = verdicts(repository(root / f"{seed}", drawn, drawn.jobs))
    pods = [
        {**pod, "job": item["job"]}
        for item in (document(verdict, {}) for verdict in found)
        for pod in item["machines"].get("together", {}).get("pods", ())
    ]
    nothing_twice(pods)
    within_quota(drawn, found)
    for item in found:
        if item.word.startswith("fits"):
            mine = [pod for pod in pods if pod["job"] == item.ask.name]
            sets = [one for answer in item.situations["together"] for one in answer["podSets"]]
            assert len(mine) == sum(one["count"] for one in sets), (seed, item.ask.name)
            assert in_place(drawn, drawn.jobs[item.ask.name], mine), (seed, item.ask.name)
    return len(pods)


def nothing_twice(pods):
    """No device and no CPU that is one container's alone is another's, too."""
    taken = set()
    for pod in pods:
        for container in pod["containers"]:
            mine = {(name, id_) for name, ids in container.get("devices", {}).items() for id_ in ids}
            mine |= {("cpu", member) for member in members(parse(container.get("cpus", "")))}
            here = {(pod["host"], *item) for item in mine}
            assert not here & taken, (pod, here & taken)
            taken |= here


def within_quota(drawn, found):
    """Queues of one cohort use no more GPUs than they have together, a queue of none no more than its own."""
    quota, used = Counter(), Counter()
    for name, queue in drawn.cluster["queues"].items():
        quota[queue.get("cohort", name)] += queue["nominalQuota"]["gpu"]["gpus"]
    for answer in (one for item in found for one in item.situations.get("together", ())):
        if answer["outcome"] == "admitted":
            name = answer["clusterQueue"]
            there = drawn.cluster["queues"][name].get("cohort", name)
            used[there] += sum(int(one["usage"].get("nvidia.com/gpu", 0)) for one in answer["podSets"])
    assert all(used[name] <= quota[name] for name in used), (quota, used)


def in_place(drawn, job, pods):
    """Whether pods are on nodes of their pool, and in one rack where the job requires that."""
    pool = drawn.cluster["pools"]["gpu"]
    hosts = [pod["host"] for pod in pods if pod["podSet"] != "replay"]
    racks = {int(host.rpartition("-")[2]) * pool["racks"] // pool["nodes"] for host in hosts}
    together = (job.get("topology") or {}).get("required") is None or len(racks) == 1
    return together and all(host.startswith(f"{job['pool']}-") for host in hosts)


def test_the_places_that_verdicts_name_are_free(tmp_path):
    """All pods that fit together have nodes, devices and CPUs of their own, and quota."""
    assert sum(witnesses(tmp_path, seed) for seed in FEW) > 15


@pytest.mark.slow
def test_the_places_that_verdicts_name_are_free_in_many_repositories(tmp_path):
    """As above."""
    assert sum(witnesses(tmp_path, seed) for seed in MANY) > 100
