"""The ClusterTrainingRuntimes that Trainer brings, as its manifests write them; the facts are in `brought.yaml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from trainyard.base.documents import load
from trainyard.base.errors import SpecError
from trainyard.upstream.workloads.base import Object
from trainyard.upstream.workloads.runtimes import CLUSTER_WIDE, INITIALIZERS, NODE, STEP, STORAGE, TRAINER, TRAINS

NEWEST = "2.3.0"
"""The release whose runtimes stand for those of a cluster that nobody describes."""

KEYS = "/home/mpiuser/.ssh"
PORT = 2222
DATA = "hf://tatsu-lab/alpaca"
SHARED = ({"mountPath": "/workspace", "name": "initializer"},)


@cache
def facts() -> Mapping[str, Any]:
    """Return the facts by release and by runtime; raises SpecError where they cannot be read."""
    content = (resources.files(__package__) / "brought.yaml").read_bytes()
    documents, findings = load(content, file="brought.yaml")
    if findings:
        raise SpecError(f"brought.yaml cannot be read: {findings[0].message}")
    found: Mapping[str, Any] = documents[0].value
    return found


def switches() -> dict[str, str]:
    """Return by name the value of Trainer's chart that switches a runtime on, below `runtimes`."""
    return {name: f"{said['switch']}.enabled" for name, said in facts()["runtimes"].items()}


def brought(release: str = NEWEST, images: Mapping[str, str] | None = None) -> dict[str, Object]:
    """Return the runtimes of a release by name, with images by what runs in them; without these they have none."""
    last = release not in facts()["launcherFirst"]
    return {name: runtime(name, said, images or {}, last) for name, said in facts()["runtimes"].items()}


def runtime(name: str, said: Mapping[str, Any], images: Mapping[str, str], launcher_last: bool) -> Object:
    """Return one runtime."""
    own = with_image({"name": NODE}, images.get(said["image"]))
    policy: Object = {said["policy"]: {}}
    template: Object = {"replicatedJobs": [job(NODE, own, TRAINS)]}
    if said["policy"] == "mpi":
        policy, template = MPI, over_ssh(own, launcher_last)
    elif "model" in said:
        template = tune(own, said, images)
    return {
        "apiVersion": f"{TRAINER}/v1alpha1",
        "kind": CLUSTER_WIDE,
        "metadata": {"name": name, "labels": {f"{TRAINER}/framework": said["framework"]}},
        "spec": {"mlPolicy": {"numNodes": 1, **policy}, "template": {"spec": template}},
    }


def with_image(container: Object, image: str | None) -> Object:
    """Return a container with its image, as far as that is known."""
    return {**container, "image": image} if image else container


MPI: Object = {
    "mpi": {"numProcPerNode": 1, "mpiImplementation": "OpenMPI", "sshAuthMountPath": KEYS, "runLauncherAsNode": True}
}


def job(
    name: str, container: Object, step: str = "", pod: Object | None = None, after: Sequence[Object] = ()
) -> Object:
    """Return one job of a runtime."""
    inside = {"spec": {"template": {"spec": {**(pod or {}), "containers": [container]}}}}
    labelled = {"metadata": {"labels": {STEP: step}}, **inside} if step else inside
    return {"name": name, **({"dependsOn": list(after)} if after else {}), "template": labelled}


def over_ssh(container: Object, launcher_last: bool) -> Object:
    """Return nodes with an SSH server, and a launcher that is a node, too."""
    own = {**container, "securityContext": {"runAsUser": 1000}}
    serves = {
        "command": ["/usr/sbin/sshd"],
        "args": ["-De", "-f", "/home/mpiuser/.sshd_config"],
        "readinessProbe": {"tcpSocket": {"port": PORT}, "initialDelaySeconds": 5},
    }
    group = {"securityContext": {"fsGroup": 1000}} if launcher_last else None
    after = [{"name": NODE, "status": "Ready"}] if launcher_last else []
    nodes, launcher = job(NODE, {**own, **serves}, pod=group), job("launcher", own, TRAINS, group, after)
    return {
        "network": {"publishNotReadyAddresses": True},
        "successPolicy": {"operator": "All", "targetReplicatedJobs": ["launcher"]},
        "replicatedJobs": [nodes, launcher] if launcher_last else [launcher, nodes],
    }


def tune(own: Object, said: Mapping[str, Any], images: Mapping[str, str]) -> Object:
    """Return initializers of data and model, which share a claim with the trainer after them."""
    claim = {
        "metadata": {"name": "initializer"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "20Gi"}}},
    }
    first = []
    for name, uri in zip(INITIALIZERS, (DATA, said["model"]), strict=True):
        container = {"name": name, "env": [{"name": STORAGE, "value": uri}], "volumeMounts": list(SHARED)}
        first.append(job(name, with_image(container, images.get(name)), name))
    trainer = {
        **own,
        "command": [
            *(
                "tune",
                "run",
                "--rdzv_endpoint=localhost:29500",
                "full_finetune_distributed",
                "--config",
                said["config"],
            ),
            *("dataset=torchtune.datasets.instruct_dataset", "dataset.source=parquet"),
            *("dataset.data_dir=/workspace/dataset/data", "output_dir=/workspace/output"),
            *said["tokenizer"],
            "checkpointer.checkpoint_dir=/workspace/model",
        ],
        "resources": {"limits": {"nvidia.com/gpu": 2}},
        "volumeMounts": list(SHARED),
    }
    after = [{"name": name, "status": "Complete"} for name in INITIALIZERS]
    return {
        "volumeClaimPolicies": [{"templates": [claim]}],
        "replicatedJobs": [*first, job(NODE, trainer, TRAINS, after=after)],
    }
