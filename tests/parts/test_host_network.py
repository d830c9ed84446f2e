"""Pods that share the node's own network: no plugin hands NICs out, so they see all of the node's."""

from __future__ import annotations

from typing import Any

from make import make_cluster, make_resolved
from trainyard.render.kinds import objects as kinds

HOST = {"type": "roce", "attach": "host", "interface": "eno1", "pools": ["gpu"]}


def spec(**job: Any) -> dict[str, Any]:
    """Return the pod spec of the worker."""
    found = make_resolved(**job)
    pod: dict[str, Any] = kinds.pod(found, found.roles[0])["spec"]
    return pod


def trainer(**job: Any) -> dict[str, Any]:
    """Return the container that trains."""
    container: dict[str, Any] = spec(**job)["containers"][0]
    return container


def test_pods_on_the_nodes_own_network_see_its_devices_and_the_clusters_names():
    """No plugin hands verbs devices out, so the container opens those of the node, and asks for no device."""
    job = {"fabric": "rdma", "cluster": make_cluster(fabric=HOST)}
    found = spec(**job)
    assert (found["hostNetwork"], found["dnsPolicy"]) == (True, "ClusterFirstWithHostNet")
    assert {"name": "fabric-devices", "mountPath": "/dev/infiniband"} in found["containers"][0]["volumeMounts"]
    assert trainer(**job)["securityContext"] == {"privileged": True}
    assert not {name for name in trainer(**job)["resources"]["limits"] if "rail" in name}
    env = {variable["name"]: variable.get("value") for variable in trainer(**job)["env"]}
    assert env["NCCL_SOCKET_IFNAME"] == "=eno1"
    assert env["NCCL_IB_HCA"].startswith("=mlx5_0,mlx5_3,")
    assert "hostNetwork" not in spec(**{**job, "fabric": "tcp"})
    assert trainer(**{**job, "fabric": "tcp"})["securityContext"]["allowPrivilegeEscalation"] is False
