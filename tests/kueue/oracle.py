"""A program that answers for Kueue, with its own scheduler: cases in, decisions out."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

from kueue.question import Object, Question
from trainyard.upstream.workloads import pod_sets_of

SECONDS = 240
"""What a program may take for the cases of a cluster."""


def kueue(what: str) -> str:
    """Return the program that answers for Kueue; without it, skip what the test asks it about, loudly."""
    program = os.environ.get("TRAINYARD_KUEUE_ORACLE")
    if not program:
        pytest.skip(f"{what}: set TRAINYARD_KUEUE_ORACLE to a program that answers for it")
    return program


def asked(program: str, command: str, cases: list[Object], *options: str, faults: bool = False) -> list[Object]:
    """Return the program's answers; with `faults` cases on which Kueue crashes may be among them."""
    text = "".join(json.dumps(case) + "\n" for case in cases)
    done = subprocess.run(
        [program, command, *options], input=text, capture_output=True, text=True, timeout=SECONDS, check=True
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(cases), done.stderr
    for answer in found:
        assert faults or "error" not in answer, answer["error"]
    return found


def survived(program: str, command: str, cases: list[Object], *options: str) -> list[Object]:
    """Return the program's answers to cases of which it may not survive some: these have a crash for an answer."""
    try:
        return asked(program, command, cases, *options, faults=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        if len(cases) == 1:
            return [{"name": cases[0].get("name", ""), "error": f"panic: {error}"}]
    half = len(cases) // 2
    return [one for part in (cases[:half], cases[half:]) for one in survived(program, command, part, *options)]


def answers(program: str, question: Question) -> dict[str, Any]:
    """Return Kueue's answer to each run on the empty cluster, by job, and to all of them in order.

    Beside it stands the Workload's pod sets, as Kueue makes them of the rendered object.
    """
    (made,) = asked(program, "podsets", [question.case(*question.jobs.values())])
    sets = {name: pod_sets(made["jobs"], job) for name, job in question.jobs.items()}
    workloads = {name: workload(job, sets[name], question.objects) for name, job in question.jobs.items()}
    *alone, together = asked(
        program,
        "schedule",
        [*(question.case(one_workload) for one_workload in workloads.values()), question.case(*workloads.values())],
    )
    return {
        "alone": {
            name: {"podSets": sets[name]["podSets"], **decided(answer, workloads[name])}
            for name, answer in zip(workloads, alone, strict=True)
        },
        "together": {name: decided(together, one_workload) for name, one_workload in workloads.items()},
        "queues": {name: cluster_queue["active"] for name, cluster_queue in together["clusterQueues"].items()},
    }


def pod_sets(made: Object, job: Object) -> Object:
    """Return the one Workload that Kueue makes of a job."""
    metadata = job["metadata"]
    found = made[f"{job['kind']} {metadata['namespace']}/{metadata['name']}"]
    assert "error" not in found, found
    (workload,) = found["workloads"]
    assert "inadmissible" not in workload, workload
    return workload


def workload(job: Object, made: Object, others: list[Object]) -> Object:
    """Return the Workload of a job: what Kueue makes of it, with the pods' own templates."""
    templates = {item.name: template for item, template in pod_sets_of(job, others)}
    sets = []
    for pod_set in made["podSets"]:
        template = templates[pod_set["name"]]
        kept = {name: pod_set[name] for name in ("name", "count", "minCount", "topologyRequest") if name in pod_set}
        sets.append({**kept, "template": template})
    metadata = job["metadata"]
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "spec": {"queueName": made["queueName"], "priority": made["priority"], "podSets": sets},
    }


def decided(answer: Object, workload: Object) -> Object:
    """Return what became of a workload: outcome, and flavors and places, or why it waits."""
    assert not answer.get("invalid"), answer["invalid"]
    assert not answer.get("faults"), answer["faults"]
    assert not answer.get("unsettled"), "Kueue does not come to rest"
    metadata = workload["metadata"]
    found = answer["workloads"][f"{metadata['namespace']}/{metadata['name']}"]
    kept = {name: found[name] for name in ("outcome", "reason", "message", "evictions") if name in found}
    placed = [
        {name: pod_set[name] for name in ("name", "count", "flavors", "usage", "topology") if name in pod_set}
        for pod_set in found.get("podSets", [])
    ]
    return {**kept, "assigned": placed} if placed else kept


def same(left: Any, right: Any) -> bool:
    """Whether two answers say the same; what is empty may be left out."""
    return bare(left) == bare(right)


def bare(value: Any) -> Any:
    """Return a value without fields that say nothing.

    Kueue names a random pod set of a group that finds no place; messages that differ in that alone are one.
    """
    if isinstance(value, dict):
        if len(value.get("messages") or ()) == 1:
            value = {**value, "message": value["messages"][0], "messages": None}
        return {name: bare(entry) for name, entry in value.items() if entry not in (None, "", [], {})}
    return [bare(item) for item in value] if isinstance(value, list) else value
