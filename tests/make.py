"""Builders of specs that are valid by default, so that a test shows only what matters."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainyard.base.documents import dump, load
from trainyard.render.kinds import Resolved, resolve
from trainyard.render.sizing import Sizing
from trainyard.specs import Cluster, Job, Pool, Repository, Team
from trainyard.specs.run import Run, digest
from trainyard.specs.sources import JobFile, Source, Specs

IMAGE = "registry.example.com/test/train@sha256:" + "4f0c7e2ab95d8136" * 4

CPU_NODE: dict[str, Any] = {
    "cpus": 16,
    "memory": "64Gi",
    "ephemeralStorage": "200Gi",
    "numa": [{"cpus": "0-15", "memory": "64Gi"}],
    "reserved": {"cpus": 1, "memory": "4Gi"},
    "daemons": {"cpus": 1, "memory": "4Gi"},
    "sources": {"all": "made up for a test"},
}

JOB: dict[str, Any] = {
    "cluster": "test",
    "launcher": "torchrun",
    "image": IMAGE,
    "program": "train.py",
    "pool": "gpu",
    "nodes": 2,
    "gpusPerNode": 8,
    "queue": "research",
    "priority": "normal",
}

CLUSTER: dict[str, Any] = {
    "kubernetes": "1.35",
    "argocd": {"version": "3.5.1", "destination": {"name": "test"}},
    "topology": [{"rack": "example.com/rack"}],
    "pools": {"gpu": {"shape": "dgx-h100", "nodes": 4, "racks": 2}, "cpu": {"shape": CPU_NODE, "nodes": 4}},
    "storage": {
        "shared": {"provisioner": "nfs.csi.k8s.io", "parameters": {"server": "nfs.example.com", "share": "/export"}},
        "local": {"provisioner": "rancher.io/local-path", "access": "ReadWriteOnce", "existing": True},
    },
    "drivers": {"nfs.csi.k8s.io": "by the test"},
    "operators": {
        "kueue": {"version": "0.19.2"},
        "jobset": {"version": "0.12.0"},
        "gpu-operator": {"version": "26.7.0", "managed": False},
    },
    "priorities": {"low": 0, "normal": 100, "high": 1000},
    "queues": {"research": {"teams": ["nlp"], "nominalQuota": {"gpu": {"gpus": 32}, "cpu": {"nodes": 4}}}},
    "fabric": {"type": "none"},
}

UNLISTED: dict[str, Any] = {"version": "0.19.3", "unlisted": {"like": "0.19.2", "reason": "the same API types"}}
"""A Kueue that is not known, and stands for a warning on a cluster."""

TEAM: dict[str, Any] = {
    "group": "nlp-people",
    "volumes": {"checkpoints": {"storage": "shared", "size": "1Ti"}},
    "secrets": ["tokens"],
}

REPOSITORY: dict[str, Any] = {
    "live": True,
    "repoURL": "https://git.example.com/platform/training.git",
    "registries": ["registry.example.com"],
    "labels": ["example.com"],
    "unsavedGpuHours": 1_000_000,  # jobs of tests save nothing unless a test is about that
}


def fields(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the base with the changes, by the names in YAML; None takes a field away."""
    merged = {**base, **{camel(name): value for name, value in changes.items()}}
    return {name: value for name, value in merged.items() if value is not None}


def camel(name: str) -> str:
    """`gpus_per_node` -> `gpusPerNode`."""
    head, *rest = name.split("_")
    return head + "".join("URL" if part == "url" else part.capitalize() for part in rest)


def make_job(**changes: Any) -> Job:
    """Return a job of two whole nodes; keywords are fields in snake_case, None takes one away."""
    return Job.model_validate(fields(JOB, changes))


def make_cluster(**changes: Any) -> Cluster:
    """Return a cluster with the pools `gpu` and `cpu`, and the queue `research` for the team `nlp`."""
    return Cluster.model_validate(fields(CLUSTER, changes))


def make_pool(*, gpus: int | None = None, **changes: Any) -> Pool:
    """Return the GPU pool, or with `gpus` one whose nodes have that many."""
    base: dict[str, Any] = {"shape": "dgx-h100", "nodes": 4}
    if gpus is not None:
        card = {"count": gpus, "vendor": "nvidia", "product": "TEST", "memory": "80Gi"} if gpus else None
        base["shape"] = fields(CPU_NODE, {"gpus": card})
    return Pool.model_validate(fields(base, changes))


def make_team(**changes: Any) -> Team:
    """Return a team with one shared volume, `checkpoints`, and one secret, `tokens`."""
    return Team.model_validate(fields(TEAM, changes))


def make_repository(**changes: Any) -> Repository:
    """Return the repository's own settings."""
    return Repository.model_validate(fields(REPOSITORY, changes))


def make_source(file: str, value: Mapping[str, Any]) -> Source:
    """Return the source of a spec as if it were read from a file."""
    documents, _ = load(dump(value).encode(), file=file)
    return Source(file, documents[0])


def make_job_file(
    name: str = "train", *, team: str = "nlp", contents: Mapping[str, str] | None = None, **changes: Any
) -> JobFile:
    """Return a job as loaded; `contents` are the texts of its files."""
    value = fields(JOB, changes)
    source = make_source(f"jobs/{team}/{name}.yaml", value)
    return JobFile(team, name, Job.model_validate(value), source, contents or {})


def make_specs(
    *jobs: JobFile,
    clusters: Mapping[str, Cluster] | None = None,
    teams: Mapping[str, Team] | None = None,
    repository: Repository | None = None,
) -> Specs:
    """Return the specs of a repository with the cluster `test`, the team `nlp` and the jobs; by default one job."""
    clusters = clusters or {"test": make_cluster()}
    teams = teams or {"nlp": make_team()}
    sources = {
        "repository": make_source("platform/repository.yaml", REPOSITORY),
        **{f"cluster/{name}": make_source(f"platform/clusters/{name}.yaml", CLUSTER) for name in clusters},
        **{f"team/{name}": make_source(f"platform/teams/{name}.yaml", TEAM) for name in teams},
    }
    return Specs(repository or make_repository(), clusters, teams, jobs or (make_job_file(),), sources=sources)


def make_run(
    name: str = "train",
    *,
    kind: str = "JobSet",
    cluster: Cluster | None = None,
    team: Team | None = None,
    contents: Mapping[str, str] | None = None,
    **changes: Any,
) -> Run:
    """Return a run of a job on the cluster `test` for the team `nlp`; keywords are fields of the job."""
    file = make_job_file(name, contents=contents, **changes)
    return Run(
        job_name=name,
        job=file.job,
        team_name="nlp",
        team=team or make_team(),
        cluster_name="test",
        cluster=cluster or make_cluster(),
        kind=kind,
        digest=digest(file.job, file.contents),
        source=file.source,
        contents=file.contents,
    )


def make_resolved(name: str = "train", **changes: Any) -> Resolved:
    """Return a run with everything that follows from it, unchecked; keywords are those of `make_run`."""
    return resolve(make_run(name, **changes))


def make_sizing(**changes: Any) -> Sizing:
    """Return what the pods of a run ask for; keywords are those of `make_run`."""
    return make_resolved(**changes).sizing


def write_repository(
    root: Path,
    *,
    jobs: Mapping[str, Mapping[str, Any]] | None = None,
    clusters: Mapping[str, Mapping[str, Any]] | None = None,
    teams: Mapping[str, Mapping[str, Any]] | None = None,
    repository: Mapping[str, Any] | None = None,
) -> Path:
    """Write a small valid repository: values by name, a job's name as `team/job`; return its root."""
    files = {"platform/repository.yaml": repository or REPOSITORY}
    files |= {f"platform/clusters/{name}.yaml": value for name, value in (clusters or {"test": CLUSTER}).items()}
    files |= {f"platform/teams/{name}.yaml": value for name, value in (teams or {"nlp": TEAM}).items()}
    files |= {f"jobs/{name}.yaml": value for name, value in ({"nlp/train": JOB} if jobs is None else jobs).items()}
    for name, value in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dump(value), encoding="utf-8")
    return root


def make_crd(properties: Mapping[str, Any] | None = None, **version: Any) -> dict[str, Any]:
    """A CRD of kind Probe with these fields below spec; more of its one version by keyword."""
    spec = {"type": "object", "properties": dict(properties or {})}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "probes.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Probe", "plural": "probes", "singular": "probe", "listKind": "ProbeList"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema, **version}],
        },
    }
