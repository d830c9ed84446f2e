"""The name of a kubelet drop-in file must end in .conf.

Why: The kubelet silently ignores other files in its drop-in folder. The node then runs with default policies and
 without reserved CPUs.
Fix: rename the file, for example to 20-name.conf.
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
"""Kinds that create files on nodes."""


def check(world: World) -> Iterator[Problem]:
    """Check every drop-in path in objects that create files on nodes, and the files of kubelet settings."""
    for manifest in world.manifests:
        if (manifest.group, manifest.kind) in HOLDERS:
            for path, text in texts(manifest.value, ()):
                yield from ignored_dropin(Place(manifest, path), DROP_IN.fullmatch(text))
        elif manifest.kind == "KubeletConfiguration" and manifest.group == "kubelet.config.k8s.io":
            yield from ignored_dropin(Place(manifest, ("kind",)), DROP_IN.fullmatch(manifest.file))


def ignored_dropin(place: Place, found: re.Match[str] | None) -> Iterator[Problem]:
    """Yield a drop-in file that the kubelet ignores."""
    if found and not found[1].endswith(".conf"):
        stem = found[1].rpartition(".")[0] or found[1]
        message = f"the kubelet ignores {found[1]!r}, which does not end in .conf; rename it to {f'{stem}.conf'!r}"
        yield Problem(place, message)


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
