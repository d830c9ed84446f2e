"""Why a run comes in the place of another: the fields that changed, of its job, else of its objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.base.documents.differences import FieldChange, field_changes
from trainyard.change.plan.effects import Changed
from trainyard.specs.run import restarting_fields


def in_job(before: Any, after: Any) -> tuple[Changed, ...]:
    """Return the fields of a job's file that differ and restart it."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return ()
    old, new = restarting_fields(before), restarting_fields(after)
    return tuple(changed(field_change, field_change.path) for field_change in field_changes(old, new))


def in_objects(before: Sequence[Any], after: Sequence[Any], names: tuple[str, str]) -> tuple[Changed, ...]:
    """Return the fields that differ between the objects of two runs, each once, but for their names."""
    olds, news = (
        {str(item.get("kind")): item for item in side if isinstance(item, Mapping)} for side in (before, after)
    )
    if not olds or not news:
        return ()
    pairs = ((renamed(olds.get(kind, {}), names), news.get(kind, {})) for kind in sorted({*olds, *news}))
    found = (
        changed(field_change, shortened(field_change.path))
        for old, new in pairs
        for field_change in field_changes(old, new)
    )
    return tuple(dict.fromkeys(found))


def renamed(value: Any, names: tuple[str, str]) -> Any:
    """Return the objects of a run as they would be called under another's name."""
    if isinstance(value, str):
        return value.replace(*names)
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    return {key: renamed(entry, names) for key, entry in value.items()} if isinstance(value, Mapping) else value


def changed(field_change: FieldChange, field: str) -> Changed:
    """Return a field that differs as a plan says it."""
    return Changed(field, field_change.before, field_change.after)


def shortened(path: str) -> str:
    """Return a path without what leads to the container that it is of.

    >>> shortened("spec.replicatedJobs[0].template.spec.template.spec.containers[0].args[3]")
    'args[3]'
    """
    return path.rpartition("containers[0].")[2].rpartition("template.spec.")[2].removeprefix("spec.")
