"""CRD files of operators: from a folder `<project>/<release>/*.yaml`, or from the addresses that the lock pins."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import schemas_sources as sources
from schemas_yaml import load_all
from trainyard.upstream.apiserver.catalog.crd import Definition, definitions, is_crd


@dataclass
class Release:
    """What one project's release defines, and what the lock says of its origin."""

    project: str
    name: str
    lock: dict[str, Any]
    definitions: list[Definition] = field(default_factory=list)

    def add(self, text: str, *, only: frozenset[str] = frozenset()) -> list[str]:
        """Add the CRDs of a stream, all or only those named; return their names."""
        added = []
        for document in load_all(text):
            if is_crd(document) and (not only or document["metadata"]["name"] in only):
                self.definitions += definitions(document)
                added.append(document["metadata"]["name"])
        return added


def from_folder(folder: Path) -> Iterator[Release]:
    """Yield every release of a folder; its `SOURCES.md` and `index.json` say where the files come from."""
    index = sources.crd_index(folder)
    origins = {(row["project"], sources.release(row["tag"])): row for row in sources.rows(folder)}
    for place in sorted(path for path in folder.glob("*/*") if path.is_dir()):
        files = sorted(place.glob("*.yaml"))
        if files:
            project, version = place.parent.name, place.name
            yield one_release(project, version, files, index, origins.get((project, sources.release(version)), {}))


def one_release(
    project: str, version: str, files: list[Path], index: Mapping[str, Mapping[str, Any]], origin: Mapping[str, str]
) -> Release:
    """Read the files of one release, and lock each by the hash of what was read."""
    lock = {
        key: value
        for key, value in (
            ("repository", origin.get("repository")),
            ("tag", origin.get("tag", version)),
            ("commit", origin.get("commit")),
            ("licence", origin.get("licence")),
        )
        if value
    }
    release = Release(project, sources.release(version), lock)
    locked: dict[str, dict[str, Any]] = {}
    for file in files:
        data = file.read_bytes()
        names = release.add(data.decode())
        known = index.get(f"{project}/{version}/{file.name}", {})
        path = str(known.get("source", file.name)).rpartition(" -> ")[2]
        if known.get("verbatim", True):
            locked[path] = {"path": path, "sha256": digest(data)}
        else:
            cut = locked.setdefault(path, {"path": path, "blob": known["sourceBlob"], "crds": {}})
            cut["crds"].update(dict.fromkeys(names, digest(data)))
    release.lock["files"] = [locked[path] for path in sorted(locked)]
    return release


def from_lock(project: str, name: str, lock: Mapping[str, Any], fetch: Callable[[str], bytes]) -> Release:
    """Fetch what the lock pins, and refuse what is not what it was; an entry without a hash gets one."""
    release = Release(project, name, {**lock, "files": []})
    for entry in lock["files"]:
        data = fetch(f"{lock['repository']}/{lock.get('commit', lock['tag'])}/{entry['path']}")
        check(data, entry, f"{project} {name} {entry['path']}")
        pinned = entry if {"sha256", "blob"} & entry.keys() else {**entry, "sha256": digest(data)}
        release.add(data.decode(), only=frozenset(entry.get("crds", ())))
        release.lock["files"].append(pinned)
    return release


def check(data: bytes, entry: Mapping[str, Any], label: str) -> None:
    """Stop where the bytes are not those that the lock names, by SHA-256 or by Git's own hash of the file."""
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    for kind, found in (("sha256", digest(data)), ("blob", blob)):
        if entry.get(kind, found) != found:
            raise SystemExit(f"{label}: {kind} is {found}, but the lock says {entry[kind]}")


def digest(data: bytes) -> str:
    """Return the SHA-256 of the bytes."""
    return hashlib.sha256(data).hexdigest()
