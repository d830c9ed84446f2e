"""Operators and settings of nodes that a distribution does not allow are errors that say the way out."""

from __future__ import annotations

from typing import Any

import pytest

from everything import KUBELET, source
from make import make_cluster
from trainyard.judge.preflight.cluster.distribution import check

H100: dict[str, Any] = {"shape": "dgx-h100", "nodes": 2}
POOLS = {"h100": H100}
GPU = {"gpu-operator": {"version": "26.7.0"}}
PLUGIN = {"version": "0.5.30"}
EFA = {"efa-device-plugin": PLUGIN}
SIMPLE = {"topologyManagerPolicy": "restricted", "cpuManagerPolicy": "static"}
ROCE: dict[str, Any] = {"type": "roce", "rails": 8, "attach": "sriov", "addresses": "10.56.0.0/16", "pools": ["h100"]}
OLD: dict[str, Any] = {"shape": "dgx-a100", "nodes": 1, "system": {"gpuDriver": "system"}}
NETWORK = {"version": "26.4.1"}
THEIRS = {"network-operator": {**NETWORK, "managed": False}}
BY_NAME: dict[str, Any] = {
    "operators": {"network-operator": NETWORK},
    "pools": {"h100": {**H100, "interfaces": [f"ibs{number}" for number in range(8)]}},
    "fabric": {"type": "infiniband", "attach": "rdma-shared", "resources": ["rdma/nics"]},
}
AMD: dict[str, Any] = {"shape": "mi300x", "nodes": 2, "deviceAccess": "udev"}

EXCLUDED, DRIVER, FILE = "pairing/distribution", "pairing/gpu-driver", "node/file"

CASES: dict[str, tuple[dict[str, Any], list[tuple[str, str, str]]]] = {
    "GPU Operator on kubeadm": ({"system": {"distribution": "kubeadm"}, "operators": GPU}, []),
    "GPU Operator on Talos": ({"system": {"distribution": "talos"}, "operators": GPU}, []),
    "Multus of ours on OpenShift": (
        {"system": {"distribution": "openshift"}, "operators": {"multus": {"version": "4.3.0"}}},
        [(EXCLUDED, "operators.multus", "OpenShift runs Multus of its own; set managed: false")],
    ),
    "OpenShift's own Multus": (
        {"system": {"distribution": "openshift"}, "operators": {"multus": {"version": "4.3.0", "managed": False}}},
        [],
    ),
    "GPU Operator on Autopilot": (
        {"system": {"distribution": "gke-autopilot"}, "operators": GPU},
        [(EXCLUDED, "operators.gpu-operator", "and refuses privileged daemons; remove gpu-operator")],
    ),
    "Node Feature Discovery on Autopilot": (
        {"system": {"distribution": "gke-autopilot"}, "operators": {"node-feature-discovery": {"version": "0.19.0"}}},
        [(EXCLUDED, "operators.node-feature-discovery", "Autopilot refuses privileged daemons; remove it")],
    ),
    "Kueue on Autopilot": (
        {"system": {"distribution": "gke-autopilot"}, "operators": {"kueue": {"version": "0.19.2"}}},
        [],
    ),
    "adapters of Amazon on GKE": (
        {"system": {"distribution": "gke-cos"}, "operators": EFA},
        [(EXCLUDED, "operators.efa-device-plugin", "it is for machines of aws alone; remove it")],
    ),
    "adapters of Amazon on GKE, by others": (
        {"system": {"distribution": "gke-cos"}, "operators": {"efa-device-plugin": {**PLUGIN, "managed": False}}},
        [(EXCLUDED, "operators.efa-device-plugin", "it is for machines of aws alone; remove it")],
    ),
    "adapters of Amazon on machines without them": (
        {"system": {"distribution": "kubeadm"}, "operators": EFA},
        [(EXCLUDED, "operators.efa-device-plugin", "advertises devices that no pool has; remove it")],
    ),
    "adapters of Amazon on its machines, by kubeadm": (
        {
            "system": {"distribution": "kubeadm"},
            "operators": EFA,
            "pools": {"h100": {"shape": "aws-p5-48xlarge", "nodes": 2}},
        },
        [],
    ),
    "adapters of Amazon on EKS, before nodes have them": (
        {
            "system": {"distribution": "eks"},
            "operators": EFA,
            "pools": {"t4": {"shape": "aws-g5-48xlarge", "nodes": 1}},
        },
        [],
    ),
    "adapters of Amazon beside a misspelt shape": (
        {"operators": EFA, "pools": {"h100": {"shape": "aws-p5-48xlrge", "nodes": 1}}},
        [],
    ),
    "plugins of GKE on nodes of nobody's": (
        {"system": {"distribution": "kubeadm"}, "operators": {"gke-gpudirect": {"version": "2026.6.9"}}},
        [(EXCLUDED, "operators.gke-gpudirect", "it is for nodes of the service of google alone; remove it")],
    ),
    "plugins of GKE on GKE": (
        {"system": {"distribution": "gke-cos"}, "operators": {"gke-gpudirect": {"version": "2026.6.9"}}},
        [],
    ),
    "Karpenter on GKE": (
        {"system": {"distribution": "gke-cos"}, "operators": {"karpenter": {"version": "1.14.1", "managed": False}}},
        [(EXCLUDED, "operators.karpenter", "it is for machines of aws alone; remove it")],
    ),
    "Karpenter on EKS": (
        {"system": {"distribution": "eks"}, "operators": {"karpenter": {"version": "1.14.1", "managed": False}}},
        [],
    ),
    "the DRA driver on Talos": (
        {"system": {"distribution": "talos"}, "operators": {"dra-driver-nvidia-gpu": {"version": "0.4.0"}}},
        [(EXCLUDED, "operators.dra-driver-nvidia-gpu", "no system extension has nvidia-imex")],
    ),
    "the operator's driver on Talos": (
        {"system": {"distribution": "talos", "gpuDriver": "operator"}, "operators": GPU},
        [(DRIVER, "system.gpuDriver", "but on Talos only the node's image installs the driver; remove it")],
    ),
    "the operator's driver on one pool": (
        {
            "system": {"distribution": "talos"},
            "operators": GPU,
            "pools": {"h100": {**H100, "system": {"gpuDriver": "operator"}}},
        },
        [(DRIVER, "pools.h100.system.gpuDriver", "but on Talos only the node's image installs the driver; remove it")],
    ),
    "a driver of NICs that Talos cannot load": (
        {"system": {"distribution": "talos", "nicDriver": "doca"}},
        [("pairing/nic-driver", "system.nicDriver", "but nodes on Talos have the kernel's own alone; remove it")],
    ),
    "the driver of NICs that Talos has": ({"system": {"distribution": "talos", "nicDriver": "inbox"}}, []),
    "shared NICs by names that Talos 1.13 lacks": (
        {"system": {"distribution": "talos"}, **BY_NAME},
        [("pairing/ipoib", "pools.h100.interfaces", "Talos 1.13 has no IPoIB network devices; use one name in")],
    ),
    "the same from 1.14 on": ({"system": {"distribution": "talos", "distributionVersion": "1.14"}, **BY_NAME}, []),
    "the same on kubeadm": ({"system": {"distribution": "kubeadm"}, **BY_NAME}, []),
    "the same where another operator shares them": (
        {"system": {"distribution": "talos"}, **BY_NAME, "operators": THEIRS},
        [],
    ),
    "shared NICs by their type on Talos 1.13": (
        {"system": {"distribution": "talos"}, **BY_NAME, "pools": POOLS},
        [],
    ),
    "interfaces of InfiniBand on Talos 1.13": (
        {
            "system": {"distribution": "talos"},
            "pools": {"h100": H100, "more": H100},
            "fabric": {"type": "infiniband", "attach": "hostdev", "addresses": "10.56.0.0/16"},
        },
        [("pairing/ipoib", "fabric.attach", "which attach 'hostdev' needs; use rdma-shared")],
    ),
    "interfaces of RoCE on Talos 1.13": ({"system": {"distribution": "talos"}, "fabric": ROCE}, []),
    "a release of Talos": ({"system": {"distribution": "talos", "distributionVersion": "1.13"}}, []),
    "a release that nothing reads": (
        {"system": {"distribution": "kubeadm", "distributionVersion": "1.14"}},
        [("pairing/distribution-version", "system.distributionVersion", "is not used with kubeadm; remove it")],
    ),
    "a release of a pool that nothing reads": (
        {"system": {"distribution": "rke2"}, "pools": {"h100": {**H100, "system": {"distributionVersion": "1.14"}}}},
        [("pairing/distribution-version", "pools.h100.system.distributionVersion", "with RKE2; remove it")],
    ),
    "a driver of NICs on kubeadm": ({"system": {"distribution": "kubeadm", "nicDriver": "doca"}}, []),
    "a driver by values on Talos": (
        {
            "system": {"distribution": "talos"},
            "operators": {"gpu-operator": {"version": "26.7.0", "values": {"driver": {"enabled": True}}}},
        },
        [
            (
                DRIVER,
                "operators.gpu-operator.values.driver.enabled",
                "driver.enabled is true, but nodes on Talos have the driver already; remove it",
            )
        ],
    ),
    "a driver that is switched off by values": (
        {
            "system": {"distribution": "kubeadm"},
            "operators": {"gpu-operator": {"version": "26.7.0", "values": {"driver": {"enabled": False}}}},
        },
        [],
    ),
    "two ways to the driver in one cluster": (
        {"system": {"distribution": "kubeadm"}, "operators": GPU, "pools": {"h100": H100, "old": OLD}},
        [("pairing/one-gpu-install", "pools.old", "pools 'h100' and 'old' need different ClusterPolicies")],
    ),
    "two ways where somebody else installs the operator": (
        {
            "operators": {"gpu-operator": {"version": "26.7.0", "managed": False}},
            "pools": {"h100": H100, "old": OLD},
        },
        [],
    ),
    "fields of the kubelet that AKS has": (
        {"system": {"distribution": "aks"}, "pools": {"h100": {**H100, "kubelet": SIMPLE}}},
        [],
    ),
    "fields of the kubelet that AKS lacks": (
        {"system": {"distribution": "aks"}, "pools": {"h100": {**H100, "kubelet": KUBELET}}},
        [
            ("node/kubelet-field", f"pools.h100.kubelet.{name}", f"{name} cannot be set on AKS; remove it")
            for name in ("topologyManagerScope", "cpuManagerPolicyOptions", "memoryManagerPolicy")
        ],
    ),
    "a limit that no file lifts on GKE": (
        {"system": {"distribution": "gke-cos"}, "fabric": {**ROCE, "memlock": "node"}},
        [
            (
                FILE,
                "fabric.memlock",
                "GKE (COS) takes no file for nodes of 'h100', which memlock 'node' needs; set memlock: nri",
            )
        ],
    ),
    "a limit that NRI lifts on GKE": (
        {"system": {"distribution": "gke-cos"}, "fabric": {**ROCE, "memlock": "nri"}},
        [],
    ),
    "rules of udev on AKS": (
        {"system": {"distribution": "aks"}, "pools": {"amd": AMD}},
        [
            (
                FILE,
                "pools.amd.deviceAccess",
                "AKS takes no rules of udev for its nodes, which deviceAccess 'udev' needs; list groups",
            )
        ],
    ),
    "a misspelt shape": ({"operators": GPU, "pools": {"h100": {"shape": "dgx-h1000", "nodes": 1}}}, []),
}


@pytest.mark.parametrize(("changes", "expected"), CASES.values(), ids=CASES)
def test_what_a_distribution_does_not_allow_is_an_error(changes, expected):
    """Each finding is at the field that its reader changes."""
    own = {"pools": POOLS, "queues": {}, "operators": {}, **changes}
    found = list(check(make_cluster(**own), source(**own)))
    assert [(item.rule, item.path) for item in found] == [(rule, path) for rule, path, _ in expected]
    assert all(words in item.message for item, (_, _, words) in zip(found, expected, strict=True))
