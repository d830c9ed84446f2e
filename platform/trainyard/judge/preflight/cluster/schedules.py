"""Whether Kubernetes takes the time at which a cluster's own Jobs begin."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.specs.models.health import BurnIn
from trainyard.specs.models.storage import Snapshots
from trainyard.specs.sources import Source
from trainyard.upstream.apiserver.core.schedules import ever_comes, parse_schedule
from trainyard.upstream.apiserver.core.timezones import is_zone


def times(rule: Rule, source: Source, at: Path, said: BurnIn | Snapshots, usual: str) -> Iterator[Finding]:
    """Yield a schedule or a time zone below `at` that Kubernetes does not take; a `usual` schedule shows the form."""
    wrong = parse_schedule(said.schedule)
    if wrong is not None:
        message = f"schedule is {said.schedule!r}, but {wrong}; use five fields such as {usual!r}"
        yield rule.at(source, (*at, "schedule"), message)
    elif not ever_comes(said.schedule):
        message = f"schedule is {said.schedule!r}, a day that never comes; use {usual!r}, or another day of the month"
        yield rule.at(source, (*at, "schedule"), message)
    if not is_zone(said.time_zone):
        message = f"timeZone {said.time_zone!r} does not exist; use a name such as 'Europe/Berlin'"
        yield rule.at(source, (*at, "timeZone"), message)
