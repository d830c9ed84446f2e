"""Multus: more than one network for a pod. It has no chart, so its objects are made here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.labels import SYNC_OPTIONS
from trainyard.render.operators.base import Operator, Site
from trainyard.render.operators.install import sites
from trainyard.render.parts.objects import Resource
from trainyard.render.sizing.software import cni

NAME = "multus"
DEFINITION = "network-attachment-definitions.k8s.cni.cncf.io"


def host_paths(site: Site) -> dict[str, tuple[str, str, str | None]]:
    """Return the volumes of the daemon: name, path on the node, path in the container, mount propagation.

    Paths as the thick plugin expects them (multus-cni v4.3.0 deployments/multus-daemonset-thick.yml), and the folders
    of the distribution; the folder of binaries has the same path on both sides, since the daemon runs them on the node.
    """
    folders = cni(site.cluster)
    return {
        "cni": (folders.config, "/host/etc/cni/net.d", None),
        "cni-binaries": (folders.binaries, folders.binaries, None),
        "host-root": ("/", "/hostroot", "HostToContainer"),
        "host-run": ("/run", "/host/run", None),
        "multus-cache": ("/var/lib/cni/multus", "/var/lib/cni/multus", None),
        "kubelet": ("/var/lib/kubelet", "/var/lib/kubelet", "HostToContainer"),
        "devices": ("/run/k8s.cni.cncf.io", "/run/k8s.cni.cncf.io", None),
        "network-namespaces": (folders.namespaces, folders.namespaces, "HostToContainer"),
        "multus-config": ("/etc/cni/multus/net.d", "/etc/cni/multus/net.d", None),
    }


RULES: tuple[Mapping[str, list[str]], ...] = (
    {
        "apiGroups": ["k8s.cni.cncf.io"],
        "resources": ["network-attachment-definitions"],
        "verbs": ["get", "list", "watch"],
    },
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]},
    {"apiGroups": [""], "resources": ["pods/status"], "verbs": ["get", "update", "patch"]},
    {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch", "update"]},
)
"""What the daemon may do: read networks and pods, write a pod's network status and events."""


class Multus(Operator):
    """The thick plugin as a DaemonSet on every node, of a pinned image."""

    name = "multus"

    def own(self, site: Site) -> Iterator[Resource]:
        """Yield all there is of Multus; the definition of networks only where no chart of the cluster brings it."""
        if not is_brought(site):
            yield Resource(
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                DEFINITION,
                site.at,
                annotations={SYNC_OPTIONS: "Prune=false"},
                fields={"spec": definition()},
            )
        yield from access(site)
        config = {"daemon-config.json": json.dumps(daemon(), indent=2) + "\n"}
        yield Resource("v1", "ConfigMap", f"{NAME}-config", site.at, site.facts.namespace, fields={"data": config})
        yield Resource("apps/v1", "DaemonSet", NAME, site.at, site.facts.namespace, fields={"spec": daemon_set(site)})


def is_brought(site: Site) -> bool:
    """Whether another operator's chart brings the definition of networks along."""
    return any(DEFINITION in other.facts.brings_crds and other.choice.managed for other in sites(site.cluster))


def definition() -> dict[str, Any]:
    """Return the definition of NetworkAttachmentDefinition v1, whose config is text that only plugins read.

    Source: k8snetworkplumbingwg/network-attachment-definition-client v1.7.7 artifacts/networks-crd.yaml.
    """
    schema = {
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": {"type": "object", "properties": {"config": {"type": "string"}}},
        },
    }
    names = {
        "kind": "NetworkAttachmentDefinition",
        "plural": "network-attachment-definitions",
        "singular": "network-attachment-definition",
        "shortNames": ["net-attach-def"],
    }
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {"group": "k8s.cni.cncf.io", "scope": "Namespaced", "names": names, "versions": [version]}


def daemon() -> dict[str, Any]:
    """Return the daemon's configuration; with namespace isolation a pod uses networks of its own namespace alone.

    Source: multus-cni v4.3.0 docs/thick-plugin.md, docs/configuration.md.
    """
    return {
        "chrootDir": "/hostroot",
        "cniVersion": "0.3.1",
        "logLevel": "error",
        "logToStderr": True,
        "cniConfigDir": "/host/etc/cni/net.d",
        "multusAutoconfigDir": "/host/etc/cni/net.d",
        "multusConfigFile": "auto",
        "namespaceIsolation": True,
        "socketDir": "/host/run/multus/",
    }


def access(site: Site) -> Iterator[Resource]:
    """Yield the daemon's account and rights."""
    group = "rbac.authorization.k8s.io"
    subject = {"kind": "ServiceAccount", "name": NAME, "namespace": site.facts.namespace}
    role = {"apiGroup": group, "kind": "ClusterRole", "name": NAME}
    yield Resource("v1", "ServiceAccount", NAME, site.at, site.facts.namespace)
    yield Resource(f"{group}/v1", "ClusterRole", NAME, site.at, fields={"rules": [dict(rule) for rule in RULES]})
    yield Resource(f"{group}/v1", "ClusterRoleBinding", NAME, site.at, fields={"roleRef": role, "subjects": [subject]})


def daemon_set(site: Site) -> dict[str, Any]:
    """Return the DaemonSet: on every node whatever its taints, since without it no pod there gets a network."""
    labels = {"app.kubernetes.io/name": NAME}
    image = site.components["daemon"]["image"]
    asked = {
        daemon_container.name: daemon_container.resources.model_dump()
        for daemon in site.facts.daemons
        for daemon_container in daemon.containers
    }
    volumes = [{"name": name, "hostPath": {"path": path}} for name, (path, _, _) in host_paths(site).items()]
    config = {"name": f"{NAME}-config", "items": [{"key": "daemon-config.json", "path": "daemon-config.json"}]}
    pod = {
        "hostNetwork": True,
        "hostPID": True,
        "priorityClassName": "system-node-critical",
        "serviceAccountName": NAME,
        "terminationGracePeriodSeconds": 10,
        "tolerations": [{"operator": "Exists"}],
        "initContainers": [installer(image, asked["install"])],
        "containers": [container(site, image, asked["multus"])],
        "volumes": [*volumes, {"name": "daemon-config", "configMap": config}],
    }
    return {
        "selector": {"matchLabels": labels},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }


def installer(image: str, resources: Mapping[str, Any]) -> dict[str, Any]:
    """Return the init container that puts the plugin's binary on the node."""
    return {
        "name": "install",
        "image": image,
        "command": ["/usr/src/multus-cni/bin/install_multus", "-d", "/host/opt/cni/bin", "-t", "thick"],
        "resources": {kind: amounts for kind, amounts in resources.items() if amounts},
        "securityContext": {"privileged": True},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            {"name": "cni-binaries", "mountPath": "/host/opt/cni/bin", "mountPropagation": "Bidirectional"}
        ],
    }


def container(site: Site, image: str, resources: Mapping[str, Any]) -> dict[str, Any]:
    """Return the daemon's container."""
    mounts = [
        {"name": name, "mountPath": path, "mountPropagation": propagation}
        for name, (_, path, propagation) in host_paths(site).items()
    ]
    return {
        "name": "multus",
        "image": image,
        "command": ["/usr/src/multus-cni/bin/multus-daemon"],
        "env": [{"name": "MULTUS_NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "resources": {kind: amounts for kind, amounts in resources.items() if amounts},
        "securityContext": {"privileged": True},
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [*mounts, {"name": "daemon-config", "mountPath": "/etc/cni/net.d/multus.d", "readOnly": True}],
    }


OPERATOR = Multus()
