"""Labels and annotations that controllers know by name, and which of them a mistyped key was meant to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.manifests import Manifest
from trainyard.judge.policies.near import is_near

KUEUE = (
    *("queue-name", "priority-class", "max-exec-time-seconds", "elastic-job", "workload-slice-name"),
    *("prebuilt-workload-name", "safe-to-forcefully-delete", "provisioning-request", "job-min-parallelism"),
    *("podset-required-topology", "podset-preferred-topology", "podset-unconstrained-topology", "podset-group-name"),
    *("podset-slice-required-topology", "podset-slice-required-topology-constraints", "podset-slice-size"),
    *(
        "pod-group-name",
        "pod-group-total-count",
        "pod-group-fast-admission",
        "pod-group-serving",
        "pod-group-pod-index",
    ),
    *("pod-group-pod-index-label", "retriable-in-group", "role-hash", "managed", "podset", "workload", "job-uid"),
    *("job-completions-equal-parallelism", "priority-boost", "pod-suspending-parent", "multikueue-origin", "topology"),
    *("local-queue-name", "cluster-queue-name", "multikueue", "multikueue-origin-uid", "pod-index-offset", "stopping"),
    *("component-workload-index", "admission-gated-by", "workload-slice-replacement-for", "podset-replica-sizes"),
    *(
        "workload-allowed-resource-flavors",
        "raycluster-podset-replica-sizes",
        "raycluster-generation",
        "is-group-workload",
    ),
    *("multikueue-worker-workload-pod", "job-owner-name", "job-owner-gvk", "concurrent-admission", "auto-generated"),
    *("concurrent-admission-parent", "is-group-workload"),
)
"""kubernetes-sigs/kueue ff69552e79 and v0.19.2 pkg/controller, apis/kueue."""

WRITTEN = (
    *("queue-name", "priority-class", "max-exec-time-seconds", "podset-required-topology", "podset-preferred-topology"),
    *("podset-unconstrained-topology", "podset-slice-required-topology", "podset-slice-size", "podset-group-name"),
    *("job-min-parallelism", "safe-to-forcefully-delete", "pod-group-name", "pod-group-total-count"),
)
"""Names of Kueue's that people write; a name with one word more or less, or in another order, was meant to be one."""

JOBSET = (
    *("restart-attempt", "replicatedjob-replicas", "replicatedjob-name", "priority", "jobset-uid", "jobset-name"),
    *("jobset-controller", "job-restart-attempt", "job-key", "job-index", "job-group-index", "job-global-index"),
    *("in-place-restart-attempt", "group-replicas", "group-name", "global-replicas", "disable-in-place-restart"),
    "coordinator",
)
JOBSET_ALPHA = ("node-selector", "exclusive-topology", "no-schedule", "namespaced-job")
"""kubernetes-sigs/jobset 08dfbdfd api/jobset/v1alpha2/jobset_types.go."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "kueue.x-k8s.io": KUEUE,
    "jobset.sigs.k8s.io": JOBSET,
    "alpha.jobset.sigs.k8s.io": JOBSET_ALPHA,
    "topology.kubernetes.io": ("zone", "region"),
    "node.kubernetes.io": (
        "instance-type",
        "windows-build",
        "exclude-from-external-load-balancers",
        "exclude-disruption",
    ),
    "kubernetes.io": ("hostname", "os", "arch", "metadata.name", "service-name"),
}
"""By group, the names that its controllers read.

Kubernetes' own: kubernetes v1.35 staging/src/k8s.io/api/core/v1/well_known_labels.go.
"""

MAPS = frozenset({"labels", "annotations", "matchLabels", "nodeSelector"})
"""Fields whose keys are labels or annotations."""

TYPES = frozenset({"CustomResourceDefinition", "ConfigMap", "Secret"})
"""Kinds in which such a field may be the name of another thing."""


def keys_of(manifest: Manifest) -> Iterator[tuple[Path, str]]:
    """Yield every label and annotation of an object, of its templates and selectors too, with its path."""
    if manifest.kind not in TYPES:
        yield from keys_in(manifest.value, ())


def keys_in(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the labels and annotations in a value."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from keys_in(item, (*path, index))
    elif isinstance(value, dict):
        for name, item in value.items():
            if name in MAPS and isinstance(item, dict):
                yield from (((*path, name, key), key) for key in item if isinstance(key, str))
            elif isinstance(item, (dict, list)):
                yield from keys_in(item, (*path, name))


def meant_key(key: str) -> str | None:
    """Return the label or annotation that a key was meant to be; None for one that is known, or like no other.

    >>> meant_key("kueue.x-k8s.io/queuename")
    'kueue.x-k8s.io/queue-name'
    >>> meant_key("kueue.k8s.io/queue-name")
    'kueue.x-k8s.io/queue-name'
    >>> meant_key("jobset.sigs.k8s.io/exclusive-topology")
    'alpha.jobset.sigs.k8s.io/exclusive-topology'
    >>> meant_key("kueue.x-k8s.io/priority-class-name")
    'kueue.x-k8s.io/priority-class'
    >>> meant_key("topology.kubernetes.io/rack") is None
    True
    """
    group, slash, name = key.partition("/")
    if not slash or name in GROUPS.get(group, ()):
        return None
    same = (f"{other}/{name}" for other, names in GROUPS.items() if name in names and is_like(group, other))
    near = (f"{group}/{known}" for known in GROUPS.get(group, ()) if is_near(plain(name), plain(known)))
    return next(same, None) or next(near, None) or (by_words(name) if group == "kueue.x-k8s.io" else None)


def by_words(name: str) -> str | None:
    """Return the key of Kueue's whose words a name has, but for one."""
    words = set(name.split("-"))
    found = [known for known in WRITTEN if len(words.symmetric_difference(known.split("-"))) <= 1]
    return f"kueue.x-k8s.io/{found[0]}" if len(found) == 1 else None


def is_like(group: str, known: str) -> bool:
    """Say whether a group was meant to be another one: one letter is wrong, or only its end or beginning is another."""
    first, own = known.removeprefix("alpha.").partition(".")[0], group.removeprefix("alpha.").partition(".")[0]
    return is_near(group, known) or (first == own and first in OWN)


OWN = frozenset({"kueue", "jobset"})
"""Beginnings of groups that nobody else has."""


def plain(name: str) -> str:
    """Return a name without what separates its words."""
    return name.lower().replace("-", "").replace("_", "").replace(".", "")
