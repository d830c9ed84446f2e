"""A field of a rendered object is traced to the field of the spec that it follows from, by changing each."""

from __future__ import annotations

from typing import Any

import pytest

from make import CLUSTER, JOB, fields, make_source, make_specs
from trainyard.base.findings import Path, parse_path
from trainyard.base.manifests import Identity
from trainyard.judge.checks.origins import Origins
from trainyard.judge.preflight.traced import Origin, in_words, trace
from trainyard.render import clusters
from trainyard.specs import Cluster, Job
from trainyard.specs.sources import JobFile, Specs

SAVES = {"volume": "checkpoints", "mountPath": "/ckpt", "everyMinutes": 30, "size": "105Gi"}


def specs_with(job: dict[str, Any], cluster: dict[str, Any]) -> Specs:
    """Return the specs of one job on one cluster."""
    source = make_source("jobs/nlp/train.yaml", job)
    specs = make_specs(
        JobFile("nlp", "train", Job.model_validate(job), source), clusters={"test": Cluster.model_validate(cluster)}
    )
    return Specs(
        specs.repository,
        specs.clusters,
        specs.teams,
        specs.jobs,
        sources={**specs.sources, "cluster/test": make_source("platform/clusters/test.yaml", cluster)},
    )


def of_job(field: str, **changes: Any) -> Origin | None:
    """Return the field of a job that a field of its JobSet follows from."""
    specs = specs_with(fields(JOB, {"kind": "JobSet", **changes}), CLUSTER)
    origins = Origins(specs)
    (job,) = specs.jobs
    spec = origins.of_job(job, f"test/runs/nlp/{run_name(specs)}")
    assert spec is not None
    (identity,) = (one for one in spec.render(job.job) if one.kind == "JobSet")
    return trace(spec, identity, parse_path(field))


def run_name(specs: Specs) -> str:
    """Return the name of the job's run."""
    from trainyard.judge.preflight.jobs import run_of

    run = run_of(specs, specs.jobs[0])
    assert run is not None
    return run.name


POD = "spec.replicatedJobs[0].template.spec.template.spec"
FIELDS: dict[str, tuple[str, dict[str, Any], Path, bool]] = {
    "seconds as they are written": (
        f"{POD}.terminationGracePeriodSeconds", {"grace_seconds": 45}, ("graceSeconds",), True
    ),
    "seconds that nobody wrote": (f"{POD}.terminationGracePeriodSeconds", {}, ("graceSeconds",), True),
    "seconds that follow from a size": (
        f"{POD}.terminationGracePeriodSeconds", {"checkpoint": SAVES}, ("checkpoint", "size"), False
    ),
    "hours as seconds": (
        "spec.replicatedJobs[0].template.spec.activeDeadlineSeconds", {"max_hours": 12}, ("maxHours",), False
    ),
    "restarts": ("spec.failurePolicy.maxRestarts", {"restarts": 4}, ("restarts",), True),
    "an image": (f"{POD}.containers[0].image", {}, ("image",), True),
    "an amount": (
        f'{POD}.containers[0].resources.requests["ephemeral-storage"]', {"scratch": "50Gi"}, ("scratch",), False
    ),
    "the number of pods": ("spec.replicatedJobs[0].template.spec.parallelism", {}, ("nodes",), True),
    "a queue": ('metadata.labels["kueue.x-k8s.io/queue-name"]', {}, ("queue",), True),
}  # fmt: skip


@pytest.mark.parametrize(("field", "changes", "path", "same"), FIELDS.values(), ids=FIELDS)
def test_a_field_of_an_object_leads_to_the_job(field: str, changes: dict[str, Any], path: Path, same: bool) -> None:
    """To the field whose change changes it, set or not; and whether that is the value as it is written is known."""
    assert of_job(field, **changes) == Origin(path, same)


def of_cluster(folder: str, kind: str, field: str, near: Path = (), **changes: Any) -> Origin | None:
    """Return the field of a cluster that a field of one of its objects follows from."""
    specs = specs_with(JOB, fields(CLUSTER, changes))
    spec = Origins(specs).of_cluster("test", folder)
    assert spec is not None
    found = dict(clusters.parts(specs, "test", ()))[folder]
    identity: Identity = next(one.identity for one in found if one.kind == kind)
    return trace(spec, identity, parse_path(field), near)


def test_a_label_of_a_topology_leads_to_its_level() -> None:
    """Not to the topology as a whole, from which the object comes."""
    origin = of_cluster("platform", "Topology", "spec.levels[0].nodeLabel", ("topology",))
    assert origin == Origin(("topology", 0, "rack"), same=True)


def test_an_amount_of_a_queue_leads_to_its_quota() -> None:
    """Whatever the objects make of the amount."""
    field = "spec.resourceGroups[0].flavors[0].resources[2].nominalQuota"
    origin = of_cluster("platform", "ClusterQueue", field, ("queues", "research"))
    assert origin is not None
    assert origin.path[:3] == ("queues", "research", "nominalQuota")


def test_what_follows_from_no_field_has_no_origin() -> None:
    """A constant of ours is nobody's mistake."""
    assert of_job("spec.replicatedJobs[0].template.spec.backoffLimit") is None
    assert of_job("spec.nowhere") is None


WORDS = {
    "a value as it is written": (Origin(("graceSeconds",), True), "graceSeconds is 30, but must be 10"),
    "a value that was computed": (Origin(("maxHours",), False), "maxHours makes lateSeconds 30, but must be 10"),
}


@pytest.mark.parametrize(("origin", "said"), WORDS.values(), ids=WORDS)
def test_a_message_names_the_field_of_the_spec(origin: Origin, said: str) -> None:
    """In place of the object's, which nobody wrote."""
    assert in_words("lateSeconds is 30, but must be 10", "spec.lateSeconds", origin) == said


def test_a_message_about_something_else_stays() -> None:
    """Only what begins with the field's name is about it."""
    said = "2 containers are too many"
    assert in_words(said, "spec.containers", Origin(("image",), True)) == said
