"""A kubelet's drop-in file is one that the kubelet reads.

Why: of the drop-in folder the kubelet reads files whose names end in .conf, and passes over all others without a word;
 the node runs with default policies and no reserved CPUs.
Fix: call the file 20-name.conf.
Source: kubernetes v1.35 cmd/kubelet/app/server.go mergeKubeletConfigurations
"""

import re
from collections.abc import Iterator
from typing import Any

from trainyard.checks import Place, Problem, World

DROP_IN = re.compile(r"(?:\S*/)?kubelet\.conf\.d/([^/\s]+)")
HOLDERS = {
    ("", "ConfigMap"),
    ("", "Secret"),
    ("machineconfiguration.openshift.io", "MachineConfig"),
    ("bootstrap.cluster.x-k8s.io", "KubeadmConfig"),
    ("bootstrap.cluster.x-k8s.io", "KubeadmConfigTemplate"),
    ("bootstrap.cluster.x-k8s.io", "RKE2ConfigTemplate"),
    ("controlplane.cluster.x-k8s.io", "KubeadmControlPlane"),
}
"""Kinds that put files onto nodes."""


def check(world: World) -> Iterator[Problem]:
    """Look at every path of a drop-in that an object puts onto nodes, and at where a kubelet's settings are kept."""
    for manifest in world.manifests:
        if (manifest.group, manifest.kind) in HOLDERS:
            for path, text in texts(manifest.value, ()):
                yield from ignored_dropin(Place(manifest, path), DROP_IN.fullmatch(text))
        elif manifest.kind == "KubeletConfiguration" and manifest.group == "kubelet.config.k8s.io":
            yield from ignored_dropin(Place(manifest, ("kind",)), DROP_IN.fullmatch(manifest.file))


def ignored_dropin(place: Place, found: re.Match[str] | None) -> Iterator[Problem]:
    """Yield a drop-in that is passed over."""
    if found and not found[1].endswith(".conf"):
        yield Problem(place, f"the kubelet passes over {found[1]!r}, which does not end in .conf; call it so")


def texts(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield every text in a value with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from texts(item, (*path, index))
