"""Files that a program reads from its disk: they have apiVersion and kind, but no API server serves them."""

from __future__ import annotations

GROUPS = frozenset(
    {
        "apiserver.config.k8s.io",
        "audit.k8s.io",
        "chainsaw.kyverno.io",
        "cli.kyverno.io",
        "client.authentication.k8s.io",
        "cloudcontrollermanager.config.k8s.io",
        "config.jobset.x-k8s.io",
        "config.kueue.x-k8s.io",
        "config.lws.x-k8s.io",
        "config.ray.io",
        "config.trainer.kubeflow.org",
        "controller-runtime.sigs.k8s.io",
        "ctlptl.dev",
        "descheduler",
        "eksctl.io",
        "eventratelimit.admission.k8s.io",
        "holodeck.nvidia.com",
        "k0sctl.k0sproject.io",
        "k3d.io",
        "kind.x-k8s.io",
        "krew.googlecontainertools.github.com",
        "kubeadm.k8s.io",
        "kubecontrollermanager.config.k8s.io",
        "kubectl.config.k8s.io",
        "kubelet.config.k8s.io",
        "kubeproxy.config.k8s.io",
        "kubescheduler.config.k8s.io",
        "kuttl.dev",
        "node.eks.aws",
        "pod-security.admission.config.k8s.io",
        "resourcequota.admission.k8s.io",
        "scorecard.operatorframework.io",
        "skaffold",
        "webhook.admission.config.k8s.io",
    }
)
"""Groups of which no kind is served: k8s.io/*/config, the operators' own settings, and tools for clusters and tests.

Each is the apiVersion in the project's own documents: skaffold.dev (`skaffold/v4beta13`), krew.sigs.k8s.io,
sigs.k8s.io/descheduler (`descheduler/v1alpha2`), eksctl.io, k3d.io, sdk.operatorframework.io (scorecard), kuttl.dev.
"""

KINDS = frozenset(
    {
        ("", "Config"),  # a kubeconfig
        ("jobset.x-k8s.io", "Configuration"),  # jobset v0.12.0 config/samples, of no CRD
    }
)
"""Groups with kinds that a program reads beside others that a server serves."""


def is_read_by_program(group: str, kind: str) -> bool:
    """Say whether a type is one that a program reads from its disk; a misspelt kind of a served group is not."""
    return group in GROUPS or (group, kind) in KINDS
