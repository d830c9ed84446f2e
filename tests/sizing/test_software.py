"""Operators are installed as the distribution of the nodes needs it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from everything import everything
from trainyard.base.documents import dump
from trainyard.render.operators.gpu_operator import policy
from trainyard.render.operators.install import installed_operators, own_resources, values
from trainyard.render.sizing.software import installs
from trainyard.specs import Cluster

SOCKET = [{"name": "CONTAINERD_SOCKET", "value": "/run/k3s/containerd/containerd.sock"}]
FILE = [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}]
GOOGLE = "/home/kubernetes/bin/nvidia"

SYSTEMS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "kubeadm: the operator installs all": ({"distribution": "kubeadm"}, {}),
    "kubeadm with a driver in the image": (
        {"distribution": "kubeadm", "gpuDriver": "system"},
        {"driver.enabled": False},
    ),
    "RKE2: the toolkit finds the socket": ({"distribution": "rke2"}, {"toolkit.env": SOCKET}),
    "k3s: the toolkit finds the socket": ({"distribution": "k3s"}, {"toolkit.env": SOCKET}),
    "Talos: driver and toolkit are extensions": (
        {"distribution": "talos"},
        {"driver.enabled": False, "toolkit.enabled": False, "hostPaths.driverInstallDir": "/usr/local"},
    ),
    "GKE: Google's driver, and a toolkit in a writable folder": (
        {"distribution": "gke-cos"},
        {
            "driver.enabled": False,
            "toolkit.env": FILE,
            "toolkit.installDir": GOOGLE,
            "hostPaths.driverInstallDir": GOOGLE,
        },
    ),
    "GKE on Ubuntu with the operator's driver": (
        {"distribution": "gke-ubuntu", "gpuDriver": "operator"},
        {"toolkit.env": FILE, "toolkit.installDir": GOOGLE},
    ),
    "EKS: accelerated images have driver and toolkit": (
        {"distribution": "eks"},
        {"driver.enabled": False, "toolkit.enabled": False},
    ),
    "EKS with plain images": ({"distribution": "eks", "gpuDriver": "operator"}, {}),
    "Bottlerocket has the device plugin too": (
        {"distribution": "eks-bottlerocket"},
        {"driver.enabled": False, "toolkit.enabled": False, "devicePlugin.enabled": False},
    ),
    "AKS names the runtime class of its own toolkit": (
        {"distribution": "aks"},
        {"driver.enabled": False, "toolkit.enabled": False, "operator.runtimeClass": "nvidia-container-runtime"},
    ),
    "AKS without a driver": ({"distribution": "aks", "gpuDriver": "operator"}, {}),
    "OKE: all is Oracle's": (
        {"distribution": "oke"},
        {"driver.enabled": False, "toolkit.enabled": False, "devicePlugin.enabled": False},
    ),
}
USUAL = {
    "driver.enabled": True,
    "toolkit.enabled": True,
    "toolkit.env": None,
    "toolkit.installDir": None,
    "devicePlugin.enabled": True,
    "operator.runtimeClass": "nvidia",
    "hostPaths.driverInstallDir": None,
}


def on(system: dict[str, str], **changes: Any) -> Cluster:
    """Return a cluster of that system with everything."""
    return everything(system=system, **changes)


def section(spec: dict[str, Any], path: str) -> Any:
    """Return a field of the ClusterPolicy, or None."""
    name, _, field = path.partition(".")
    return spec.get(name, {}).get(field)


@pytest.mark.parametrize(("system", "differs"), SYSTEMS.values(), ids=SYSTEMS)
def test_the_gpu_operator_installs_what_nodes_lack(system, differs):
    """What the image of a node has is not installed again, and the toolkit finds the container runtime."""
    (site,) = (site for site, _ in installed_operators(on(system)) if site.name == "gpu-operator")
    spec = policy(site)
    assert {path: section(spec, path) for path in USUAL} == {**USUAL, **differs}


def test_values_of_the_file_come_last():
    """A cluster's own environment of the toolkit takes the place of the distribution's."""
    own = [{"name": "CONTAINERD_SOCKET", "value": "/run/elsewhere.sock"}]
    operators = {"gpu-operator": {"version": "26.7.0", "values": {"toolkit": {"env": own}}}}
    (pair,) = installed_operators(everything(system={"distribution": "rke2"}, operators=operators))
    assert policy(pair[0])["toolkit"]["env"] == own


K3S = {"config": "/var/lib/rancher/k3s/agent/etc/cni/net.d", "binaries": "/var/lib/rancher/k3s/data/cni"}


def chart_values(cluster: Cluster, name: str) -> dict[str, Any]:
    """Return the chart's values of an operator on a cluster."""
    (pair,) = (pair for pair in installed_operators(cluster) if pair[0].name == name)
    return values(*pair)


def test_plugins_go_where_the_runtime_looks_for_them():
    """On k3s all four programs for second networks write below its data folder; elsewhere nothing is said."""
    k3s, usual = on({"distribution": "k3s"}), on({"distribution": "kubeadm"})
    assert chart_values(k3s, "whereabouts")["cniConf"] == {"confDir": K3S["config"], "binDir": K3S["binaries"]}
    assert chart_values(k3s, "sriov-network-operator")["operator"] == {"cniBinPath": K3S["binaries"]}
    network = chart_values(k3s, "network-operator")["operator"]
    assert network == {"cniBinDirectory": K3S["binaries"], "cniNetworkDirectory": K3S["config"]}
    assert "cniConf" not in chart_values(usual, "whereabouts")
    assert "operator" not in chart_values(usual, "sriov-network-operator")
    assert "operator" not in chart_values(usual, "network-operator")


PATHS = {
    "kubeadm": {"cni": "/etc/cni/net.d", "cni-binaries": "/opt/cni/bin", "network-namespaces": "/run/netns"},
    "rke2": {"cni": "/etc/cni/net.d", "cni-binaries": "/opt/cni/bin", "network-namespaces": "/run/netns"},
    "k3s": {"cni": K3S["config"], "cni-binaries": K3S["binaries"], "network-namespaces": "/run/netns"},
    "talos": {"cni": "/etc/cni/net.d", "cni-binaries": "/opt/cni/bin", "network-namespaces": "/var/run/netns"},
}


@pytest.mark.parametrize(("distribution", "paths"), PATHS.items(), ids=PATHS)
def test_multus_sees_the_folders_of_the_distribution(distribution, paths):
    """The daemon runs binaries on the node, so they have one path on both sides."""
    pairs = installed_operators(on({"distribution": distribution}))
    (pair,) = (pair for pair in pairs if pair[0].name == "multus")
    (daemon,) = (item for item in pair[1].own(pair[0]) if item.kind == "DaemonSet")
    spec = yaml.safe_load(dump(daemon.fields))["spec"]["template"]["spec"]
    found = {volume["name"]: volume["hostPath"]["path"] for volume in spec["volumes"] if "hostPath" in volume}
    assert {name: found[name] for name in paths} == paths
    mounts = {mount["name"]: mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]}
    assert mounts["cni-binaries"] == paths["cni-binaries"]


@pytest.mark.parametrize(("distribution", "there"), [("gke-cos", True), ("kubeadm", False)])
def test_daemons_of_system_priority_get_leave_on_gke(distribution, there):
    """GKE starts such pods outside kube-system only where a ResourceQuota speaks of their priority."""
    (pair,) = (
        pair for pair in installed_operators(on({"distribution": distribution})) if pair[0].name == "gpu-operator"
    )
    quotas = [item for item in own_resources(*pair) if item.kind == "ResourceQuota"]
    assert bool(quotas) == there


def test_a_pool_can_differ_from_its_cluster():
    """The driver of each pool is that of its own system."""
    pools = {
        "old": {"shape": "dgx-a100", "nodes": 2, "system": {"gpuDriver": "system"}},
        "new": {"shape": "dgx-h100", "nodes": 2},
    }
    found = installs(on({"distribution": "kubeadm"}, pools=pools, queues={}, fabric=None, topology=[]))
    assert {name: install.driver for name, install in found.items()} == {"old": "system", "new": "operator"}
