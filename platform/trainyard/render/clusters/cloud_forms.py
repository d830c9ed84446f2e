"""Forms in which providers take settings of nodes, for distributions whose nodes nobody else configures.

They take a few fields of the kubelet only; others are refused before (`node/kubelet-field`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.render.clusters.node_parts import PAGES_SETTING, Needs, add_comment, write_yaml
from trainyard.render.parts.objects import PlainFile


def gke(needs: Needs) -> Iterator[PlainFile]:
    """Yield a node system configuration (GKE REST reference v1, NodeKubeletConfig)."""
    if needs.kubelet is None:
        return
    kubelet = {
        "cpuManagerPolicy": needs.kubelet["cpuManagerPolicy"],
        "memoryManager": {"policy": needs.kubelet["memoryManagerPolicy"]},
        "topologyManager": {
            "policy": needs.kubelet["topologyManagerPolicy"],
            "scope": needs.kubelet["topologyManagerScope"],
        },
        "podPidsLimit": needs.kubelet["podPidsLimit"],
    }
    text = "for `gcloud container node-pools update --system-config-from-file`; it recreates the nodes"
    value = {"kubeletConfig": kubelet}
    yield PlainFile("system-config.yaml", add_comment(text, write_yaml(value)), needs.kubelet_at)


def aks(needs: Needs) -> Iterator[PlainFile]:
    """Yield a node pool's configuration for `az aks nodepool add --kubelet-config`, in JSON, which has no comments."""
    if needs.kubelet is None:
        return
    value = {name: needs.kubelet[name] for name in ("cpuManagerPolicy", "topologyManagerPolicy")}
    if needs.kubelet["podPidsLimit"]:
        value["podMaxPids"] = needs.kubelet["podPidsLimit"]
    yield PlainFile("kubelet-config.json", json.dumps(value, indent=2) + "\n", needs.kubelet_at)


STRIPE = [["apiclient", "ephemeral-storage", command] for command in ("init", "bind")]
"""Commands by which Bottlerocket joins local disks and puts folders of kubelet, containerd and logs onto them
(aws/karpenter-provider-aws v1.14.1 pkg/providers/amifamily/bootstrap/bottlerocket.go)."""


def bottlerocket(needs: Needs) -> Iterator[PlainFile]:
    """Yield user data in TOML (bottlerocket.dev, settings reference: kubernetes, oci-defaults, kernel)."""
    lines = ["# user data of the launch template"]
    if needs.kubelet is not None:
        lines += ["[settings.kubernetes]", *kubernetes_settings(needs.kubelet)]
    if needs.memlock:
        lines += ["[settings.oci-defaults.resource-limits.max-locked-memory]", 'soft-limit = "unlimited"']
        lines += ['hard-limit = "unlimited"']
    for module in needs.load:
        lines += [f"[settings.kernel.modules.{module}]", "allowed = true", "autoload = true"]
    for module in needs.block:
        lines += [f"[settings.kernel.modules.{module}]", "allowed = false"]
    if needs.pages:
        lines += ["[settings.kernel.sysctl]", f'"{PAGES_SETTING}" = "{needs.pages}"']
    if needs.stripe:
        lines += ["[settings.bootstrap-commands.local-disks]", f"commands = {json.dumps(STRIPE)}"]
        lines += ['mode = "always"', "essential = true"]
    if len(lines) > 1:
        yield PlainFile("userdata.toml", "\n".join([*lines, ""]), needs.at)


def kubernetes_settings(kubelet: Mapping[str, Any]) -> list[str]:
    """Return the settings of the kubelet as lines of TOML."""
    lines = [
        f'cpu-manager-policy = "{kubelet["cpuManagerPolicy"]}"',
        f'topology-manager-policy = "{kubelet["topologyManagerPolicy"]}"',
        f'topology-manager-scope = "{kubelet["topologyManagerScope"]}"',
        f"max-pods = {kubelet['maxPods']}",
    ]
    if kubelet["podPidsLimit"]:
        lines.append(f"pod-pids-limit = {kubelet['podPidsLimit']}")
    on = [name for name, value in (kubelet["cpuManagerPolicyOptions"] or {}).items() if value == "true"]
    return [*lines, *([f"cpu-manager-policy-options = {json.dumps(on)}"] if on else [])]


def kind(needs: Needs) -> Iterator[PlainFile]:
    """Yield a worker of kind's own configuration, whose kubeadm patch has the kubelet's settings."""
    if needs.kubelet is None:
        return
    patch = write_yaml({"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", **needs.kubelet})
    value = {"nodes": [{"role": "worker", "kubeadmConfigPatches": [patch]}]}
    text = "nodes of `kind create cluster --config`"
    yield PlainFile("kind.yaml", add_comment(text, write_yaml(value)), needs.kubelet_at)


def nothing(_needs: Needs) -> Iterator[PlainFile]:
    """Yield nothing: the provider owns the nodes."""
    yield from ()
