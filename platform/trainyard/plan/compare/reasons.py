"""Why a run comes in the place of another: the fields that changed, of its job, else of its objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.documents.differences import FieldChange, told
from trainyard.plan.effects import Changed
from trainyard.specs.run import OUTSIDE_DIGEST


def in_job(before: Any, after: Any) -> tuple[Changed, ...]:
    """Return the fields of a job's file that differ and restart it."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return ()
    old, new = ({key: each[key] for key in each if key not in OUTSIDE_DIGEST} for each in (before, after))
    return tuple(changed(each, each.path) for each in told(old, new))


def in_objects(before: Sequence[Any], after: Sequence[Any], names: tuple[str, str]) -> tuple[Changed, ...]:
    """Return the fields that differ between the objects of two runs, each once, but for their names."""
    olds, news = (
        {str(each.get("kind")): each for each in side if isinstance(each, Mapping)} for side in (before, after)
    )
    if not olds or not news:
        return ()
    pairs = ((renamed(olds.get(kind, {}), names), news.get(kind, {})) for kind in sorted({*olds, *news}))
    found = (changed(each, shortened(each.path)) for old, new in pairs for each in told(old, new))
    return tuple(dict.fromkeys(found))


def renamed(value: Any, names: tuple[str, str]) -> Any:
    """Return the objects of a run as they would be called under another's name."""
    if isinstance(value, str):
        return value.replace(*names)
    if isinstance(value, list):
        return [renamed(each, names) for each in value]
    return {key: renamed(each, names) for key, each in value.items()} if isinstance(value, Mapping) else value


def changed(each: FieldChange, field: str) -> Changed:
    """Return a field that differs as a plan says it."""
    return Changed(field, each.before, each.after)


def shortened(path: str) -> str:
    """Return a path without what leads to the container that it is of.

    >>> shortened("spec.replicatedJobs[0].template.spec.template.spec.containers[0].args[3]")
    'args[3]'
    """
    return path.rpartition("containers[0].")[2].rpartition("template.spec.")[2].removeprefix("spec.")
