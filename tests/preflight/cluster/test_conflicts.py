"""Values of charts that break what is rendered are errors, values that nothing reads are warnings, others silent."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import ROOT
from everything import OPERATORS, everything, source
from trainyard.base.documents import dump
from trainyard.judge.preflight.cluster.conflicts import check
from trainyard.judge.preflight.cluster.pairing import check as check_pairing
from trainyard.render.operators.kueue import derive_configuration
from trainyard.specs.load import read_repository

V580 = {"gpuDriverVersion": "580.126.20"}
V100: dict[str, Any] = {"shape": "dgx-1-v100", "nodes": 2}
H100: dict[str, Any] = {"shape": "dgx-h100", "nodes": 2}
MI300X: dict[str, Any] = {"shape": "mi300x", "nodes": 1}
BARE: dict[str, Any] = {"queues": {}, "topology": [], "fabric": None}
TALOS = {**BARE, "pools": {"h100": H100}, "system": {"distribution": "talos"}}
OWN_DRIVER = {**BARE, "pools": {"v100": {**V100, "system": V580}}}
MIXED = {**BARE, "pools": {"v100": {**V100, "system": V580}, "h100": H100}}
CUT = {**BARE, "pools": {"h100": {**H100, "mig": {"layout": {"3g.40gb": 2}}}}}
AMD = {**BARE, "pools": {"amd": MI300X}}
AMD_DRIVER = {**BARE, "pools": {"amd": {**MI300X, "system": {"gpuDriver": "operator", "gpuDriverVersion": "30.20.1"}}}}
ALONE = {name: choice for name, choice in OPERATORS.items() if name != "sriov-network-operator"}
NVLINK: dict[str, Any] = {
    **BARE,
    "topology": [{"domain": "nvidia.com/gpu.clique"}],
    "pools": {"gb": {"shape": "gb200-nvl72", "nodes": 36, "nvlink": "domain"}},
    "operators": {"kueue": OPERATORS["kueue"], "dra-driver-nvidia-gpu": {"version": "0.4.0"}},
}
DRIVER_595 = {"driver": {"version": "595.91.07"}}
EVICTS = {"autoUpgrade": True, "gpuPodDeletion": {"deleteEmptyDir": True}}
DRIVER_590 = {"driver": {"version": "590.48.01"}}
OWN = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"


def nested(path: str, value: Any) -> dict[str, Any]:
    """Return the map that holds a value at a dotted path."""
    for key in reversed(path.split(".")):
        value = {key: value}
    return dict(value)


def kueue(text: str) -> dict[str, Any]:
    """Return values with a configuration of Kueue."""
    return {"managerConfig": {"controllerManagerConfigYaml": text}}


SRIOV = "sriov-network-operator.sriovOperatorConfig"
WRONG: dict[str, tuple[dict[str, Any], str, dict[str, Any], str, str]] = {
    "another driver than the only pool names": (
        OWN_DRIVER,
        "gpu-operator",
        DRIVER_590,
        "error driver.version",
        "driver.version is 590.48.01, but pools.v100.system.gpuDriverVersion is 580.126.20; keep one of them",
    ),
    "another driver than the cluster names": (
        {**BARE, "pools": {"v100": V100}, "system": V580},
        "gpu-operator",
        DRIVER_590,
        "error driver.version",
        "driver.version is 590.48.01, but system.gpuDriverVersion is 580.126.20; keep one of them",
    ),
    "the operator's driver where the only pool names another": (
        OWN_DRIVER,
        "gpu-operator",
        DRIVER_595,
        "error driver.version",
        "driver.version is 595.91.07, but pools.v100.system.gpuDriverVersion is 580.126.20; keep one of them",
    ),
    "a release of a driver that nodes bring": (
        TALOS,
        "gpu-operator",
        DRIVER_590,
        "warning driver.version",
        "driver.version has no effect, as the nodes' image brings the driver; use system.gpuDriverVersion",
    ),
    "a driver that is off": (
        {**BARE, "pools": {"h100": H100}},
        "gpu-operator",
        nested("driver.enabled", False),
        "warning driver.enabled",
        "driver.enabled is false, but gpuDriver is 'operator'; set system: {gpuDriver: system} instead",
    ),
    "drivers of all nodes at once": (
        {},
        "gpu-operator",
        nested("driver.upgradePolicy", {**EVICTS, "maxParallelUpgrades": 0, "maxUnavailable": "100%"}),
        "warning driver.upgradePolicy.maxUnavailable",
        "driver.upgradePolicy upgrades all nodes at once, which ends every run; lower maxUnavailable",
    ),
    "drivers of no node at a time": (
        {},
        "gpu-operator",
        nested("driver.upgradePolicy", {**EVICTS, "maxUnavailable": "0%"}),
        "error driver.upgradePolicy.maxUnavailable",
        "driver.upgradePolicy.maxUnavailable is 0%, so no node ever gets another driver; use 1 or more",
    ),
    "upgrades that leave every run where it is": (
        {},
        "gpu-operator",
        nested("driver.upgradePolicy.autoUpgrade", True),
        "error driver.upgradePolicy.autoUpgrade",
        "autoUpgrade is true, but pods with /dev/shm are not evicted",
    ),
    "upgrades that drain, and keep pods with files": (
        {},
        "gpu-operator",
        nested("driver.upgradePolicy", {"autoUpgrade": True, "drain": {"enable": True, "deleteEmptyDir": False}}),
        "error driver.upgradePolicy.drain.deleteEmptyDir",
        "set driver.upgradePolicy.gpuPodDeletion.deleteEmptyDir: true",
    ),
    "a ClusterPolicy of the chart": (
        {},
        "gpu-operator",
        nested("clusterPolicy.deployCR", True),
        "error clusterPolicy.deployCR",
        "clusterPolicy.deployCR is true, but hardware/ has the ClusterPolicy already; remove it",
    ),
    "a GPUCluster": (
        {},
        "gpu-operator",
        {**nested("gpuCluster.deployCR", True), **nested("draDriver.computeDomains.enabled", True)},
        "error gpuCluster.deployCR",
        "gpuCluster.deployCR is true, but the operator takes no GPUCluster beside the ClusterPolicy of hardware/",
    ),
    "what only a GPUCluster reads": (
        {},
        "gpu-operator",
        nested("draDriver.featureGates", {"IMEXDaemonsWithDNSNames": True}),
        "warning draDriver",
        "draDriver has no effect without a GPUCluster, which Trainyard does not render; remove it",
    ),
    "definitions by a hook": (
        {},
        "gpu-operator",
        nested("operator.upgradeCRD", True),
        "warning operator.upgradeCRD",
        "operator.upgradeCRD is true, but Argo CD applies the definitions already; remove it",
    ),
    "NVIDIADrivers that the operator ignores": (
        MIXED,
        "gpu-operator",
        nested("driver.nvidiaDriverCRD.enabled", False),
        "error driver.nvidiaDriverCRD.enabled",
        "is false, but pools have drivers of their own, as NVIDIADrivers; remove it",
    ),
    "an NVIDIADriver of the chart": (
        {},
        "gpu-operator",
        nested("driver.nvidiaDriverCRD.enabled", True),
        "error driver.nvidiaDriverCRD.enabled",
        "makes an NVIDIADriver of the chart's own; set deployDefaultCR: false, or use gpuDriverVersion of a pool",
    ),
    "no device plugin": (
        {},
        "gpu-operator",
        nested("devicePlugin.enabled", False),
        "warning devicePlugin.enabled",
        "devicePlugin.enabled is false, but then nodes advertise no nvidia.com/gpu",
    ),
    "nobody who cuts GPUs": (
        CUT,
        "gpu-operator",
        nested("migManager.enabled", False),
        "error migManager.enabled",
        "migManager.enabled is false, but it cuts the GPUs of pool 'h100'; remove it",
    ),
    "daemons that tainted nodes keep out": (
        {},
        "gpu-operator",
        nested("daemonsets.tolerations", [{"key": "other", "operator": "Exists"}]),
        "error daemonsets.tolerations",
        "replaces the derived list and misses taint nvidia.com/gpu=present:NoSchedule of pool 'h100'; add it",
    ),
    "labels that tainted nodes keep out": (
        {},
        "gpu-operator",
        nested("node-feature-discovery.worker.tolerations", []),
        "error node-feature-discovery.worker.tolerations",
        "misses taint nvidia.com/gpu=present:NoSchedule of pool 'h100'; add it",
    ),
    "another folder of the driver": (
        TALOS,
        "gpu-operator",
        nested("hostPaths.driverInstallDir", "/opt/nvidia"),
        "warning hostPaths.driverInstallDir",
        "hostPaths.driverInstallDir is /opt/nvidia, but on Talos it is /usr/local; remove it",
    ),
    "the toolkit without the runtime's socket": (
        {**BARE, "pools": {"h100": H100}, "system": {"distribution": "k3s"}},
        "gpu-operator",
        nested("toolkit.env", [{"name": "DEBUG", "value": "true"}]),
        "error toolkit.env",
        "toolkit.env replaces the derived list and misses CONTAINERD_SOCKET of k3s; add it",
    ),
    "the socket of another containerd": (
        {**BARE, "pools": {"h100": H100}, "system": {"distribution": "k3s"}},
        "gpu-operator",
        nested("toolkit.env", [{"name": "CONTAINERD_SOCKET", "value": "/run/containerd/containerd.sock"}]),
        "error toolkit.env",
        "CONTAINERD_SOCKET to /run/containerd/containerd.sock, but on k3s it is /run/k3s/containerd/containerd.sock;",
    ),
    "another source of the runtime's configuration": (
        {**BARE, "pools": {"h100": H100}, "system": {"distribution": "gke-cos"}},
        "gpu-operator",
        nested("toolkit.env", [{"name": "RUNTIME_CONFIG_SOURCE", "value": "command"}]),
        "error toolkit.env",
        "toolkit.env sets RUNTIME_CONFIG_SOURCE to command, but on GKE (COS) it is file; correct it",
    ),
    "no SR-IOV": (
        {"operators": ALONE},
        "network-operator",
        nested("sriovNetworkOperator.enabled", False),
        "error sriovNetworkOperator.enabled",
        "but attach 'sriov' needs it; remove it, or add sriov-network-operator to operators",
    ),
    "a second configuration of SR-IOV": (
        {"operators": ALONE},
        "network-operator",
        nested(f"{SRIOV}.deploy", True),
        f"error {SRIOV}.deploy",
        "is true, but operators/ has the SriovOperatorConfig already; remove it",
    ),
    "settings of a configuration that is not the chart's": (
        {"operators": ALONE},
        "network-operator",
        nested(f"{SRIOV}.configDaemonEnvVars.A", "b"),
        f"warning {SRIOV}.configDaemonEnvVars.A",
        "has no effect, as Trainyard renders the SriovOperatorConfig; remove it",
    ),
    "the same of SR-IOV's own chart": (
        {},
        "sriov-network-operator",
        nested("sriovOperatorConfig.configDaemonEnvVars.A", "b"),
        "warning sriovOperatorConfig.configDaemonEnvVars.A",
        "has no effect, as Trainyard renders the SriovOperatorConfig; remove it",
    ),
    "folders of plugins": (
        {"system": {"distribution": "rke2"}},
        "network-operator",
        nested("operator.cniBinDirectory", "/x"),
        "warning operator.cniBinDirectory",
        "operator.cniBinDirectory is /x, but nodes on RKE2 use /opt/cni/bin; remove it",
    ),
    "definitions of the network operator without its hook": (
        {},
        "network-operator",
        {"upgradeCRDs": False},
        "error upgradeCRDs",
        "upgradeCRDs is false, but the chart's hook keep-ncp then fails on a new cluster; remove it",
    ),
    "Kueue without a kind": (
        {},
        "kueue",
        kueue("manageJobsWithoutQueueName: true\n"),
        "error managerConfig.controllerManagerConfigYaml",
        "Kueue does not start: its configuration has no kind Configuration of config.kueue.x-k8s.io/v1beta2; add them",
    ),
    "Kueue with broken YAML": (
        {},
        "kueue",
        kueue("a: [\n"),
        "error managerConfig.controllerManagerConfigYaml",
        "Kueue does not start",
    ),
    "weights that Kueue does not read": (
        {"queues": {"research": {"teams": ["nlp"], "nominalQuota": {"h100": {"gpus": 8}}, "fairWeight": 2}}},
        "kueue",
        kueue(OWN),
        "warning managerConfig.controllerManagerConfigYaml",
        "has no fairSharing, so fairWeight of 'research' has no effect; add it",
    ),
    "jobs that Kueue deletes, and Argo CD starts again": (
        {},
        "kueue",
        kueue(OWN + "objectRetentionPolicies: {workloads: {afterDeactivatedByKueue: 1h}}\n"),
        "error managerConfig.controllerManagerConfigYaml",
        "Kueue deletes jobs afterDeactivatedByKueue, and Argo CD starts them again; remove the field",
    ),
    "minutes of recovery that are said twice": (
        {"recoveryMinutes": 5},
        "kueue",
        kueue(OWN + "waitForPodsReady: {timeout: 30m, recoveryTimeout: 10m}\n"),
        "warning managerConfig.controllerManagerConfigYaml",
        "recoveryMinutes is 5, but Kueue's configuration in values has recoveryTimeout 10m; set 5m there",
    ),
    "minutes of recovery that are left out": (
        {"recoveryMinutes": 5},
        "kueue",
        kueue(OWN),
        "warning managerConfig.controllerManagerConfigYaml",
        "recoveryMinutes is 5, but Kueue's configuration in values has no recoveryTimeout; set 5m there",
    ),
    "NVLink channels without their class": (
        NVLINK,
        "kueue",
        kueue(OWN),
        "error managerConfig.controllerManagerConfigYaml",
        "so jobs on 'gb' stay pending; add deviceClassMappings",
    ),
    "another name of Kueue's Secret": (
        {},
        "kueue",
        {"fullnameOverride": "queues"},
        "error fullnameOverride",
        "fullnameOverride renames Secret kueue-webhook-server-cert, which Argo CD leaves to kueue by its name",
    ),
    "GPUs of two owners": (
        NVLINK,
        "dra-driver-nvidia-gpu",
        nested("resources.gpus.enabled", True),
        "error resources.gpus.enabled",
        "resources.gpus.enabled is true, but the device plugin gives out the GPUs already; remove it",
    ),
    "a DeviceConfig of AMD's chart": (
        AMD,
        "amd-gpu-operator",
        nested("crds.defaultCR.install", True),
        "error crds.defaultCR.install",
        "crds.defaultCR.install is true, but hardware/ has a DeviceConfig for each pool already; remove it",
    ),
    "a workflow engine of AMD's chart": (
        AMD,
        "amd-gpu-operator",
        nested("remediation.enabled", True),
        "error remediation.enabled",
        "but Argo CD's project of operators allows no PriorityClass, which it brings; remove it",
    ),
    "AMD's driver by values": (
        AMD,
        "amd-gpu-operator",
        nested("deviceConfig.spec.driver.enable", True),
        "warning deviceConfig.spec.driver.enable",
        "deviceConfig.spec.driver.enable is true; set system: {gpuDriver: operator} of 'amd'",
    ),
    "AMD's driver against the pool": (
        AMD_DRIVER,
        "amd-gpu-operator",
        nested("deviceConfig.spec.driver.enable", False),
        "error deviceConfig.spec.driver.enable",
        "deviceConfig.spec.driver.enable is false; set system: {gpuDriver: system} of 'amd'",
    ),
    "another driver of AMD than the pool names": (
        AMD_DRIVER,
        "amd-gpu-operator",
        nested("deviceConfig.spec.driver.version", "6.4"),
        "error deviceConfig.spec.driver.version",
        "is 6.4, but gpuDriverVersion of 'amd' is 30.20.1; keep one of them",
    ),
    "AMD's driver without what loads it": (
        AMD_DRIVER,
        "amd-gpu-operator",
        nested("kmm.enabled", False),
        "error kmm.enabled",
        "kmm.enabled is false, but it loads the driver, which gpuDriver leaves to the operator; remove it",
    ),
    "two ways to AMD's GPUs": (
        AMD,
        "amd-gpu-operator",
        nested("deviceConfig.spec.draDriver.enable", True),
        "error deviceConfig.spec.draDriver.enable",
        "the operator refuses it beside the device plugin; set deviceConfig.spec.devicePlugin.enableDevicePlugin",
    ),
    "all pools of AMD as one": (
        AMD,
        "amd-gpu-operator",
        {"deviceConfig": {"spec": {"selector": {"trainyard.dev/pool": "amd"}}}},
        "error deviceConfig.spec.selector",
        "deviceConfig.spec.selector gives all pools the label trainyard.dev/pool of one; remove it",
    ),
    "another name of Volcano's scheduler": (
        {},
        "volcano",
        nested("custom.scheduler_name", "batch"),
        "error custom.scheduler_name",
        "custom.scheduler_name is 'batch', but pods of runs ask for 'volcano'; remove it",
    ),
    "no scheduler of Volcano": (
        {},
        "volcano",
        nested("custom.scheduler_enable", False),
        "error custom.scheduler_enable",
        "custom.scheduler_enable is false, but then no pod of Volcano's jobs gets a node; remove it",
    ),
    "gangs without their plugin": (
        {**BARE, "gang": "coscheduling"},
        "scheduler-plugins",
        nested("plugins.enabled", ["CapacityScheduling"]),
        "error plugins.enabled",
        "plugins.enabled lacks Coscheduling, which gang 'coscheduling' needs; add it",
    ),
    "KubeRay for itself": (
        {},
        "kuberay",
        {"singleNamespaceInstall": True},
        "error singleNamespaceInstall",
        "singleNamespaceInstall is true, but then it watches no namespace of a team; remove it",
    ),
    "KubeRay for some teams": (
        {},
        "kuberay",
        {"watchNamespace": ["ads", "nlp"]},
        "error watchNamespace",
        "watchNamespace leaves out 'vision', so Ray clusters of that team get no pods; add it",
    ),
    "no definitions of the Trainer": (
        {},
        "trainer",
        nested("crds.enabled", False),
        "warning crds.enabled",
        "crds.enabled is false, but somebody must then install the definitions first",
    ),
    "two switches of definitions": (
        {},
        "cert-manager",
        {"installCRDs": True},
        "error installCRDs",
        "installCRDs is true, but the chart refuses it beside crds.enabled; remove it",
    ),
    "teams whose Secrets stay empty": (
        {},
        "external-secrets",
        {"scopedNamespace": "nlp"},
        "error scopedNamespace",
        "scopedNamespace is 'nlp', so Secrets of team 'ads' stay empty; remove it",
    ),
    "Secrets of its own namespace alone": (
        {},
        "external-secrets",
        {"scopedRBAC": True},
        "error scopedRBAC",
        "scopedRBAC is true, but then it watches its own namespace alone, and none of a team; remove it",
    ),
    "a webhook of stores without a certificate": (
        {},
        "external-secrets",
        nested("certController.create", False),
        "error certController.create",
        "certController.create is false, but then its webhook has no certificate and refuses all stores; remove it",
    ),
    "definitions of stores that nobody installs": (
        {},
        "external-secrets",
        {"installCRDs": False},
        "warning installCRDs",
        "installCRDs is false, but somebody must then install the definitions first",
    ),
    "teams that KEDA leaves out": (
        {},
        "keda",
        {"watchNamespace": "nlp, keda"},
        "warning watchNamespace",
        "watchNamespace leaves out 'ads', so KEDA scales nothing of that team; add it",
    ),
    "metrics that nobody serves": (
        {},
        "keda",
        nested("metricsServer.enabled", False),
        "error metricsServer.enabled",
        "metricsServer.enabled is false, but then HorizontalPodAutoscalers of KEDA get no metrics; remove it",
    ),
    "certificates that nobody makes": (
        {},
        "keda",
        nested("certificates.autoGenerated", False),
        "error certificates.autoGenerated",
        "then nobody makes its certificates; remove it, or set certificates.certManager.enabled",
    ),
    "definitions of scaling that nobody installs": (
        {},
        "keda",
        nested("crds.install", False),
        "warning crds.install",
        "crds.install is false, but somebody must then install the definitions first",
    ),
    "a namespace that Argo CD refuses": (
        {},
        "whereabouts",
        {"namespaceOverride": "cni"},
        "error namespaceOverride",
        "namespaceOverride is 'cni', but Argo CD's project of operators has no such namespace; remove it",
    ),
}

RIGHT: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "a driver for the pools that name none": (MIXED, "gpu-operator", DRIVER_590),
    "a driver where nobody names one": ({}, "gpu-operator", DRIVER_590),
    "the driver that the pool names": (OWN_DRIVER, "gpu-operator", nested("driver.version", "580.126.20")),
    "the operator's release on nodes that bring the driver": (TALOS, "gpu-operator", DRIVER_595),
    "the driver off where nodes bring it": (TALOS, "gpu-operator", nested("driver.enabled", False)),
    "NVIDIADrivers of the site's own": (
        {},
        "gpu-operator",
        nested("driver.nvidiaDriverCRD", {"enabled": True, "deployDefaultCR": False}),
    ),
    "drivers of a quarter of the nodes at a time": (
        {},
        "gpu-operator",
        nested("driver.upgradePolicy", {**EVICTS, "maxParallelUpgrades": 0, "maxUnavailable": "25%"}),
    ),
    "drivers by hand, with bounds that count for nothing": (
        {},
        "gpu-operator",
        nested("driver.upgradePolicy", {"autoUpgrade": False, "maxParallelUpgrades": 0, "maxUnavailable": "100%"}),
    ),
    "MIG off where nothing is cut": ({}, "gpu-operator", nested("migManager.enabled", False)),
    "a toleration of everything": ({}, "gpu-operator", nested("daemonsets.tolerations", [{"operator": "Exists"}])),
    "NFD's labels with the class": (
        {},
        "gpu-operator",
        nested("node-feature-discovery.worker.config.sources.pci.deviceLabelFields", ["class", "vendor"]),
    ),
    "the toolkit's environment with more in it": (
        {**BARE, "pools": {"h100": H100}, "system": {"distribution": "k3s"}},
        "gpu-operator",
        nested(
            "toolkit.env",
            [
                {"name": "CONTAINERD_SOCKET", "value": "/run/k3s/containerd/containerd.sock"},
                {"name": "CONTAINERD_CONFIG", "value": "/var/lib/rancher/k3s/agent/etc/containerd/config.toml.tmpl"},
            ],
        ),
    ),
    "a socket of one's own where none follows": (
        {**BARE, "pools": {"h100": H100}, "system": {"distribution": "kubeadm"}},
        "gpu-operator",
        nested("toolkit.env", [{"name": "CONTAINERD_SOCKET", "value": "/run/x.sock"}]),
    ),
    "a source of configuration with its file": (
        {**BARE, "pools": {"h100": H100}, "system": {"distribution": "gke-cos"}},
        "gpu-operator",
        nested("toolkit.env", [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file=/etc/containerd/config.toml"}]),
    ),
    "a mirror": ({}, "gpu-operator", nested("driver.repository", "registry.example.com/nvidia")),
    "upgrades of the driver by the operator": ({}, "gpu-operator", nested("driver.upgradePolicy", EVICTS)),
    "upgrades that drain nodes of every pod": (
        {},
        "gpu-operator",
        nested("driver.upgradePolicy", {"autoUpgrade": True, "drain": {"enable": True, "deleteEmptyDir": True}}),
    ),
    "objects of one's own": ({}, "gpu-operator", {"extraObjects": []}),
    "SR-IOV off where functions come from its own operator": (
        {},
        "network-operator",
        nested("sriovNetworkOperator.enabled", False),
    ),
    "settings of SR-IOV that the chart itself reads": (
        {"operators": ALONE},
        "network-operator",
        nested("sriov-network-operator.operator.resourcePrefix", "corp.example"),
    ),
    "a folder that the distribution has": (
        {"system": {"distribution": "rke2"}},
        "network-operator",
        nested("operator.cniBinDirectory", "/opt/cni/bin/"),
    ),
    "folders where nobody names a distribution, and Multus is not ours": (
        {**BARE, "operators": {"network-operator": {"version": "26.4.1"}}},
        "network-operator",
        nested("operator.cniBinDirectory", "/x"),
    ),
    "a configuration of Kueue that the cluster's fields need nothing of": ({}, "kueue", kueue(OWN)),
    "Kueue's own name": ({}, "kueue", {"fullnameOverride": "kueue"}),
    "gates of Kueue": (
        {},
        "kueue",
        nested("controllerManager.featureGates", [{"name": "ElasticJobsViaWorkloadSlices", "enabled": True}]),
    ),
    "replicas of Kueue": ({}, "kueue", nested("controllerManager.replicas", 2)),
    "AMD's registry": (
        AMD_DRIVER,
        "amd-gpu-operator",
        nested("deviceConfig.spec.driver.image", "r.example/amd"),
    ),
    "AMD's driver off where nodes bring it": (
        AMD,
        "amd-gpu-operator",
        nested("deviceConfig.spec.driver.enable", False),
    ),
    "a label beside the pool's": (
        AMD,
        "amd-gpu-operator",
        nested("deviceConfig.spec.selector", {"feature.node.kubernetes.io/amd-gpu": "true"}),
    ),
    "Volcano's scheduler by its name": ({}, "volcano", nested("custom.scheduler_name", "volcano")),
    "another plugin beside ours": (
        {**BARE, "gang": "coscheduling"},
        "scheduler-plugins",
        nested("plugins.enabled", ["Coscheduling", "NodeResourcesAllocatable"]),
    ),
    "no plugin where no gang needs it": (BARE, "scheduler-plugins", nested("plugins.enabled", [])),
    "KubeRay for all teams": ({}, "kuberay", {"watchNamespace": ["ads", "nlp", "vision"]}),
    "a lease in kube-system": ({}, "cert-manager", nested("global.leaderElection.namespace", "kube-system")),
    "KEDA for all teams": ({}, "keda", {"watchNamespace": "ads,nlp,vision"}),
    "certificates of KEDA by cert-manager": (
        {},
        "keda",
        nested("certificates", {"autoGenerated": False, "certManager": {"enabled": True}}),
    ),
    "no webhook of stores and no certificate of it": (
        {},
        "external-secrets",
        {"webhook": {"create": False}, "certController": {"create": False}},
    ),
    "a certificate of the stores' webhook by cert-manager": (
        {},
        "external-secrets",
        {"webhook": {"certManager": {"enabled": True}}, "certController": {"create": False}},
    ),
    "the namespace that the chart has": ({}, "whereabouts", {"namespaceOverride": "kube-system"}),
    "values of an operator that somebody else installs": (
        {},
        "gpu-operator",
        {**nested("clusterPolicy.deployCR", True), "managed": False},
    ),
}


def found(changes: dict[str, Any], name: str, values: dict[str, Any]) -> list[tuple[str, str]]:
    """Return severity, value and message of every conflict of an operator's values on a cluster."""
    operators, values = changes.get("operators", OPERATORS), dict(values)
    more = {"managed": values.pop("managed")} if "managed" in values else {}
    own = {**changes, "operators": {**operators, name: {**operators[name], "values": values, **more}}}
    prefix = f"operators.{name}.values."
    return [
        (f"{item.severity} {(item.path or '').removeprefix(prefix)}", item.message)
        for item in check(everything(**own), source(**own))
    ]


@pytest.mark.parametrize(("changes", "name", "values", "where", "words"), WRONG.values(), ids=WRONG)
def test_a_value_against_what_is_rendered_is_a_finding(changes, name, values, where, words):
    """It stands at the value, and says what wins and what to write instead."""
    ((place, message),) = found(changes, name, values)
    assert place == where
    assert words in message
    assert len(message.split()) <= 20


@pytest.mark.parametrize(("changes", "name", "values"), RIGHT.values(), ids=RIGHT)
def test_a_value_that_goes_with_what_is_rendered_is_none(changes, name, values):
    """Whoever replaces a value of ours and has everything work is left alone."""
    assert found(changes, name, values) == []


def test_dynamic_allocation_alone_is_only_a_plugin_that_is_off():
    """AMD's operator takes one of them."""
    spec = {"draDriver": {"enable": True}, "devicePlugin": {"enableDevicePlugin": False}}
    ((where, _),) = found(AMD, "amd-gpu-operator", {"deviceConfig": {"spec": spec}})
    assert where == "warning deviceConfig.spec.devicePlugin.enableDevicePlugin"


def test_the_derived_configuration_of_kueue_is_no_conflict():
    """Whoever copies what is rendered into the values of the cluster changes nothing."""
    for changes in ({}, NVLINK, {"recoveryMinutes": 5}):
        assert found(changes, "kueue", kueue(dump(derive_configuration(everything(**changes))))) == []


def test_the_clusters_of_the_repository_have_none():
    """Values of clusters that train are what they say."""
    loaded = read_repository(ROOT)
    for name, cluster in loaded.specs.clusters.items():
        assert list(check(cluster, loaded.specs.sources[f"cluster/{name}"])) == []


CERTIFICATES = {
    "kueue": {"enableCertManager": True},
    "jobset": {"certManager": {"enable": True}},
    "lws": {"enableCertManager": True},
    "keda": {"certificates": {"certManager": {"enabled": True}}},
    "external-secrets": {"webhook": {"certManager": {"enabled": True}}},
}


@pytest.mark.parametrize("name", CERTIFICATES)
def test_certificates_by_cert_manager_need_it(name):
    """Without the operator its kinds are not served, and nothing of the chart syncs."""
    chosen = {name: {**OPERATORS[name], "values": CERTIFICATES[name]}}
    for operators, expected in (
        ({**OPERATORS, **chosen}, 0),
        ({**chosen, "cert-manager": {"version": "1.21.1", "managed": False}}, 0),
        (chosen, 1),
        ({name: OPERATORS[name]}, 0),
    ):
        own = {**BARE, "operators": operators}
        messages = [item.message for item in check_pairing(everything(**own), source(**own))]
        assert sum(message.startswith(f"{name} needs cert-manager") for message in messages) == expected
