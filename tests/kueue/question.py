"""What Kueue is asked about a cluster: its objects as rendered, the nodes that it declares, and each of its runs.

Only what Kueue reads is in it, and a run is called as its job, so that an answer holds until something of that changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trainyard.base.manifests import value_at
from trainyard.judge.admission.coming_nodes import with_nodes
from trainyard.judge.admission.inventory import CLAIM, channel, nodes
from trainyard.judge.checks.inputs import decode
from trainyard.render.operators.kueue import CONFIGURATION
from trainyard.specs import Cluster
from trainyard.specs.releases.facts import lookup
from trainyard.upstream.workloads import carrier_of

KUEUE = "kueue.x-k8s.io"
JOB = "trainyard.dev/job"
RUN = "trainyard.dev/run"

SYNCED = ("argocd", "operators/trainer", "platform", "teams", "runs")
"""Folders of a cluster's tree with what Kueue reads, and how it is configured."""

RUNTIMES = ("ClusterTrainingRuntime", "TrainingRuntime")
"""Kinds of objects that Kueue reads beside the job itself, and the templates of claims."""

POD_FIELDS = frozenset(
    {
        *("affinity", "containers", "initContainers", "nodeSelector", "overhead", "priorityClassName"),
        *("resourceClaims", "resources", "restartPolicy", "runtimeClassName", "schedulingGates", "tolerations"),
    }
)
"""Of a pod, what Kueue and the scheduler decide by."""

CONTAINER_FIELDS = frozenset({"image", "name", "resources", "restartPolicy"})

ENDS = frozenset(
    {"activeDeadlineSeconds", "backoffLimit", "failurePolicy", "network", "podFailurePolicy", "scheduling"}
)
"""Of a job, fields about its end, the names of its pods and their binding by kube-scheduler, which Kueue ignores."""

Object = dict[str, Any]


@dataclass(frozen=True)
class Question:
    """One cluster, and the objects of its runs by the names of their jobs, in the order of teams and names."""

    config: Object
    """Kueue's configuration."""
    objects: list[Object]
    """Queues, flavors, topologies and priorities; nodes and what runs on them; templates of claims."""
    jobs: dict[str, Object]

    def lines(self) -> list[str]:
        """Return the question as JSON, one thing a line."""
        parts = [{"config": self.config}, *({"object": item} for item in self.objects)]
        return [json.dumps(part, sort_keys=True) for part in (*parts, *({"job": job} for job in self.jobs.values()))]

    def case(self, *more: Object) -> Object:
        """Return the case in which these objects are there too."""
        return {"name": "generated", "config": self.config, "objects": [*self.objects, *more]}

    def of_runs(self, rendered: Iterable[Object]) -> Question:
        """Return the question about the runs among these objects, and no others."""
        beside, jobs = [], {}
        for value in rendered:
            labels = value["metadata"].get("labels") or {}
            if value["kind"] == "ComputeDomain":
                beside.append(channel(called_as_job(value, labels)))
            elif value["kind"] in RUNTIMES:
                beside.append(reduced(called_as_job(value, labels) if RUN in labels else value))
            elif (row := carrier_of(value)) is not None and row.trains and row.framework:
                jobs[labels[JOB]] = reduced(called_as_job(value, labels))
        others = (item for item in self.objects if item["kind"] not in (CLAIM, *RUNTIMES))
        return replace(self, objects=[*others, *beside], jobs=jobs)

    def of(self, kind: str) -> dict[str, Object]:
        """Return the objects of a kind by name."""
        return {item["metadata"]["name"]: item for item in self.objects if item["kind"] == kind}


def question(folder: Path, cluster: Cluster) -> Question:
    """Return what Kueue is asked about the tree of a cluster: the nodes that it asks for itself are there."""
    paths = (path for part in SYNCED for path in sorted((folder / part).glob("**/*.yaml")))
    rendered = [value for path in paths for value in manifests(folder, path)]
    configuration = next(text for value in rendered if (text := configured(value)))
    queueing = [bare(value) for value in rendered if value["apiVersion"].startswith(f"{KUEUE}/")]
    queueing = [dict(value) for value in with_nodes(queueing)]
    return Question(configuration, [*queueing, *nodes(cluster)], {}).of_runs(rendered)


def manifests(folder: Path, path: Path) -> list[Object]:
    """Return the objects of a file of the tree."""
    found, findings = decode(path.relative_to(folder).as_posix(), path.read_bytes())
    assert not findings, findings
    return [dict(item.value) for item in found]


def configured(value: Object) -> Object | None:
    """Return the configuration that an Application gives Kueue's chart, None of every other object."""
    values = value_at(value, ("spec", "source", "helm", "valuesObject")) or {}
    text = lookup(values, CONFIGURATION) if isinstance(values, Mapping) else None
    return dict(decode(CONFIGURATION, text.encode())[0][0].value) if isinstance(text, str) else None


def called_as_job(value: Object, labels: Mapping[str, str]) -> Object:
    """Return an object of a run with the name of its job in place of the run's, which ends in a digest."""
    return json.loads(json.dumps(value).replace(labels[RUN], labels[JOB]))


def bare(value: Object) -> Object:
    """Return an object without annotations, labels and status that Kueue does not read."""
    metadata = {name: item for name in ("name", "namespace") if (item := value["metadata"].get(name))}
    for field in ("labels", "annotations"):
        every = value["metadata"].get(field) or {}
        own = {key: entry for key, entry in every.items() if key.split("/")[0] == KUEUE}
        metadata |= {field: own} if own else {}
    return {**value, "metadata": metadata}


def reduced(job: Object) -> Object:
    """Return a job with what Kueue reads of it and of its pods."""
    kept = bare(job)
    for pods in carrier_of(job).pod_sets(kept):
        template = value_at(kept, pods.template)
        template["metadata"] = bare({"metadata": template.get("metadata", {})})["metadata"]
        template["spec"] = {name: value for name, value in template["spec"].items() if name in POD_FIELDS}
        for field in ("containers", "initContainers"):
            if field in template["spec"]:
                template["spec"][field] = [
                    {name: value for name, value in container.items() if name in CONTAINER_FIELDS}
                    for container in template["spec"][field]
                ]
    return without_ends(kept)


def without_ends(value: Any) -> Any:
    """Return a value without what says how a job ends, wherever it stands."""
    if isinstance(value, dict):
        return {name: without_ends(entry) for name, entry in value.items() if name not in ENDS}
    return [without_ends(item) for item in value] if isinstance(value, list) else value
