"""Specs of somebody who means harm, or whose finger slipped: an error at once, never a traceback or a full memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from make import CLUSTER, CPU_NODE, JOB, fields, write_repository
from trainyard.judge.preflight import check_repository

MOST = 2**31 - 1
KUBELET = {"cpuManagerPolicy": "static", "topologyManagerPolicy": "restricted", "memoryManagerPolicy": "Static"}
CARDS = {"count": 8, "vendor": "nvidia", "product": "TEST", "memory": "80Gi"}
ROCE = {"type": "roce", "attach": "sriov", "addresses": "10.9.0.0/16"}


def of_shape(kubelet: dict[str, Any] | None = None, **shape: Any) -> dict[str, Any]:
    """Return fields of a cluster whose GPU pool has this shape, on one NUMA node that it does not say."""
    pool = {"shape": fields(CPU_NODE, {"gpus": CARDS, "numa": None, **shape}), "nodes": 4, "racks": 2}
    return {"pools": {**CLUSTER["pools"], "gpu": {**pool, "kubelet": {**KUBELET, **(kubelet or {})}}}}


def on_numa(cpus: str) -> dict[str, Any]:
    """Return fields of a cluster whose GPU pool has one NUMA node with these CPUs."""
    return of_shape(numa=[{"cpus": cpus, "memory": "64Gi", "gpus": list(range(8))}])


HUGE: dict[str, tuple[dict[str, Any], str]] = {
    "more CPUs than memory": (of_shape(cpus=MOST), "cpus"),
    "threads without end": (of_shape(threadsPerCore=MOST), "threadsPerCore"),
    "GPUs without end": (of_shape(gpus={**CARDS, "count": MOST}), "count"),
    "memory of GPUs without end": (of_shape(gpuNuma=MOST), "gpuNuma"),
    "CPUs of a NUMA node without end": (on_numa("0-9999999999"), "cpus"),
    "CPUs that run backwards": (on_numa("9-1"), "cpus"),
    "CPUs that are words": (on_numa("all"), "cpus"),
    "CPUs and a line below": (on_numa("0-15\n"), "cpus"),
    "CPUs without end kept": (of_shape({"reservedSystemCPUs": "0-999999999"}), "reservedSystemCPUs"),
    "a CPU of five thousand digits kept": (of_shape({"reservedSystemCPUs": "9" * 5000}), "reservedSystemCPUs"),
    "rails without end": ({"fabric": {**ROCE, "rails": MOST}}, "rails"),
    "rails that addresses are not for": ({"fabric": {**ROCE, "addresses": "10.9.0.0/30"}}, "addresses"),
}


@pytest.mark.parametrize(("changes", "field"), HUGE.values(), ids=HUGE)
def test_a_cluster_that_cannot_be_is_refused(changes, field, tmp_path: Path):
    """No machine is like that, and nobody waits for its CPUs to be counted."""
    job = fields(JOB, {"fabric": "rdma"} if "fabric" in changes else {})
    write_repository(tmp_path, jobs={"nlp/train": job}, clusters={"test": fields(CLUSTER, changes)})
    wrong = [finding for finding in check_repository(tmp_path).findings if finding.is_error]
    assert any(item.path and item.path.rpartition(".")[2] == field for item in wrong), wrong


GIVEN = (
    "devices.gke.io/container.trainer",
    "devices.nri.io/container.trainer",
    "ulimits.nri.containerd.io/container.trainer",
    "devices.noderesource.dev/container.trainer",
    "io.kubernetes.cri-o.Devices",
)
NETWORKS = ("k8s.v1.cni.cncf.io/networks", "v1.multus-cni.io/default-network", "networking.gke.io/interfaces")


@pytest.mark.parametrize("key", [*GIVEN, *NETWORKS])
def test_no_annotation_of_a_job_takes_something_of_its_node(key, tmp_path: Path):
    """Devices and networks of a node come by what a job asks for, not by a word to the node's own software."""
    write_repository(tmp_path, jobs={"nlp/train": fields(JOB, {"annotations": {key: "- path: /dev/sda"}})})
    assert [finding.rule for finding in check_repository(tmp_path).findings if finding.is_error] == [
        "spec/reserved-key"
    ]


@pytest.mark.parametrize("key", GIVEN)
@pytest.mark.parametrize("target", ["Pod", "JobSet"])
def test_no_patch_gives_pods_devices_of_their_node(key, target, tmp_path: Path):
    """No Pod Security level would see it, wherever in the object it stands."""
    merge: dict[str, Any] = {"metadata": {"annotations": {key: "- path: /dev/sda"}}}
    if target == "JobSet":
        template = {"spec": {"template": merge}}
        merge = {"spec": {"replicatedJobs": [{"name": "worker", "template": template}]}}
    patch = {"object": target, "merge": merge, "reason": "a test"}
    write_repository(tmp_path, jobs={"nlp/train": fields(JOB, {"patches": [patch]})})
    (found,) = [finding for finding in check_repository(tmp_path).findings if finding.is_error]
    assert found.rule == "run/patch"
    assert "host devices" in found.message
