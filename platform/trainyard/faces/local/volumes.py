"""Volumes as folders: claims stay, what is empty is new, ConfigMaps, Secrets and fields are written.

Facts: kubernetes v1.35 pkg/volume: configmap, secret, projected, downwardapi; volume_linux.go.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from trainyard.base.system import scratch
from trainyard.faces.local.controllers.base import Object, Objects, Pod, RunError
from trainyard.faces.local.door import reporting
from trainyard.faces.local.downward import field_of, resource_of
from trainyard.faces.local.expansion import expand
from trainyard.faces.local.kubelet import Container, folder_of

HERE = frozenset({"emptyDir", "ephemeral", "persistentVolumeClaim", "configMap", "secret", "projected", "downwardAPI"})
"""Sources of volumes that folders can be."""


def inside(base: Path, part: str) -> Path:
    """Return a place below a folder, links followed; raises RunError where that lies elsewhere."""
    words = PurePosixPath(part)
    if words.is_absolute() or ".." in words.parts or "\0" in part:
        raise RunError(f"path {part!r:.80} leaves its volume; write one without '..' that does not begin with '/'")
    try:
        found = (base / part).resolve()
    except (OSError, RuntimeError) as error:
        raise RunError(f"path {part!r:.80} cannot be followed: {error}") from error
    if not found.is_relative_to(base.resolve()):
        raise RunError(f"path {part!r:.80} leaves its volume through a link; remove the link from {base}")
    return found


@dataclass(frozen=True, slots=True)
class Mount:
    """A folder or file here, and where a container sees it."""

    source: Path
    target: str
    read_only: bool = False


@dataclass
class Volumes:
    """The folders of a run."""

    state: Path
    """Where claims are kept, for all runs."""
    scratch: Path
    """What is gone when the run ends."""
    objects: Objects
    paths: Mapping[str, Path] = field(default_factory=dict)
    """Folders of this machine in place of what the image, or a volume, has at a path."""
    rewrite: Callable[[str], str] = str
    """Applied to the text of every file that is written."""

    def mounts(self, pod: Pod, container: Container, address: str) -> Iterator[Mount]:
        """Yield the mounts of a container, shorter paths first."""
        with reporting(f"pod {pod.name!r}"):
            found = self.find_mounts(pod, container, address)
        yield from sorted(found.values(), key=lambda item: item.target)

    def find_mounts(self, pod: Pod, container: Container, address: str) -> dict[str, Mount]:
        """Return the mounts of a container, by path."""
        found = {target: Mount(source, target) for target, source in self.paths.items()}
        volumes = {volume["name"]: volume for volume in pod.spec.get("volumes") or ()}
        for mount in container.value.get("volumeMounts") or ():
            target = mount["mountPath"].rstrip("/") or "/"
            if target in self.paths:
                continue
            volume = volumes.get(mount["name"])
            if volume is None:
                raise RunError(
                    f"pod {pod.name!r} mounts volume {mount['name']!r}, which it does not declare; add it to volumes"
                )
            source = self.folder(pod, container, volume, address)
            sub = mount.get("subPath") or expand(mount.get("subPathExpr") or "", container.env)
            if sub:
                source = inside(source, str(sub))
                if not source.exists():
                    source.mkdir(parents=True)
            written = {"configMap", "secret", "projected", "downwardAPI"} & volume.keys()
            found[target] = Mount(source, target, bool(mount.get("readOnly") or written))
        return found

    def folder(self, pod: Pod, container: Container, volume: Object, address: str) -> Path:
        """Return the folder of a volume, with what is in it."""
        namespace, name = pod.value["metadata"]["namespace"], volume["name"]
        place = next(number for number, one_volume in enumerate(pod.spec["volumes"]) if one_volume["name"] == name)
        own = inside(self.scratch, f"{folder_of(address)}/volume-{place}")
        claim = volume.get("persistentVolumeClaim")
        if claim:
            found = inside(inside(self.state / "claims", str(namespace)), str(claim["claimName"]))
            found.mkdir(parents=True, exist_ok=True)
            return found
        for source in volume.keys() - {"name"} - HERE:
            path = (volume[source] or {}).get("path", "")
            raise RunError(
                f"pod {pod.name!r} has volume {name!r} from {source}{f' {path}' if path else ''}, "
                "which does not exist here; use a local folder with --path MOUNTPATH=FOLDER"
            )
        if own.is_dir():
            return own
        own.mkdir(parents=True)
        for path, data, mode in self.files(pod, container, volume, address):
            file = inside(own, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            text = data.decode("utf-8", "surrogateescape")
            file.write_bytes(self.rewrite(text).encode("utf-8", "surrogateescape"))
            file.chmod(mode)
        return own

    def files(self, pod: Pod, container: Container, volume: Object, address: str) -> Iterator[tuple[str, bytes, int]]:
        """Yield path, content and mode of the files of a volume; others than the owner get no more than it says."""
        sources = [volume]
        if "projected" in volume:
            sources = [
                {**source, "defaultMode": volume["projected"].get("defaultMode")}
                for source in volume["projected"].get("sources") or ()
            ]
        for source in sources:
            for kind, field_, named in (("ConfigMap", "configMap", "name"), ("Secret", "secret", "secretName")):
                reference = source.get(field_)
                if reference is not None:
                    called = reference.get(named) or reference.get("name")
                    yield from self.keys(pod, kind, str(called), reference, source.get("defaultMode"))
            down = source.get("downwardAPI") or {}
            for item in down.get("items") or ():
                if item.get("fieldRef"):
                    text = field_of(pod.value, item["fieldRef"]["fieldPath"], address)
                else:
                    text = resource_of(pod.value, container.value, item["resourceFieldRef"])
                yield item["path"], text.encode(), item.get("mode") or 0o644

    def keys(
        self, pod: Pod, kind: str, name: str, reference: Mapping[str, Any], default: int | None
    ) -> Iterator[tuple[str, bytes, int]]:
        """Yield the files of a ConfigMap or Secret: all its keys, or those that are named."""
        found = self.objects.find(kind, pod.value["metadata"]["namespace"], name)
        if found is None:
            if reference.get("optional") or kind == "Secret":
                return
            raise RunError(f"pod {pod.name!r} mounts {kind} {name!r}, which is missing here; add its file")
        data = contents(found)
        mode = reference.get("defaultMode") or default or 0o644
        items = reference.get("items") or [{"key": key, "path": key} for key in sorted(data)]
        for item in items:
            if item["key"] in data:
                said = item.get("mode") or mode
                yield item["path"], data[item["key"]], said & 0o700 if kind == "Secret" else said | 0o600
            elif not reference.get("optional"):
                raise RunError(f"pod {pod.name!r} mounts key {item['key']!r} of {kind} {name!r}, which does not exist")

    def end(self) -> None:
        """Remove what does not stay."""
        scratch.remove(self.scratch)


def contents(value: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the bytes of a ConfigMap or Secret by key."""
    secret = value.get("kind") == "Secret"
    found = {
        key: base64.b64decode(text) if secret else str(text).encode() for key, text in (value.get("data") or {}).items()
    }
    found |= {key: base64.b64decode(text) for key, text in (value.get("binaryData") or {}).items()}
    return {**found, **{key: str(text).encode() for key, text in (value.get("stringData") or {}).items()}}
