"""What becomes of running jobs while an operator is replaced by another release: a file for each project."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from trainyard.specs.facts import read_facts
from trainyard.specs.models.base import Spec, Text, Version


class Left(Spec):
    """Objects that a chart made until a release, and that stay on the cluster, since Argo CD prunes nothing of it."""

    since: Version
    """The first release without them."""
    objects: tuple[Text, ...]
    """Kind, namespace and name of each, as in `Role jobset-system/jobset-controller`."""
    source: Text


class Upgrade(Spec):
    """What happens while the operator's own pods are replaced."""

    running: Text
    """What becomes of running jobs, in one sentence of lower case without a full stop."""
    meanwhile: Text
    """What waits, or is refused, until the new pods are ready."""
    drains: Literal["nvidia", "amd", "fabric"] | None = None
    """Nodes that are drained where the release brings another driver, and somebody syncs `hardware/`."""
    left: tuple[Left, ...] = ()
    """What its charts no longer make."""
    source: Text


@cache
def upgrades() -> Mapping[str, Upgrade]:
    """Return the facts of each project by name; raises SpecError where a file is damaged."""
    return read_facts(__name__, Upgrade, "upgrades")
