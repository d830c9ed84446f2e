"""What a reviewer has to see of a job: patches, waivers, everything outside of our containers, loosened security."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trainyard.base.credentials import hide, leaks
from trainyard.base.documents.differences import abridge_digests, flat
from trainyard.base.findings import Path, format_path
from trainyard.change.plan.compare.security import each, loosened
from trainyard.change.plan.effects import Mark

SHOWN = 3
"""Fields of a patch that are named."""

LONGEST = 60
"""Characters of a value that are shown."""

CONTAINERS = {"containers": "container", "initContainers": "init container"}


def marks(job: Any, objects: Sequence[Any], before: Iterable[Mark] | None = ()) -> tuple[Mark, ...]:
    """Return the marks of a run: of its job's fields as written, and of its objects.

    `before` are those of the run in whose place it comes: none where it comes in no other's, None where nobody knows.
    """
    found = [*of_job(job), *(Mark("security", what) for what in loosened(objects))]
    if before is None:
        return tuple(replace(mark, was="unknown") for mark in found)
    return compared(found, list(before))


def compared(found: Sequence[Mark], known: Sequence[Mark]) -> tuple[Mark, ...]:
    """Return marks with whether they were there before, and those that were and are no more."""
    there = {(mark.word, mark.what) for mark in found}
    same = {(mark.word, mark.what, mark.reason) for mark in known}
    now = (replace(mark, was="as before") if (mark.word, mark.what, mark.reason) in same else mark for mark in found)
    gone = (replace(mark, was="gone") for mark in known if (mark.word, mark.what) not in there)
    return (*now, *gone)


def of_job(job: Any) -> Iterator[Mark]:
    """Yield the patches, waivers and extra containers of a job's file, without credentials."""
    secret = {leak.value for leak in leaks(job)}
    for mark in said_by(job):
        yield replace(mark, what=abridge_digests(hide(mark.what, secret)), reason=hide(mark.reason, secret))


def said_by(job: Any) -> Iterator[Mark]:
    """Yield the same with the values as they are written."""
    if not isinstance(job, Mapping):
        return
    for patch in each(job.get("patches")):
        role = f" of role {patch['role']}" if patch.get("role") else ""
        said = list(leaves(patch.get("merge"), ()))
        more = f" and {len(said) - SHOWN} more" if len(said) > SHOWN else ""
        what = f"{patch.get('object')}{role}: {', '.join(said[:SHOWN])}{more}"
        yield Mark("patch", what, text(patch.get("reason")))
    waived = job.get("waive")
    if isinstance(waived, Mapping):
        yield from (Mark("waiver", str(rule), text(reason)) for rule, reason in sorted(waived.items(), key=str))
    for field, name in CONTAINERS.items():
        for container in each(job.get(field)):
            yield Mark("outside", f"{name} {container.get('name')}: {flat(container.get('image'))}")
    for volume in each(job.get("volumes")):
        sort = ", ".join(sorted(map(str, set(volume) - {"name"}))) or "emptyDir"
        yield Mark("outside", f"volume {volume.get('name')}: {sort}")
    if job.get("serviceAccount"):
        yield Mark("outside", f"service account {job['serviceAccount']}")


def leaves(value: Any, path: Path) -> Iterator[str]:
    """Yield every value of a patch with its path, without the names by which entries of lists are found."""
    if isinstance(value, Mapping) and value:
        fields = {key: item for key, item in value.items() if key != "name" or len(value) == 1 or not path}
        for key, item in fields.items():
            yield from leaves(item, (*path, str(key)))
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        for item in value:
            named = item.get("name") if isinstance(item, Mapping) else None
            yield from leaves(item, (*path[:-1], f"{path[-1]}[{named}]") if named and path else path)
    else:
        shown = ", ".join(map(flat, value)) if isinstance(value, list) else flat(value, str(path[-1]) if path else "")
        shown = shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"
        yield f"{format_plain(path)} = {shown}"


def format_plain(path: Path) -> str:
    """Return a path whose parts may say the name of an entry, as in `containers[trainer]`."""
    return ".".join(str(part) if "[" in str(part) else format_path((part,)) for part in path)


def text(reason: Any) -> str:
    """Return a reason on one line."""
    return flat(reason) if reason is not None else ""
