"""A value of ours that the cluster's file replaces is reported, or is known to be replaced without harm."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Any

import pytest

from everything import OPERATORS, everything, source
from trainyard.judge.preflight.cluster import conflicts, distribution, gpu_driver, gpus, pairing, recovery
from trainyard.render.operators.base import nest_value
from trainyard.render.operators.gpu_operator import policy
from trainyard.render.operators.install import installed_operators, values
from trainyard.render.operators.stated_values import leaves
from trainyard.specs import Cluster

CHECKS = (conflicts.check, distribution.check, gpus.check, gpu_driver.check, pairing.check, recovery.check)

H100: dict[str, Any] = {"shape": "dgx-h100", "nodes": 2, "taints": [{"key": "gpu"}]}
MI300X: dict[str, Any] = {"shape": "mi300x", "nodes": 1, "taints": [{"key": "amd"}]}
ROCE: dict[str, Any] = {
    "type": "roce",
    "attach": "sriov",
    "addresses": "10.56.0.0/16",
    "pools": ["h100"],
    "trafficClass": 106,
    "qos": {"by": "operator"},
}
BARE: dict[str, Any] = {"queues": {}, "topology": [], "fabric": None}
ALONE = {name: choice for name, choice in OPERATORS.items() if name not in {"sriov-network-operator", "whereabouts"}}

CLUSTERS: dict[str, dict[str, Any]] = {
    "one of everything": {},
    "NICs by the operator": {"fabric": ROCE, "operators": ALONE},
    "GPUs that are cut and shared": {
        **BARE,
        "pools": {
            "cut": {**H100, "mig": {"layout": {"3g.40gb": 2}}},
            "shared": {**H100, "sharing": {"by": "mps", "replicas": 2}},
            "amd": {**MI300X, "partition": {"compute": "CPX"}},
        },
    },
    "drivers of pools": {
        **BARE,
        "pools": {
            "h100": {**H100, "system": {"gpuDriverVersion": "580.126.20"}},
            "amd": {**MI300X, "system": {"gpuDriver": "operator", "gpuDriverVersion": "30.20.1"}},
        },
    },
    "GKE": {**BARE, "system": {"distribution": "gke-cos"}, "pools": {"h100": H100}},
    "AKS": {**BARE, "system": {"distribution": "aks"}, "pools": {"h100": H100}},
    "NVLink over nodes": {
        **BARE,
        "topology": [{"domain": "nvidia.com/gpu.clique"}],
        "pools": {"gb": {"shape": "gb200-nvl72", "nodes": 36, "nvlink": "domain", "taints": [{"key": "gpu"}]}},
        "operators": {"kueue": OPERATORS["kueue"], "dra-driver-nvidia-gpu": {"version": "0.4.0"}},
    },
    "EFA": {
        **BARE,
        "pools": {"h100": {"shape": "aws-p5-48xlarge", "nodes": 2, "taints": [{"key": "gpu"}]}},
        "fabric": {"type": "efa"},
        "operators": {"efa-device-plugin": {"version": "0.5.30"}},
    },
    "NFD by itself": {"operators": {**OPERATORS, "node-feature-discovery": {"version": "0.19.0"}}},
    "gangs": {**BARE, "gang": "coscheduling"},
}

YIELD = {
    "amounts that fit the site": [
        "*resources.limits.*",
        "*resources.requests.*",
        "*resources.*.memory",
        "*resources.*.cpu",
    ],
    "a mirror's image, or another release of a part": [
        "*.repository",
        "*.image",
        "*Image",
        "*.version",
        "*.tag",
        "*.imagePullPolicy",
        "*.pullPolicy",
        "basic.image_pull_policy",
        "operatorConfig.driverSpecDefaults.imageSet.name",
    ],
    "definitions that go with the chart are the site's choice": ["crds.keep", "remediation.installCRDs"],
    "a part without which jobs run": [
        "dcgm.enabled",
        "dcgmExporter.*",
        "gfd.enabled",
        "nodeStatusExporter.enabled",
        "sandboxWorkloads.enabled",
        "deviceConfig.spec.metricsExporter.*",
        "deviceConfig.spec.devicePlugin.enableNodeLabeller",
    ],
    "the operator drains nodes by itself": [
        "deviceConfig.spec.driver.upgradePolicy.enable",
        "daemonsets.updateStrategy",
        "daemonsets.rollingUpdate.maxUnavailable",
        "daemonsets.priorityClassName",
    ],
    "nodes may have a driver's settings already": [
        "cdi.enabled",
        "nvidiaDriverRoot",
        "deviceConfig.spec.driver.blacklist",
    ],
    "judged with the GPUs and the fabric": ["driver.kernelModuleType", "driver.rdma.*"],
    "no value of the chart, but a field of the ClusterPolicy": ["driver.useNvidiaDriverCRD"],
    "somebody else may bring the project; prerequisites name it": ["nfd.enabled"],
    "gates of ours stand beside the file's": ["controllerManager.featureGates"],
    "only hides labels that no pool is selected by": ["master.config.extraLabelNs"],
    "snapshots, of which no class of the cluster has any": [
        "controller.enableSnapshotter",
        "pluginConfig.allowedOperations.snapshotDirectoryVolumes",
        "sidecars.snapshotter.forceEnable",
        "snapshot.enabled",
        "drivers.*.snapshotPolicy",
    ],
    "the site's own priorities, classes and service accounts": [
        "*riorityClassName",
        "priorityClass.enabled",
        "storageClasses",
        "controller.serviceAccount.annotations.*",
    ],
    "a DaemonSet that no node runs, tests of Helm, and drivers that no class names": [
        "helmTester.enabled",
        "node.enableWindows",
        "drivers.*.enabled",
    ],
    "rights of KWOK's pod, which runs with more of them, too": [
        "podSecurityContext.seccompProfile.type",
        "securityContext.allowPrivilegeEscalation",
        "securityContext.capabilities.drop",
    ],
    "one replica, or variables of pods": ["leaderElect", "enableServiceLinks"],
    "how a Prometheus of ours is kept, and what else it may watch": [
        "grafana.enabled",
        "kube[CEPS]*.enabled",
        "prometheus.prometheusSpec.retention",
        "prometheus-node-exporter.*",
        "prometheusOperator.*.enabled",
        "kube-state-metrics.rbac.extraRules",
        "kube-state-metrics.customResourceState.config.kind",
    ],
}
"""Why a value of ours may be replaced, and which do so."""


def derived(cluster: Cluster) -> Iterator[tuple[str, str, Any]]:
    """Yield every value that follows from a cluster, of charts and of objects whose fields values replace."""
    for site, operator in installed_operators(cluster):
        if site.facts.chart is None:
            continue
        found = dict(leaves(values(site, operator)))
        if site.name == "gpu-operator":
            found |= leaves(policy(site))
        for item in operator.hardware(site):
            if item.kind == "DeviceConfig":
                found |= ((f"deviceConfig.spec.{path}", value) for path, value in leaves(item.fields["spec"]))
        for path, value in found.items():
            if value is not None and "trainyard.dev/" not in path:
                yield site.name, path, value


def other_value(value: Any) -> Any:
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    return [] if isinstance(value, list | tuple) else f"{value}x"


def reported(changes: dict[str, Any], name: str, path: str, value: Any) -> bool:
    """Whether some check speaks of a value of an operator on a cluster."""
    operators = changes.get("operators", OPERATORS)
    choice = {**operators[name], "values": nest_value(path, value)}
    own = {**changes, "operators": {**operators, name: choice}}
    cluster, file = everything(**own), source(**own)
    where = f"operators.{name}.values"
    return any((item.path or "").startswith(where) for check in CHECKS for item in check(cluster, file))


@pytest.mark.parametrize("changes", CLUSTERS.values(), ids=CLUSTERS)
def test_a_value_equal_to_ours_is_no_finding(changes):
    """Whoever writes down what follows anyway changes nothing."""
    found = derived(everything(**changes))
    assert [path for name, path, value in found if reported(changes, name, path, value)] == []


def test_every_other_value_is_reported_or_does_no_harm():
    """A new value of ours needs a conflict, or a reason here."""
    seen: dict[tuple[str, str, bool], bool] = {}
    for changes in CLUSTERS.values():
        for name, path, value in derived(everything(**changes)):
            key = (name, path, value is True)
            seen[key] = seen.get(key, False) or reported(changes, name, path, other_value(value))
    patterns = [pattern for listed in YIELD.values() for pattern in listed]
    silent = {path for (_, path, _), found in seen.items() if not found}
    assert sorted(path for path in silent if not any(fnmatch(path, pattern) for pattern in patterns)) == []
    assert [pattern for pattern in patterns if not any(fnmatch(path, pattern) for path in silent)] == []
