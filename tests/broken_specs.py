"""Broken specs: each case is one file of `specs/`, put into a small valid repository."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import make
from conftest import TESTS

HERE = TESTS / "specs"
JOB = "jobs/nlp/train.yaml"
CLUSTER = "platform/clusters/test.yaml"

TEAM = make.fields(
    make.TEAM,
    {
        "volumes": {
            **make.TEAM["volumes"],
            "local-data": {"storage": "local", "size": "1Gi"},
            "elsewhere": {"storage": "tape", "size": "1Gi"},
        },
        "priorities": ["low", "normal"],
        "waive": {"spec/nowhere": "a class of another site's clusters"},
    },
)
POOLS = {**make.CLUSTER["pools"], "spot": {"shape": "gke-a2-highgpu-8g", "nodes": 2, "spot": True}}
QUOTA = {**make.CLUSTER["queues"]["research"]["nominalQuota"], "spot": {"nodes": 2}}
QUEUES = {
    "research": {"teams": ["nlp"], "nominalQuota": QUOTA},
    "production": {"teams": ["ads"], "nominalQuota": {"gpu": {"nodes": 0}}},
}
WIDE = make.fields(make.CLUSTER, {"pools": POOLS, "queues": QUEUES})


@dataclass(frozen=True)
class Case:
    """A broken file: which, where it is put, and the rules that must speak of it."""

    file: str
    rules: str
    at: str = JOB


CASES = {
    "more GPUs than a node has": Case("nine-gpus", "gpus-per-node"),
    "GPUs of nodes without": Case("gpus-on-cpu-nodes", "gpus-per-node"),
    "fields that do not exist": Case("unknown-field", "unknown-field"),
    "a field in Python's spelling": Case("snake-case", "unknown-field"),
    "values of wrong types": Case("wrong-types", "type"),
    "a cluster that does not exist": Case("wrong-cluster", "unknown-cluster"),
    "names that the cluster does not have": Case(
        "unknown-names", "unknown-queue unknown-pool unknown-priority unknown-level"
    ),
    "required fields left out": Case("missing-fields", "missing-field"),
    "two ways to start": Case("program-and-module", "one-of"),
    "the launcher written by hand": Case("launcher-in-program", "program"),
    "an image by its tag": Case("image-by-tag", "form"),
    "an image from elsewhere": Case("foreign-registry", "image-registry"),
    "a team's network that cannot be": Case(
        "team-network", "choice one-of empty form unknown-field reserved-key", "platform/teams/nlp.yaml"
    ),
    "a secret's value in Git": Case("secret-value", "form"),
    "labels of controllers": Case("controller-labels", "reserved-key"),
    "quantities that are none": Case("bad-quantities", "quantity"),
    "what is wrong beside what is not there": Case("wrong-and-unknown", "form"),
    "numbers out of range": Case("out-of-range", "range"),
    "a pod larger than a node": Case("too-large", "cpus-per-node memory-per-node"),
    "more pods than the pool holds": Case("too-many-parts", "nodes"),
    "two topologies at once": Case("topology-both-ways", "one-of"),
    "RDMA where there is none": Case("no-fabric", "no-rdma"),
    "volumes of another team, class or cluster": Case("volumes", "unknown-volume volume-access volume-cluster"),
    "two mounts at one path": Case("mounts-collide", "mount-path"),
    "files where something else is mounted": Case("files-over-mounts", "mount-path"),
    "files from outside the folder": Case("files-outside", "path"),
    "a file that is not there": Case("file-missing", "missing-small-file"),
    "two files of one name": Case("files-equal", "mount-path"),
    "a file too large for a ConfigMap": Case("file-too-large", "file-size"),
    "a file that is no text": Case("file-not-text", "file-encoding"),
    "an upper bound of nodes without a lower one": Case("max-without-min", "min-nodes"),
    "an upper bound below the nodes": Case("max-below-nodes", "min-nodes"),
    "fields that contradict each other": Case("min-above-nodes", "min-nodes duplicate-variable gpu-part"),
    "spot nodes by accident": Case("spot-pool", "spot-pool"),
    "a retired job is left in peace": Case("retired-in-peace", ""),
    "a tab for indentation": Case("tab", "decode/*"),
    "reasons that say nothing": Case("blank-reasons", "empty"),
    "an empty file": Case("empty", "empty-file"),
    "a file of comments": Case("comments-only", "empty-file"),
    "a list": Case("list", "type"),
    "two jobs in one file": Case("two-documents", "several-documents"),
    "a key twice": Case("duplicate-key", "decode/*"),
    "a quote that never ends": Case("unclosed-quote", "decode/*"),
    "a YAML bomb": Case("bomb", "decode/*"),
    "an object of Python": Case("python-tag", "type"),
    "bytes that are not UTF-8": Case("not-utf-8", "decode/encoding"),
    "UTF-32": Case("utf-32", "decode/encoding"),
    "a file that is no job": Case("no-job", "not-a-job"),
    "quotas that fit no pool": Case("cluster-quota", "no-cohort no-quota unknown-pool quota unknown-team", CLUSTER),
    "amounts and choices of no known form": Case("cluster-form", "one-of form choice preemption duplicate", CLUSTER),
    "an inventory that contradicts itself": Case(
        "cluster-inventory", "unknown-shape pool-label topology blocks racks topology-level", CLUSTER
    ),
    "a shape that contradicts itself": Case(
        "cluster-shape",
        "numa-devices pci fabric-attach fabric-nics cohort-circle unknown-pool",
        CLUSTER,
    ),
    "a team": Case("team", "choice missing-field form type", "platform/teams/nlp.yaml"),
    "the repository's settings": Case("repository", "unknown-field type form", "platform/repository.yaml"),
    "an upper-case name": Case("nine-gpus", "job-name", "jobs/nlp/Train.yaml"),
    "a name of 31 characters": Case("nine-gpus", "job-name", f"jobs/nlp/{'a' * 31}.yaml"),
    "a name that ends in a dash": Case("nine-gpus", "job-name", "jobs/nlp/train-.yaml"),
    "another ending, beside the right one": Case("nine-gpus", "duplicate-job", "jobs/nlp/other.yml"),
    "another ending": Case("nine-gpus", "file-ending", "jobs/nlp/new.YAML"),
    "a job of no team": Case("nine-gpus", "unknown-team", "jobs/nlq/train.yaml"),
    "a job outside a team's folder": Case("nine-gpus", "folder", "jobs/train.yaml"),
    "a job in a subfolder": Case("nine-gpus", "folder", "jobs/nlp/try/train.yaml"),
    "a cluster in a subfolder": Case("team", "folder", "platform/clusters/eu/test.yaml"),
    "a cluster with an upper-case name": Case("team", "file-name", "platform/clusters/EU.yaml"),
    "a team named as a system namespace": Case("team", "team-name", "platform/teams/kube-system.yaml"),
    "a team named as the folder of programs": Case("team", "team-name", "platform/teams/programs.yaml"),
    "a Python job of a team that has none": Case("no-job", "python-off", "jobs/nlp/sweep.py"),
    "an object for no cluster": Case("no-job", "unknown-cluster", "platform/extra/tset/platform/x.yaml"),
    "an object for no team": Case("no-job", "unknown-team", "platform/extra/test/teams/nlq/x.yaml"),
    "objects of one's own that are none or there twice": Case(
        "own-objects", "extra-object extra-twice", "platform/extra/test/platform/x.yaml"
    ),
    "an object in no folder": Case("no-job", "folder", "platform/extra/test/x.yaml"),
}


def repository(root: Path) -> Path:
    """Write a valid repository with two jobs and some small files."""
    make.write_repository(
        root,
        clusters={"test": WIDE},
        teams={"nlp": TEAM, "ads": make.TEAM},
        jobs={"nlp/train": make.JOB, "nlp/other": make.JOB},
    )
    folder = root / "jobs" / "nlp"
    (folder / "other").mkdir()
    for name in ("config.yaml", "other/config.yaml"):
        (folder / name).write_text("layers: 32\n", encoding="utf-8")
    (folder / "weights.bin").write_bytes(b"0" * (2**20 + 1))
    (folder / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\xff")
    return root


def put(case: Case, root: Path) -> None:
    """Put a case's file into a repository; of the small files, the one that jobs may name is taken away."""
    if case.file != "files-equal":
        (root / "jobs/nlp/config.yaml").unlink()
    path = root / case.at
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((HERE / f"{case.file}.yaml").read_bytes())
