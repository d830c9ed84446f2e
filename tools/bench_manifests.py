"""Writes manifests of jobs and services for benchmarks: no two alike, 8 kB each, the same on every call."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from trainyard.base.documents import dump

Object = dict[str, Any]

WORDS = ("adam", "batch", "cache", "data", "epoch", "flash", "gate", "head", "index", "joint", "kernel", "layer")
DATASETS = 7
"""Different data sets; seeds, steps, ports and names differ in every object."""


def write_file(path: Path, *, objects: int, seed: int = 0) -> None:
    """Write one file with that many documents."""
    path.write_text("---\n".join(dump(document) for document in generate(objects, seed)), encoding="utf-8")


def write_tree(root: Path, *, objects: int, per_file: int = 20) -> None:
    """Write a tree of files with that many documents in all, fifty files a folder."""
    for number in range(0, objects, per_file):
        folder = root / f"group-{number // per_file // 50:03}"
        folder.mkdir(parents=True, exist_ok=True)
        write_file(folder / f"jobs-{number:06}.yaml", objects=min(per_file, objects - number), seed=number + 1)


def generate(objects: int, seed: int) -> Iterator[Object]:
    """Yield that many objects, the kinds in turn."""
    chance = random.Random(seed)
    for number in range(objects):
        name = f"{chance.choice(WORDS)}-{chance.choice(WORDS)}-{seed:x}-{number:04}"
        build = KINDS[number % len(KINDS)]
        yield build(name, chance)


def job(name: str, chance: random.Random) -> Object:
    """Return an Indexed Job."""
    count = chance.choice((1, 2, 4, 8))
    spec = {
        "completionMode": "Indexed",
        "completions": count,
        "parallelism": count,
        "backoffLimit": chance.randrange(10),
        "ttlSecondsAfterFinished": chance.randrange(86400),
        "template": pod(name, chance, restart="Never"),
    }
    return typed("batch/v1", "Job", name, chance, spec)


def cronjob(name: str, chance: random.Random) -> Object:
    """Return a CronJob that evaluates a model every day."""
    spec = {
        "schedule": f"{chance.randrange(60)} {chance.randrange(24)} * * *",
        "concurrencyPolicy": "Forbid",
        "jobTemplate": {"spec": {"template": pod(name, chance, restart="OnFailure")}},
    }
    return typed("batch/v1", "CronJob", name, chance, spec)


def deployment(name: str, chance: random.Random) -> Object:
    """Return a Deployment that serves a model."""
    spec = {
        "replicas": chance.randrange(1, 9),
        "selector": {"matchLabels": {"app": name}},
        "template": pod(name, chance, restart="Always"),
    }
    return typed("apps/v1", "Deployment", name, chance, spec)


def statefulset(name: str, chance: random.Random) -> Object:
    """Return a StatefulSet with a volume for each of its pods."""
    claim = {
        "metadata": {"name": "state"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}},
    }
    return typed("apps/v1", "StatefulSet", name, chance, {
        "serviceName": name,
        "replicas": chance.randrange(1, 5),
        "selector": {"matchLabels": {"app": name}},
        "template": pod(name, chance, restart="Always"),
        "volumeClaimTemplates": [claim],
    })  # fmt: skip


def jobset(name: str, chance: random.Random) -> Object:
    """Return a JobSet of one replicated Job."""
    count = chance.choice((2, 4, 8, 16))
    template = pod(name, chance, restart="Never")
    inner = {"completionMode": "Indexed", "completions": count, "parallelism": count, "template": template}
    spec = {
        "failurePolicy": {"maxRestarts": chance.randrange(5)},
        "network": {"enableDNSHostnames": True, "subdomain": name},
        "replicatedJobs": [{"name": "node", "replicas": 1, "template": {"spec": inner}}],
    }
    return typed("jobset.x-k8s.io/v1alpha2", "JobSet", name, chance, spec)


def pytorchjob(name: str, chance: random.Random) -> Object:
    """Return a PyTorchJob of the training operator."""
    worker = {
        "replicas": chance.randrange(1, 9),
        "restartPolicy": "OnFailure",
        "template": pod(name, chance, restart=None, main="pytorch"),
    }
    spec = {"runPolicy": {"cleanPodPolicy": "None"}, "pytorchReplicaSpecs": {"Worker": worker}}
    return typed("kubeflow.org/v1", "PyTorchJob", name, chance, spec)


def rayjob(name: str, chance: random.Random) -> Object:
    """Return a RayJob of a head and one group of workers."""
    workers = {
        "groupName": "gpu",
        "replicas": chance.randrange(1, 9),
        "minReplicas": 1,
        "maxReplicas": 9,
        "rayStartParams": {"num-gpus": "8"},
        "template": pod(name, chance, restart=None, variables=8),
    }
    head = {"rayStartParams": {"dashboard-host": "0.0.0.0"}, "template": pod(name, chance, restart=None, variables=8)}
    cluster = {"rayVersion": "2.52.0", "headGroupSpec": head, "workerGroupSpecs": [workers]}
    spec = {"entrypoint": f"python -m train.{name}", "shutdownAfterJobFinishes": True, "rayClusterSpec": cluster}
    return typed("ray.io/v1", "RayJob", name, chance, spec)


KINDS: tuple[Callable[[str, random.Random], Object], ...] = (
    job, jobset, pytorchjob, deployment, rayjob, job, jobset, cronjob, pytorchjob, statefulset,
)  # fmt: skip
CUSTOM = ("JobSet", "PyTorchJob", "RayJob")
"""Kinds among them that operators bring."""


def typed(api_version: str, kind: str, name: str, chance: random.Random, spec: Object) -> Object:
    """Return an object with its metadata."""
    labels = {"app": name, "team": chance.choice(WORDS), "kueue.x-k8s.io/queue-name": f"{chance.choice(WORDS)}-queue"}
    ticket = f"ML-{chance.randrange(9999)}"
    notes = {"example.com/commit": f"{chance.getrandbits(160):040x}", "example.com/ticket": ticket}
    metadata = {"name": name, "namespace": f"team-{chance.choice(WORDS)}", "labels": labels, "annotations": notes}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def pod(name: str, chance: random.Random, *, restart: str | None, main: str = "main", variables: int = 31) -> Object:
    """Return a pod template: what a trainer, its preparation, and a sidecar that reports take."""
    spec: Object = {
        "serviceAccountName": "trainer",
        "terminationGracePeriodSeconds": chance.randrange(30, 600),
        "nodeSelector": {"example.com/pool": chance.choice(("a100", "h100", "b200"))},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "affinity": affinity(name, chance),
        "topologySpreadConstraints": [spread(name)],
        "securityContext": {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
        "initContainers": [prepare(name, chance)],
        "containers": [trainer(name, chance, main, variables), reporter(name, chance)],
        "volumes": volumes(name, chance),
    }
    if restart:
        spec["restartPolicy"] = restart
    return {"metadata": {"labels": {"app": name}, "annotations": {"example.com/run": name}}, "spec": spec}


def affinity(name: str, chance: random.Random) -> Object:
    """Return terms for a zone, and against neighbours of one's own."""
    zone = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [f"eu-{chance.randrange(9)}", "eu-x"]}
    apart = {"labelSelector": {"matchLabels": {"app": name}}, "topologyKey": "kubernetes.io/hostname"}
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}
        },
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10, "podAffinityTerm": apart}]
        },
    }


def spread(name: str) -> Object:
    """Return a constraint that spreads the pods over nodes."""
    return {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": name}},
    }


def prepare(name: str, chance: random.Random) -> Object:
    """Return the container that fetches data."""
    return {
        "name": "prepare",
        "image": f"registry.example.com/tools/fetch@sha256:{chance.getrandbits(256):064x}",
        "command": ["fetch", "--from", f"s3://data/{name}", "--to", "/data", "--parts", str(chance.randrange(99))],
        "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }


def trainer(name: str, chance: random.Random, main: str, variables: int) -> Object:
    """Return the container that trains or serves."""
    size = {"cpu": f"{chance.randrange(8, 96)}", "memory": f"{chance.randrange(64, 900)}Gi", "nvidia.com/gpu": 8}
    port = chance.randrange(20000, 30000)
    return {
        "name": main,
        "image": f"registry.example.com/{chance.choice(WORDS)}/train@sha256:{chance.getrandbits(256):064x}",
        "command": [
            "torchrun",
            f"--nnodes={chance.choice((1, 2, 4, 8))}",
            f"--master-port={port}",
            "-m",
            f"train.{chance.choice(WORDS)}",
        ],
        "args": [f"--{word}={chance.random():.6f}" for word in WORDS],
        "env": [*environment(name, chance, variables), *references(name)],
        "ports": [{"name": "rendezvous", "containerPort": port}, {"name": "metrics", "containerPort": 9100}],
        "resources": {"requests": dict(size), "limits": dict(size)},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "metrics"}, "periodSeconds": chance.randrange(5, 60)},
        "livenessProbe": {"tcpSocket": {"port": port}, "failureThreshold": chance.randrange(3, 9)},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [
            {"name": "data", "mountPath": "/data", "readOnly": True},
            {"name": "checkpoints", "mountPath": "/checkpoints", "subPath": name},
            {"name": "config", "mountPath": "/etc/train"},
            {"name": "shm", "mountPath": "/dev/shm"},
        ],
    }


def environment(name: str, chance: random.Random, variables: int) -> Iterator[Object]:
    """Yield variables of plain text."""
    yield {"name": "RUN_NAME", "value": name}
    yield {"name": "DATASET", "value": f"/data/set-{chance.randrange(DATASETS)}"}
    for number in range(variables):
        word = WORDS[number % len(WORDS)].upper()
        yield {"name": f"{word}_{number}", "value": f"{chance.choice(WORDS)}/{chance.randrange(10**6)}"}


def references(name: str) -> list[Object]:
    """Return variables that come from elsewhere."""
    return [
        {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "MEMORY", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}}},
        {"name": "API_KEY", "valueFrom": {"secretKeyRef": {"name": f"{name}-wandb", "key": "api-key"}}},
    ]


def reporter(name: str, chance: random.Random) -> Object:
    """Return the container that sends numbers away."""
    return {
        "name": "reporter",
        "image": f"registry.example.com/tools/report@sha256:{chance.getrandbits(256):064x}",
        "args": ["--run", name, "--every", f"{chance.randrange(10, 99)}s"],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
    }


def volumes(name: str, chance: random.Random) -> list[Object]:
    """Return the volumes that the containers mount."""
    return [
        {"name": "data", "persistentVolumeClaim": {"claimName": f"data-{chance.randrange(DATASETS)}"}},
        {"name": "checkpoints", "persistentVolumeClaim": {"claimName": "checkpoints"}},
        {"name": "config", "configMap": {"name": f"{name}-config", "items": [{"key": "a.yaml", "path": "a.yaml"}]}},
        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": f"{chance.randrange(8, 64)}Gi"}},
    ]
