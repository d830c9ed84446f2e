"""GPUDirect on Google Kubernetes Engine: NCCL's plugin on the nodes of the fabric, and the injector of devices.

Google publishes plain manifests without tags and charts, so the objects are made here.
Facts: GoogleCloudPlatform/container-engine-accelerators 992db812 gpudirect-*/nccl-*-installer.yaml,
nri_device_injector/nri-device-injector.yaml; the installers' images are Ubuntu's, with nsenter and sleep (assumed).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.base.pools import node_terms
from trainyard.render.operators.base import Operator, Site
from trainyard.render.parts import unprivileged
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.fabrics import fabric_type
from trainyard.render.sizing.fabrics.gke import ACCELERATOR, ON_NODE, Gke

NAME = "gke-gpudirect"
INJECTOR = "device-injector"
INJECTOR_IMAGE = "gcr.io/gke-release/nri-device-injector"

NODE_BINARIES = "/home/kubernetes/bin"
"""Folder of Container-Optimized OS from which programs may run."""

PREPARE = """set -e
/sbin/iptables -C INPUT -p tcp -j ACCEPT 2>/dev/null || /sbin/iptables -I INPUT -p tcp -j ACCEPT
modprobe import-helper
for device in $(lspci -D -n -d 1ae0:0084 | cut -d' ' -f1); do
  place=/dev/aperture_devices/$device
  mkdir -p $place
  umount -R $place 2>/dev/null || true
  mount --bind $(readlink -f /sys/bus/pci/devices/$device) $place
  chmod -R a+r $place
  chmod a+rw $place/resource*
done
"""
"""TCPXO, on the node: let data in, load the module for DMA-BUF, and show each NIC's memory to containers."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """How a type of fabric gets its plugin onto nodes."""

    name: str
    """Name of Google's DaemonSet, which ours replaces."""
    install: str
    """Arguments of the image's script."""
    folders: Mapping[str, tuple[str, str]]
    """Volumes by name: folder of the node, and its place in the container."""
    copies: tuple[tuple[str, str], ...]
    """Folders whose files are copied: where the script puts them, and where pods of jobs find them."""
    prepare: str = ""
    """What the node needs besides; done last, since pods of jobs wait for a folder that it makes."""

    @property
    def script(self) -> str:
        """Return the commands; a file is replaced and never written over, so that running programs keep theirs."""
        entry = "/scripts/container_entry.sh"
        copies = [f"mkdir -p {to}\ncp -r --remove-destination {origin}/. {to}" for origin, to in self.copies]
        return "\n".join(["set -e", f"chmod 755 {entry}", f"{entry} {self.install}", *copies, ""])


def over_tcp(name: str, folder: str, prepare: str = "") -> Plugin:
    """Return a plugin of the TCPX family, which brings NCCL along."""
    folders = {"state": ("/var/lib", "/var/lib"), "binaries": (NODE_BINARIES, "/usr/local")}
    copies = ((f"/var/lib/{folder}/lib64", "/usr/local/nvidia/lib64"),)
    return Plugin(name, "install --install-nccl", folders, copies, prepare)


PLUGINS = {
    "gpudirect-tcpx": over_tcp("nccl-tcpx-installer", "tcpx"),
    "gpudirect-tcpxo": over_tcp("nccl-tcpxo-installer", "tcpxo", PREPARE),
    "gpudirect-rdma": Plugin(
        "nccl-rdma-installer",
        "install",
        {"libraries": (ON_NODE, "/host/lib64"), "gib": (f"{NODE_BINARIES}/gib", "/host/gib")},
        (("/var/lib/gib/lib64", "/host/lib64"), ("/var/lib/gib", "/host/gib")),
    ),
}
"""Plugins by the type of fabric."""


class GkeGpudirect(Operator):
    """The DaemonSets that the cluster's fabric needs, and none for another fabric."""

    name = NAME

    def own(self, site: Site) -> Iterator[Resource]:
        """Yield the plugin's installer, and the injector where pods run a daemon beside the program."""
        kind = fabric_type(site.cluster)
        if not isinstance(kind, Gke) or kind.name not in PLUGINS:
            return
        plugin = PLUGINS[kind.name]
        # Google says that no job may run while its plugin is replaced, so a person says when.
        yield daemon_set(site, plugin.name, installer(site, kind, plugin), {"type": "OnDelete"})
        if kind.has_daemon:
            rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}
            yield daemon_set(site, INJECTOR, injector(site, kind), rolling)


def daemon_set(site: Site, name: str, pod: Mapping[str, Any], strategy: Mapping[str, Any]) -> Resource:
    """Return a DaemonSet with Google's name and selector, so that it takes over one that is there."""
    labels = {"k8s-app": name}
    template = {"metadata": {"labels": {**labels, "name": name}}, "spec": dict(pod)}
    spec = {"selector": {"matchLabels": labels}, "updateStrategy": dict(strategy), "template": template}
    return Resource("apps/v1", "DaemonSet", name, site.at, site.facts.namespace, fields={"spec": spec})


def pod_basis(site: Site, kind: Gke) -> dict[str, Any]:
    """Return the part of all pods: nodes of the fabric that have its accelerators, whatever their taints."""
    there = [name for name in site.cluster.pools if kind.reaches(site.cluster, name)]
    card = {"key": ACCELERATOR, "operator": "In", "values": list(kind.accelerators)}
    terms = {
        "nodeSelectorTerms": [
            {"matchExpressions": [*term["matchExpressions"], card]}
            for term in node_terms(map(site.cluster.selector_of, there))
        ]
    }
    return {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}},
        "automountServiceAccountToken": False,
        "priorityClassName": "system-node-critical",
        "tolerations": [{"operator": "Exists"}],
    }


def installer(site: Site, kind: Gke, plugin: Plugin) -> dict[str, Any]:
    """Return the pod that copies the plugin to the node and then sleeps.

    Pods of TCPXO mount a folder that the last step makes, so none starts before its libraries are there. Other plugins
    have no such folder.
    """
    image = site.components[kind.name]["image"]
    mounts = [{"name": name, "mountPath": place} for name, (_, place) in plugin.folders.items()]
    install = {
        **container(site, "install", image, ["/bin/sh", "-c", plugin.script], privileged=True),
        "volumeMounts": mounts,
    }
    after = []
    if plugin.prepare:
        command = ["nsenter", "-a", "-t", "1", "--", "sh", "-c", plugin.prepare]
        after = [container(site, "prepare", image, command, privileged=True)]
    return {
        **pod_basis(site, kind),
        **({"hostPID": True} if plugin.prepare else {}),
        "initContainers": [install, *after],
        "containers": [container(site, "installed", image, ["sleep", "infinity"])],
        "terminationGracePeriodSeconds": 1,
        "volumes": [
            {"name": name, "hostPath": {"path": path, "type": "DirectoryOrCreate"}}
            for name, (path, _) in plugin.folders.items()
        ],
    }


def injector(site: Site, kind: Gke) -> dict[str, Any]:
    """Return the pod that gives containers the devices which annotations of their pods name."""
    image = f"{INJECTOR_IMAGE}@{site.components['deviceInjector']['version']}"
    paths = {"dev": "/dev", "nri": "/var/run/nri"}
    mounts = [{"name": name, "mountPath": path} for name, path in paths.items()]
    return {
        **pod_basis(site, kind),
        "hostNetwork": True,
        "hostPID": True,
        "containers": [{**container(site, INJECTOR, image, [], privileged=True), "volumeMounts": mounts}],
        "volumes": [{"name": name, "hostPath": {"path": path}} for name, path in paths.items()],
    }


def container(site: Site, name: str, image: str, command: list[str], *, privileged: bool = False) -> dict[str, Any]:
    """Return a container with the requests of the facts; one that is not privileged may do nothing."""
    (asked,) = (
        daemon_container.resources.model_dump()
        for daemon in site.facts.daemons
        for daemon_container in daemon.containers
        if daemon_container.name == name
    )
    return {
        "name": name,
        "image": image,
        **({"command": command} if command else {}),
        "resources": {key: amounts for key, amounts in asked.items() if amounts},
        "securityContext": {"privileged": True} if privileged else unprivileged.LEAST,
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


OPERATOR = GkeGpudirect()
