"""Labels and annotations that several packages read or write, each once: ours, Kueue's, Argo CD's and others'."""

from __future__ import annotations

import json
from collections.abc import Iterator

OURS = "trainyard.dev"
"""Group of our own labels and annotations."""

POOL = f"{OURS}/pool"
"""Of every node, the name of its pool; and the only node selector of a queued run."""

TEAM = f"{OURS}/team"
"""Of a team's namespaces, where Kueue manages every job, and of what its runs are made of."""

JOB = f"{OURS}/job"
"""Of everything that a run is made of: its job, whatever the run's name."""

RUN = f"{OURS}/run"
"""Of everything that a run is made of: the run's name."""

OBJECT = f"{OURS}/object"
"""Of the pods of one object that runs as processes here: its name."""

QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"
MAX_TIME = "kueue.x-k8s.io/max-exec-time-seconds"
"""Labels of a queued object (kueue v0.19.2 pkg/controller/constants/constants.go)."""

ELASTIC = "kueue.x-k8s.io/elastic-job"
"""Annotation of a job that may be resized while it runs (kueue v0.19.2 pkg/workloadslicing/workloadslicing.go)."""

MAY_BE_FORCED = "kueue.x-k8s.io/safe-to-forcefully-delete"
"""Annotation of a pod that Kueue may delete when its node is dead (pkg/controller/failurerecovery, gate off)."""

HOOKS = ("argocd.argoproj.io/hook", "helm.sh/hook")
"""Annotations of what Argo CD creates anew at each sync (argo-cd v3.5.1 docs/user-guide/sync-waves.md)."""

NETWORKS = "k8s.v1.cni.cncf.io/networks"
"""Annotation of a pod: its secondary networks (multus-cni v4.3.0 docs/how-to-use.md)."""

ULIMITS = "ulimits.nri.containerd.io/container."
"""Annotation of a pod, with a container's name behind it: limits that the nodes' NRI plugin ulimit-adjuster sets.

Newer releases know it beside `ulimits.noderesource.dev` (containerd/nri plugins/ulimit-adjuster README.md).
"""

GIVE_DEVICES = ("devices.gke.io", "nri.io", "nri.containerd.io", "noderesource.dev", "io.kubernetes.cri-o")
"""Groups of annotations by which software of the node puts its devices, mounts or limits into a container.

No Pod Security level looks at them (containerd/nri plugins device-injector and ulimit-adjuster README.md, Google's
device injector, cri-o v1.35 pkg/annotations/annotations.go).
"""

GIVE_NETWORKS = ("k8s.v1.cni.cncf.io", "v1.multus-cni.io", "networking.gke.io")
"""Groups of annotations by which a pod gets networks of its node, beside its own or in its place."""


def is_of(key: str, groups: tuple[str, ...]) -> bool:
    """Whether a label or annotation is of one of the groups or below it; CRI-O's have no slash, but dots."""
    group = key.rpartition("/")[0] or key
    return any(
        group == one_group or group.endswith("." + one_group) or group.startswith(one_group + ".")
        for one_group in groups
    )


NETWORK_RESOURCE = "k8s.v1.cni.cncf.io/resourceName"
"""Annotation of a network: the device resource whose allocation it hands to the plugin."""


def networks(text: str, namespace: str) -> Iterator[tuple[str, str]]:
    """Yield namespace and name of what the annotation NETWORKS names, in either form: with commas, or JSON.

    The first is `ns/name@interface,…`; what says no namespace is in the pod's own. Broken JSON names nothing
    (multus-cni v4.3.0 pkg/k8sclient/k8sclient.go parsePodNetworkAnnotation).
    """
    if text.lstrip().startswith("["):
        try:
            entries = json.loads(text)
        except (ValueError, RecursionError):
            return
        named = [(entry.get("namespace"), entry.get("name")) for entry in entries if isinstance(entry, dict)]
    else:
        parts = (part.strip().partition("@")[0].rpartition("/") for part in text.split(","))
        named = [(where, name) for where, _, name in parts]
    for where, name in named:
        if isinstance(name, str) and name:
            yield str(where or namespace), name


SYNC_OPTIONS = "argocd.argoproj.io/sync-options"
SYNC_WAVE = "argocd.argoproj.io/sync-wave"
COMPARE_OPTIONS = "argocd.argoproj.io/compare-options"
IGNORE_HEALTH = "argocd.argoproj.io/ignore-healthcheck"
MANIFEST_PATHS = "argocd.argoproj.io/manifest-generate-paths"
"""Annotations that Argo CD reads (argo-cd v3.5.1 docs/user-guide/annotations-and-labels.md)."""

PROTECTED = {SYNC_OPTIONS: "Prune=false,Delete=false"}
"""Never removed by Argo CD, whatever vanishes from Git."""

HOSTNAME = "kubernetes.io/hostname"
"""Of every node, its own name."""

NAMESPACE = "kubernetes.io/metadata.name"
"""Of every namespace, its name (kubernetes v1.35 NamespaceDefaultLabelName)."""

JOB_NAME = "batch.kubernetes.io/job-name"
"""Of every pod of a Job."""

JOB_INDEX = "batch.kubernetes.io/job-completion-index"
"""Of every pod of an Indexed Job."""

POD_SECURITY = "pod-security.kubernetes.io"
"""Group of the labels that give a namespace its Pod Security level."""
