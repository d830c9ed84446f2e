"""The Workloads of the jobs of a case, in the words of the program that answers for Kueue."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from kueue.question import Object
from trainyard.upstream.kueue.model.amounts import clamp_amount, text_of
from trainyard.upstream.kueue.model.placements import Surroundings
from trainyard.upstream.kueue.replay import objects
from trainyard.upstream.kueue.replay.case import read
from trainyard.upstream.kueue.requests import adjusted_specs, count_requests, pod_amounts, refusal
from trainyard.upstream.kueue.requests.jobs import NotMade, every


def surroundings(case: Object) -> Surroundings:
    """Return what changes the requests of pods; devices are not looked at before a Workload is there."""
    return replace(objects.surroundings(read(case)), device_classes={}, claim_templates={})


def answer(case: Object) -> Object:
    """Return what the program answers about jobs: their Workloads, or why there are none."""
    around = surroundings(case)
    jobs: Object = {}
    for key, made in every(case["objects"], around.gates):
        if isinstance(made, NotMade):
            jobs[key] = {"error": str(made)}
        elif made:
            jobs[key] = {"workloads": [described(item, around) for item in made]}
        else:
            jobs[key] = {"skipped": True} if key.startswith("RayJob") else {}
    return {"name": case.get("name", ""), "jobs": jobs}


def described(value: Object, around: Surroundings) -> Object:
    """Return one Workload as the program writes it."""
    made = read({"objects": [value], "config": {"featureGates": dict(around.gates)}})
    workload = objects.workload(next(made.objects()), made)
    specs = adjusted_specs(workload, around)
    found: Object = {"name": value["metadata"]["name"], "priority": value["spec"]["priority"]}
    for name in ("queueName", "priorityClassRef"):
        if name in value["spec"]:
            found[name] = value["spec"][name]
    why = refusal(workload, specs, around)
    if why:
        found["inadmissible"] = why
    found["podSets"] = []
    totals = count_requests(workload, specs, around)
    for raw, pods, spec, total in zip(value["spec"]["podSets"], workload.pod_sets, specs, totals, strict=True):
        item: Object = {name: raw[name] for name in ("name", "count", "minCount", "topologyRequest") if name in raw}
        amounts = {
            "pod": pod_amounts(spec),
            "total": {name: clamp_amount(pods.count * it) for name, it in total.items()},
        }
        item |= {name: texts(found) for name, found in amounts.items() if found}
        if spec.get("nodeSelector"):
            item["nodeSelector"] = spec["nodeSelector"]
        if spec.get("tolerations"):
            item["tolerations"] = spec["tolerations"]
        affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
        if affinity.get("requiredDuringSchedulingIgnoredDuringExecution"):
            item["requiredNodeAffinity"] = affinity["requiredDuringSchedulingIgnoredDuringExecution"]
        found["podSets"].append(item)
    return found


def texts(amounts: Mapping[str, int]) -> dict[str, str]:
    """Return amounts as Kueue writes them."""
    return {name: text_of(name, amount) for name, amount in amounts.items()}


def plain(found: Object) -> Object:
    """Return an answer by job as JSON writes it; a Workload without pod sets has an empty list, as some answers do."""
    jobs = json.loads(json.dumps(found.get("jobs") or {}))
    for job in jobs.values():
        for workload in job.get("workloads", ()):
            workload["podSets"] = workload["podSets"] or []
    if "error" in found:
        raise AssertionError(found["error"])
    return {name: spelled(job) for name, job in jobs.items()}


def spelled(job: Object) -> Object:
    """Return an answer about one job, with the plural of priority classes as servers spell it."""
    return {"error": job["error"].replace("priorityclasss.", "priorityclasses.")} if "error" in job else job
