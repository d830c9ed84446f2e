"""Ways in which nodes are given their settings: one function a distribution, from needs to files.

The kubelet's own files are drop-ins and patches, never its whole configuration: that also has what only the cluster
knows, first of all `clusterDNS`, without which pods ask the node's own resolver and no rank finds another.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trainyard.base.labels import POOL
from trainyard.render.clusters import cloud_forms, talos_forms
from trainyard.render.clusters.node_parts import (
    CRIO_LIMIT,
    CRIO_UNLIMITED,
    DEVICE_RULES,
    OPEN,
    PATCH,
    Needs,
    add_comment,
    device_rules,
    kernel_files,
    kernel_texts,
    kubelet_drop_in,
    rlimit,
    runtime_limit,
    write_yaml,
)
from trainyard.render.parts.objects import PlainFile

OPENSHIFT = "machineconfiguration.openshift.io"


def systemd(needs: Needs) -> Iterator[PlainFile]:
    """Yield files for nodes whose kubelet is started with `--config-dir=/etc/kubernetes/kubelet.conf.d`."""
    yield from kubelet_drop_in(needs, "/etc/kubernetes/kubelet.conf.d")
    yield from runtime_limit(needs, "containerd.service")
    yield from device_rules(needs)
    yield from kernel_files(needs)


def kubeadm(needs: Needs) -> Iterator[PlainFile]:
    """Yield files for nodes that kubeadm joins and upgrades with `--patches`, which it merges into their file."""
    if needs.kubelet is not None:
        path = f"in the folder of `kubeadm join --patches`: {PATCH}"
        yield PlainFile(PATCH, add_comment(path, write_yaml(needs.kubelet)), needs.kubelet_at)
    yield from runtime_limit(needs, "containerd.service")
    yield from device_rules(needs)
    yield from kernel_files(needs)


def rke2(needs: Needs) -> Iterator[PlainFile]:
    """Yield files for nodes of RKE2, whose containerd is a child of the unit of an agent or a server.

    Folder as in docs.rke2.io "Advanced Options": read since Kubernetes 1.32.
    """
    yield from kubelet_drop_in(needs, "/var/lib/rancher/rke2/agent/etc/kubelet.conf.d")
    yield from runtime_limit(needs, "rke2-agent.service", server="rke2-server.service")
    yield from device_rules(needs)
    yield from kernel_files(needs)


def k3s(needs: Needs) -> Iterator[PlainFile]:
    """Yield files for nodes of k3s, as of RKE2 (docs.k3s.io "Configuration Options", since Kubernetes 1.32)."""
    yield from kubelet_drop_in(needs, "/var/lib/rancher/k3s/agent/etc/kubelet.conf.d")
    yield from runtime_limit(needs, "k3s-agent.service", server="k3s.service")
    yield from device_rules(needs)
    yield from kernel_files(needs)


def eks(needs: Needs) -> Iterator[PlainFile]:
    """Yield one NodeConfig, for the user data of the launch template or `/etc/eks/nodeadm.d/`.

    A list takes the place of nodeadm's own, so that its limit of open files is repeated
    (amazon-eks-ami nodeadm/internal/containerd/base-runtime-spec.json). RAID0 puts the folders of kubelet and
    containerd onto all local disks (amazon-eks-ami v20260724 nodeadm/api/v1alpha1/nodeconfig_types.go).
    """
    yield from device_rules(needs)
    yield from kernel_files(needs)
    if needs.kubelet is None and not needs.memlock and not needs.stripe:
        return
    kubelet = {"kubelet": {"config": needs.kubelet}} if needs.kubelet is not None else {}
    files = {"type": "RLIMIT_NOFILE", "soft": 65536, "hard": 1048576}
    limit = {"containerd": {"baseRuntimeSpec": {"process": {"rlimits": [files, rlimit()]}}}} if needs.memlock else {}
    disks = {"instance": {"localStorage": {"strategy": "RAID0"}}} if needs.stripe else {}
    value = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": {**limit, **kubelet, **disks}}
    text = "for user data of the launch template, or /etc/eks/nodeadm.d/trainyard.yaml in the image"
    yield PlainFile("nodeconfig.yaml", add_comment(text, write_yaml(value)), needs.at)


def openshift(needs: Needs) -> Iterator[PlainFile]:
    """Yield a machine config pool of the nodes and what the Machine Config Operator does to them; it reboots them.

    Types: openshift/api machineconfiguration/v1. `autoSizingReserved` cannot stand beside an amount that is said
    (machine-config-operator pkg/controller/kubelet-config/helpers.go).
    """
    if not needs.any:
        return
    role = f"trainyard-{needs.pool}"
    roles = {"key": f"{OPENSHIFT}/role", "operator": "In", "values": ["worker", role]}
    labels = {POOL: needs.pool}
    nodes = {"matchLabels": dict(needs.selector)}
    spec = {"machineConfigSelector": {"matchExpressions": [roles]}, "nodeSelector": nodes}
    yield of_openshift(needs, "MachineConfigPool", role, labels, spec)
    if needs.kubelet is not None:
        spec = {
            "autoSizingReserved": False,
            "kubeletConfig": needs.kubelet,
            "machineConfigPoolSelector": {"matchLabels": labels},
        }
        yield of_openshift(needs, "KubeletConfig", role, {}, spec)
    limit = [ignition(f"/etc/crio/crio.conf.d/{CRIO_LIMIT}", CRIO_UNLIMITED)] if needs.memlock else []
    udev = [ignition(f"/etc/udev/rules.d/{DEVICE_RULES}", "\n".join([*OPEN, ""]))] if needs.open_devices else []
    modules = [ignition(path, text) for path, text in kernel_texts(needs).items()]
    if files := [*limit, *udev, *modules]:
        spec = {"config": {"ignition": {"version": "3.2.0"}, "storage": {"files": files}}}
        yield of_openshift(needs, "MachineConfig", f"99-{role}", {f"{OPENSHIFT}/role": role}, spec)


FORMS: Mapping[str, Callable[[Needs], Iterator[PlainFile]]] = {
    "systemd": systemd,
    "kubeadm": kubeadm,
    "rke2": rke2,
    "k3s": k3s,
    "talos": talos_forms.patch,
    "openshift": openshift,
    "eks": eks,
    "eks-bottlerocket": cloud_forms.bottlerocket,
    "gke-cos": cloud_forms.gke,
    "gke-ubuntu": cloud_forms.gke,
    "gke-autopilot": cloud_forms.nothing,
    "aks": cloud_forms.aks,
    "oke": systemd,
    "bcm": kubeadm,
    "kind": cloud_forms.kind,
}


def ignition(path: str, text: str) -> dict[str, Any]:
    """Return a file of a MachineConfig."""
    contents = {"source": f"data:text/plain;charset=utf-8;base64,{encode_base64(text)}"}
    return {"path": path, "mode": 0o644, "overwrite": True, "contents": contents}


def of_openshift(needs: Needs, kind: str, name: str, labels: Mapping[str, str], spec: Mapping[str, Any]) -> PlainFile:
    """Return one object of the Machine Config Operator as a file."""
    metadata = {"name": name, **({"labels": dict(labels)} if labels else {})}
    value = {"apiVersion": f"{OPENSHIFT}/v1", "kind": kind, "metadata": metadata, "spec": spec}
    return PlainFile(f"{kind.lower()}.yaml", write_yaml(value), needs.at)


def encode_base64(text: str) -> str:
    """Return a text as base64."""
    return base64.b64encode(text.encode()).decode()
