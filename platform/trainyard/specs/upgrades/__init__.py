"""What becomes of running jobs while an operator is replaced by another release: a file for each project."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from trainyard.specs.facts import read_facts
from trainyard.specs.models.base import Spec, Text, Version


class Since(Spec):
    """Objects that a chart makes since a release, or no longer makes; those of the other release stay on the cluster.

    Argo CD prunes nothing of a chart.
    """

    since: Version
    """The first release with them, or without them."""
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
    left: tuple[Since, ...] = ()
    """What its charts no longer make: an upgrade leaves it behind."""
    made: tuple[Since, ...] = ()
    """What only newer charts make: a downgrade leaves it behind."""
    source: Text


@cache
def upgrades() -> Mapping[str, Upgrade]:
    """Return the facts of each project by name; raises SpecError where a file is damaged."""
    return read_facts(__name__, Upgrade, "upgrades")
