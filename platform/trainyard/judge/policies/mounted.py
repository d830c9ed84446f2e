"""Files in a container that come from ConfigMaps."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from trainyard.base.documents import Path
from trainyard.base.manifests import maps_in

if TYPE_CHECKING:
    from trainyard.judge.policies.world import Pods


def mounted_texts(pods: Pods, container: Path) -> Iterator[tuple[str, str]]:
    """Yield path and text of each file that a container mounts from a ConfigMap, as far as that is at hand."""
    named = {volume.get("name"): volume.get("configMap") for volume in maps_in(pods.spec.get("volumes"))}
    for mount in maps_in(pods.manifest.get(*container, "volumeMounts")):
        source, folder, sub = named.get(mount.get("name")), mount.get("mountPath"), mount.get("subPath", "")
        if not isinstance(source, Mapping) or not isinstance(folder, str):
            continue
        texts = pods.maps(pods.manifest.namespace or "default", str(source.get("name")))
        items = [(str(item.get("key")), str(item.get("path"))) for item in maps_in(source.get("items"))]
        for key, path in items or [(key, key) for key in texts]:
            if key in texts and sub in {"", path}:
                yield posixpath.normpath(folder if sub else f"{folder}/{path}"), texts[key]
