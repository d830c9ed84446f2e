"""Folders that a job's arguments still name though this change took their volume away."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any

from trainyard.base.documents import Path, load
from trainyard.base.findings import Finding
from trainyard.base.system import files
from trainyard.base.system.git import Git
from trainyard.base.system.repository import JOBS
from trainyard.judge.policies.folders import within
from trainyard.judge.preflight.job.near_mounts import PATH
from trainyard.judge.preflight.job.unmounted import UNMOUNTED
from trainyard.specs.reading.quotes import texts
from trainyard.specs.sources import Source
from trainyard.upstream.trainers.settings import SCRIPTS, SETTINGS

NAMES = ("command", "args", "env", "roles")
"""Fields of a job whose texts its program sees."""

SMALL = (*SETTINGS, *SCRIPTS)
"""What small files end in that name folders."""

NO_FILES: Mapping[Path, str] = MappingProxyType({})


def with_removed(
    findings: list[Finding], root: FilePath, git: Git, commit: str, ids: Mapping[str, str]
) -> list[Finding]:
    """Return findings with those of `removed_mounts`, instead of others on the same folder."""
    removed = {(finding.location.file, finding.path): finding for finding in removed_mounts(root, git, commit, ids)}
    if not removed:
        return findings
    own = (finding for finding in findings if finding.rule == UNMOUNTED.id)
    replaced = [finding for finding in own if (finding.location.file, finding.path) in removed]
    return [*(finding for finding in findings if finding not in replaced), *removed.values()]


def removed_mounts(root: FilePath, git: Git, commit: str, ids: Mapping[str, str]) -> Iterator[Finding]:
    """Yield arguments and variables that name a folder whose mount a job had at a commit and has no more.

    `ids` are the content ids of the spec files at hand.
    """
    tree = git.object_id(commit, JOBS)
    listed = {f"{JOBS}/{path}": oid for path, oid in git.listing(tree).items()} if tree else {}
    touched = [path for path, oid in listed.items() if path.endswith(".yaml") and ids.get(path, oid) != oid]
    for path, data in zip(touched, git.read([listed[path] for path in touched]), strict=True):
        source, before = source_of(path, files.read(root / path) or b""), source_of(path, data)
        if source is not None and before is not None:
            yield from removed(source, before, small_texts(root, source))


def small_texts(root: FilePath, source: Source) -> dict[Path, str]:
    """Return the texts of a job's settings and scripts, by their field."""
    team = source.file.rpartition("/")[0]
    found = enumerate(listed_maps(value_of(source).get("files")))
    names = {("files", at, "source"): str(entry.get("source")) for at, entry in found}
    read = {at: files.read(root / team / name) for at, name in names.items() if name.endswith(SMALL)}
    return {at: data.decode("utf-8", "replace") for at, data in read.items() if data is not None}


def source_of(path: str, data: bytes) -> Source | None:
    """Return a job's file with what it says; None where it is no job that can be read."""
    documents, _ = load(data, file=path)
    is_job = len(documents) == 1 and isinstance(documents[0].value, dict) and "cluster" in documents[0].value
    return Source(path, documents[0]) if is_job else None


def removed(source: Source, before: Source, small: Mapping[Path, str] = NO_FILES) -> Iterator[Finding]:
    """Yield the folders that a job or its small files name, and that only its former file mounts."""
    job = value_of(source)
    there = mounts(job)
    gone = {folder: whose for folder, whose in mounts(value_of(before)).items() if folder not in there}
    if not gone or UNMOUNTED.id in (job.get("waive") or {}) or job.get("runtime") or job.get("retired"):
        return
    own = [item for name in NAMES for item in texts(job.get(name), (name,))]
    for path, text in (*own, *small.items()):
        for found in PATH.finditer(text):
            named = posixpath.normpath(found["path"])
            folder = next((folder for folder in gone if within(named, folder)), None)
            if folder is not None and not any(within(named, top) for top in there):
                yield removed_finding(source, path, named, gone[folder], mounts_by_name(job).get(gone[folder]))
                break


def removed_finding(source: Source, path: Path, named: str, mount: str, moved: str | None) -> Finding:
    """Return the finding on a path whose mount is gone, or is at another folder now."""
    change = f"moves {mount} to {moved!r}" if moved else f"removes {mount}"
    remedy = "change the path" if moved else "add it again, or change the path"
    return UNMOUNTED.at(source, path, f"{named!r} is on no volume, because this change {change}; {remedy}")


def value_of(source: Source) -> dict[str, Any]:
    """Return the fields of a job's file."""
    return source.document.value if source.document else {}


def mounts(job: Mapping[str, Any]) -> dict[str, str]:
    """Return the folders that a job mounts, each with what is mounted there, in words."""
    found = dict[str, str]()
    entries = [("checkpoint", job.get("checkpoint"))]
    entries += [(field, entry) for field in ("data", "mounts", "files") for entry in listed_maps(job.get(field))]
    for field, entry in entries:
        folder = entry.get("mountPath") if isinstance(entry, dict) else None
        if isinstance(folder, str) and isinstance(entry, dict) and folder.startswith("/"):
            name = entry.get("volume", "") if field in {"data", "mounts"} else ""
            found[posixpath.normpath(folder)] = f"{field} {name!r}" if name else field
    return found


def mounts_by_name(job: Mapping[str, Any]) -> dict[str, str]:
    """Return by what is mounted the folder where it is."""
    return {whose: folder for folder, whose in mounts(job).items()}


def listed_maps(value: Any) -> list[dict[str, Any]]:
    """Return the maps of a list."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
