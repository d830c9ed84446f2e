"""Ways in which nodes are given their settings: one function a distribution, from needs to files.

The kubelet's own files are drop-ins and patches, never its whole configuration: that also has what only the cluster
knows, first of all `clusterDNS`, without which pods ask the node's own resolver and no rank finds another.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.base.documents import Path, dump
from trainyard.base.labels import POOL
from trainyard.render.parts.network import ENDLESS
from trainyard.render.parts.objects import PlainFile, canonical

KUBELET_API = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
"""Without these two the kubelet refuses a drop-in (kubernetes v1.35 cmd/kubelet/app/server.go)."""

DROP_IN = "20-trainyard.conf"
"""The kubelet reads `*.conf` alone, in the order of names (kubernetes v1.35 cmd/kubelet/app/server.go)."""

PATCH = "kubeletconfiguration20-trainyard+merge.yaml"
"""`target[suffix][+patchtype].extension` (kubernetes v1.35 cmd/kubeadm/app/util/patches/patches.go)."""

UNIT_LIMIT = "10-trainyard-memlock.conf"
CRIO_LIMIT = "10-trainyard.conf"

DEVICE_RULES = "70-amdgpu.rules"
OPEN = ('KERNEL=="kfd", MODE="0666"', 'SUBSYSTEM=="drm", KERNEL=="renderD*", MODE="0666"')
"""Rules after those of the distribution, which may give the files to group render alone (50-udev-default.rules)."""

OPENSHIFT = "machineconfiguration.openshift.io"


@dataclass(frozen=True, slots=True)
class Needs:
    """What the nodes of a pool must be given."""

    pool: str
    runtime: str
    kubelet: Mapping[str, Any] | None
    """Fields of its KubeletConfiguration; None where the kubelet is not ours to set."""
    memlock: bool
    """Whether containers must be able to lock all memory: RDMA locks its buffers."""
    open_devices: bool
    """Whether every user is to open the device files of AMD's GPUs."""

    @property
    def at(self) -> Path:
        """The pool in the cluster's file."""
        return ("pools", self.pool)

    @property
    def kubelet_at(self) -> Path:
        """The kubelet's settings in the cluster's file."""
        return (*self.at, "kubelet")

    @property
    def any(self) -> bool:
        """Whether there is anything to give."""
        return self.kubelet is not None or self.memlock or self.open_devices


MEMLOCK_AT: Path = ("fabric", "memlock")


def systemd(needs: Needs) -> Iterator[PlainFile]:
    """Yield files for nodes whose kubelet is started with `--config-dir=/etc/kubernetes/kubelet.conf.d`."""
    yield from kubelet_drop_in(needs, "/etc/kubernetes/kubelet.conf.d")
    yield from runtime_limit(needs, "containerd.service")
    yield from device_rules(needs)


def kubeadm(needs: Needs) -> Iterator[PlainFile]:
    """Yield files for nodes that kubeadm joins and upgrades with `--patches`, which it merges into their file."""
    if needs.kubelet is not None:
        path = f"in the folder of `kubeadm join --patches`: {PATCH}"
        yield PlainFile(PATCH, add_comment(path, write_yaml(needs.kubelet)), needs.kubelet_at)
    yield from runtime_limit(needs, "containerd.service")
    yield from device_rules(needs)


def rke2(needs: Needs) -> Iterator[PlainFile]:
    """Yield files for agents of RKE2, whose containerd is a child of the agent's unit.

    Folder as in docs.rke2.io "Advanced Options": read since Kubernetes 1.32.
    """
    yield from kubelet_drop_in(needs, "/var/lib/rancher/rke2/agent/etc/kubelet.conf.d")
    yield from runtime_limit(needs, "rke2-agent.service")
    yield from device_rules(needs)


def k3s(needs: Needs) -> Iterator[PlainFile]:
    """Yield files for agents of k3s, as of RKE2 (docs.k3s.io "Configuration Options", since Kubernetes 1.32)."""
    yield from kubelet_drop_in(needs, "/var/lib/rancher/k3s/agent/etc/kubelet.conf.d")
    yield from runtime_limit(needs, "k3s-agent.service")
    yield from device_rules(needs)


def talos(needs: Needs) -> Iterator[PlainFile]:
    """Yield one patch of the machine configuration.

    Fields that Talos keeps for itself (talos v1.13 pkg/machinery/kubelet/kubelet.go) are none of ours.
    """
    if not needs.any:
        return
    kubelet = {"kubelet": {"extraConfig": needs.kubelet}} if needs.kubelet is not None else {}
    limit = {"baseRuntimeSpecOverrides": {"process": {"rlimits": [rlimit()]}}} if needs.memlock else {}
    udev = {"udev": {"rules": list(OPEN)}} if needs.open_devices else {}
    text = "patch of the machine configuration, for `talosctl gen config --config-patch`; apply it once: lists add up"
    yield PlainFile("talos.yaml", add_comment(text, write_yaml({"machine": {**limit, **kubelet, **udev}})), needs.at)


def eks(needs: Needs) -> Iterator[PlainFile]:
    """Yield one NodeConfig, for the user data of the launch template or `/etc/eks/nodeadm.d/`.

    A list takes the place of nodeadm's own, so that its limit of open files is repeated
    (amazon-eks-ami nodeadm/internal/containerd/base-runtime-spec.json).
    """
    yield from device_rules(needs)
    if needs.kubelet is None and not needs.memlock:
        return
    kubelet = {"kubelet": {"config": needs.kubelet}} if needs.kubelet is not None else {}
    files = {"type": "RLIMIT_NOFILE", "soft": 65536, "hard": 1048576}
    limit = {"containerd": {"baseRuntimeSpec": {"process": {"rlimits": [files, rlimit()]}}}} if needs.memlock else {}
    value = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": {**limit, **kubelet}}
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
    spec = {"machineConfigSelector": {"matchExpressions": [roles]}, "nodeSelector": {"matchLabels": labels}}
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
    if files := [*limit, *udev]:
        spec = {"config": {"ignition": {"version": "3.2.0"}, "storage": {"files": files}}}
        yield of_openshift(needs, "MachineConfig", f"99-{role}", {f"{OPENSHIFT}/role": role}, spec)


FORMS: Mapping[str, Callable[[Needs], Iterator[PlainFile]]] = {
    "systemd": systemd,
    "kubeadm": kubeadm,
    "rke2": rke2,
    "k3s": k3s,
    "talos": talos,
    "openshift": openshift,
    "eks": eks,
}

UNLIMITED = "[Service]\nLimitMEMLOCK=infinity\n"
"""Containers inherit the limit of the unit that starts the runtime; systemd's own is 8 MiB."""

CRIO_UNLIMITED = '[crio.runtime]\ndefault_ulimits = [\n  "memlock=-1:-1",\n]\n'
"""cri-o docs/crio.conf.5.md; the list takes the place of the same in drop-ins before it."""


def kubelet_drop_in(needs: Needs, folder: str) -> Iterator[PlainFile]:
    """Yield the kubelet's settings as a drop-in of a folder."""
    if needs.kubelet is not None:
        text = write_yaml({**KUBELET_API, **needs.kubelet})
        yield PlainFile(DROP_IN, add_comment(f"{folder}/{DROP_IN}", text), needs.kubelet_at)


def runtime_limit(needs: Needs, unit: str) -> Iterator[PlainFile]:
    """Yield the files that lift the limit on locked memory, for the runtime or the unit that starts it."""
    if needs.memlock and needs.runtime == "cri-o":
        path = f"/etc/crio/crio.conf.d/{CRIO_LIMIT}"
        yield PlainFile(f"crio-{CRIO_LIMIT}", add_comment(path, CRIO_UNLIMITED), MEMLOCK_AT)
    elif needs.memlock:
        path = f"/etc/systemd/system/{unit}.d/{UNIT_LIMIT}"
        yield PlainFile(UNIT_LIMIT, add_comment(path, UNLIMITED), MEMLOCK_AT)


def device_rules(needs: Needs) -> Iterator[PlainFile]:
    """Yield the rules by which every user opens the GPUs, as a file for udev."""
    if needs.open_devices:
        text = add_comment(f"/etc/udev/rules.d/{DEVICE_RULES}", "\n".join([*OPEN, ""]))
        yield PlainFile(DEVICE_RULES, text, (*needs.at, "deviceAccess"))


def ignition(path: str, text: str) -> dict[str, Any]:
    """Return a file of a MachineConfig."""
    contents = {"source": f"data:text/plain;charset=utf-8;base64,{encode_base64(text)}"}
    return {"path": path, "mode": 0o644, "overwrite": True, "contents": contents}


def of_openshift(needs: Needs, kind: str, name: str, labels: Mapping[str, str], spec: Mapping[str, Any]) -> PlainFile:
    """Return one object of the Machine Config Operator as a file."""
    metadata = {"name": name, **({"labels": dict(labels)} if labels else {})}
    value = {"apiVersion": f"{OPENSHIFT}/v1", "kind": kind, "metadata": metadata, "spec": spec}
    return PlainFile(f"{kind.lower()}.yaml", write_yaml(value), needs.at)


def rlimit() -> dict[str, Any]:
    """Return a limit of the OCI runtime specification."""
    return {"type": "RLIMIT_MEMLOCK", "soft": ENDLESS, "hard": ENDLESS}


def write_yaml(value: Mapping[str, Any]) -> str:
    """Return a value as YAML, without None."""
    return dump(canonical(value), sort_keys=True)


def add_comment(comment: str, text: str) -> str:
    """Return a text that begins with where it goes."""
    return f"# {comment}\n{text}"


def encode_base64(text: str) -> str:
    """Return a text as base64."""
    return base64.b64encode(text.encode()).decode()
