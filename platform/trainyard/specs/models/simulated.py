"""A cluster for rehearsals, whose machines KWOK simulates: what its file leaves out, and the taint of its nodes.

A node of KWOK is an object without a machine, and its pods are Running without a container, so what reaches for
hardware or mounts volumes would wait for ever, or say that all is well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.specs.models.base import Count, Spec

FIELD = "simulated"

FAKE_NODE = "kwok.x-k8s.io/node"
"""Annotation of nodes that KWOK keeps, and here the key of their taint (kwok v0.8.0 charts/kwok/conf/kwok.yaml)."""

FAKE = "fake"
"""Value of both."""

DRIVERS_WORK = "it installs and watches drivers and devices, and there are none"
NETWORK = "it attaches pods to networks of machines, and no pod has one"
VOLUMES = "it mounts volumes, and no pod mounts any; claims are bound to volumes of the rehearsal"
WATCH = "it watches programs on machines, and none runs"
RECORDS = "it keeps what programs write, and none runs"
MACHINES = "it starts machines, and there are none"

LEFT_OUT: Mapping[str, str] = {
    "amd-gpu-operator": DRIVERS_WORK,
    "dra-driver-nvidia-gpu": DRIVERS_WORK,
    "gpu-operator": DRIVERS_WORK,
    "node-feature-discovery": DRIVERS_WORK,
    "efa-device-plugin": NETWORK,
    "gke-gpudirect": NETWORK,
    "multus": NETWORK,
    "network-operator": NETWORK,
    "sriov-network-operator": NETWORK,
    "whereabouts": NETWORK,
    "aws-ebs-csi-driver": VOLUMES,
    "aws-efs-csi-driver": VOLUMES,
    "aws-fsx-csi-driver": VOLUMES,
    "ceph-csi-drivers": VOLUMES,
    "csi-driver-nfs": VOLUMES,
    "csi-wekafs": VOLUMES,
    "external-snapshotter": VOLUMES,
    "rook": VOLUMES,
    "topolvm": VOLUMES,
    "kube-prometheus-stack": WATCH,
    "node-problem-detector": WATCH,
    "node-readiness-controller": WATCH,
    "mlflow": RECORDS,
    "wandb-operator": RECORDS,
    "external-secrets": "it fetches Secrets, which programs alone read, and none runs",
    "nim-operator": "it serves models, and no program runs",
    "vcluster": "pods of its control plane and of teams need machines",
    "karpenter": MACHINES,
}
"""Operators that a rehearsal does not install, each with the reason; all others admit, make or end jobs."""

DROPPED: Mapping[str, str] = {
    "health": WATCH,
    "monitoring": WATCH,
    "virtualClusters": "their control planes and pods need machines",
}
"""Fields of a cluster that a rehearsal takes for unwritten, each with the reason."""


class Simulation(Spec):
    """A rehearsal: every node of every pool is one that KWOK simulates, and operators of hardware are left out."""

    end_after_seconds: Count = 60
    """Seconds after which a pod of a run ends well; the pod's annotation `trainyard.dev/ends-after` goes before."""


def simulate(value: Any) -> Any:
    """Return the fields of a cluster as they are with simulated machines; those of any other cluster as they are.

    Operators stay in the file, so that sizes and verdicts are those of the real cluster; only nobody installs them.
    """
    if not isinstance(value, Mapping) or value.get(FIELD) is None:
        return value
    kept = {key: item for key, item in value.items() if key not in DROPPED}
    parts = {"pools": fake_pool, "storage": without_snapshots}
    return {key: each(item, parts[key]) if key in parts else item for key, item in kept.items()}


def each(value: Any, change: Any) -> Any:
    """Return a map with each of its maps changed; what is no map is judged where it stands."""
    if not isinstance(value, Mapping):
        return value
    return {name: change(name, item) if isinstance(item, Mapping) else item for name, item in value.items()}


def fake_pool(_name: str, pool: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a pool with the taint that keeps all other pods off its nodes, and scratch that no driver has to make.

    Its nodes have a label, too, by which runs select them: no machine gets one, on whatever API server it is queued.
    """
    disks = pool.get("localDisks")
    taints, labels = pool.get("taints") or [], pool.get("labels") or {}
    found = dict(pool)
    if isinstance(disks, Mapping) and "storage" in disks:
        found["localDisks"] = {key: item for key, item in disks.items() if key != "storage"}
        found.pop("disk", None)
    if isinstance(labels, Mapping):
        found["labels"] = {**labels, FAKE_NODE: FAKE}
    if isinstance(taints, list):
        found["taints"] = [*taints, {"key": FAKE_NODE, "value": FAKE}]
    return found


def without_snapshots(_name: str, storage: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a storage class without snapshots."""
    return {key: item for key, item in storage.items() if key != "snapshots"}
