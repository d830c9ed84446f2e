"""What a release decides otherwise than the one before it: a file for each project, as data with sources."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from pydantic import Field

from trainyard.base.versions import line, order
from trainyard.specs.facts import read_facts
from trainyard.specs.models.base import Spec, Text

OfServers = Literal["refused", "accepted", "ignored", "served", "removed", "default", "nodes"]
"""What becomes of what is named: the server refuses it from then on, accepts it, leaves it out without a word, serves
the kind, serves it no more, gives another default, or nodes treat pods in another way."""

OfArgoCD = Literal["compares", "syncs", "health", "hydrates"]
"""What Argo CD does in another way: compare with the cluster, sync, tell health, or render into a branch."""

Word = Literal["before"] | OfServers | OfArgoCD
"""The same, or that something must be done before the update."""


class Change(Spec):
    """One difference to the release before."""

    word: Word
    kind: Text
    """The kind that it is about, as users write it; `kubelet` for what nodes do, or the program's name."""
    field: Text | None = None
    """The field, from the kind's root."""
    says: Text
    """What changed, in one sentence of lower case without a full stop."""
    gate: Text | None = None
    """The feature gate that decides it, whose default changed or that is off."""
    source: Text


class Changes(Spec):
    """All that is known of one project, by the release or the line of releases that brought it."""

    releases: Mapping[str, tuple[Change, ...]] = Field(default={})


@cache
def changes() -> Mapping[str, Changes]:
    """Return the changes of each project by name; raises SpecError where a file is damaged."""
    return read_facts(__name__, Changes, "changes")


def changes_between(project: str, before: str | None, after: str) -> tuple[Change, ...]:
    """Return the changes that a project's releases after one bring, up to another; empty where none is known.

    With None as the one before, those of the release's own line. A line, such as `1.37`, begins with its first release.
    """
    known = changes().get(project)
    if known is None:
        return ()
    passed = (
        release
        for release in known.releases
        if order(release) <= order(after)
        and (line(release) == line(after) if before is None else order(release) > order(before))
    )
    return tuple(change for release in sorted(passed, key=order) for change in known.releases[release])
