"""Windows in which hardware is left alone, as Argo CD reads them: one that it cannot read keeps nothing away."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.quantities import parse_duration
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.specs.models.argocd import Window
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.sources import Source
from trainyard.upstream.apiserver.core.schedules import parse_schedule
from trainyard.upstream.apiserver.core.timezones import is_zone

PARSER = "argoproj/argo-cd v3.2.6 pkg/apis/application/v1alpha1/types.go SyncWindow.Validate"

WINDOW = Rule(
    id="argo-window",
    title="Maintenance windows are valid for Argo CD.",
    why="Argo CD refuses the whole project, or opens the window at other times, and drains nodes while jobs run",
    fix="use five cron fields, a duration such as 8h, and a time zone such as Europe/Berlin",
    source=PARSER,
)
ALWAYS = Rule(
    id="argo-window-always",
    title="Hardware may be synced at some time of the week.",
    why="a window that is always open denies every sync, so that a new cluster never gets its NICs and drivers",
    fix="shorten duration, or name days in schedule",
    source="argoproj/argo-cd v3.2.6 docs/user-guide/sync_windows.md",
    severity=Severity.WARNING,
)
DAY = 24 * 3600 * 10**9
"""Nanoseconds."""


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield schedules, durations and time zones that Argo CD does not take."""
    for index, window in enumerate(cluster.argocd.hardware_deny):
        path: Path = ("argocd", "hardwareDeny", index)
        for field, wrong in (
            ("schedule", check_schedule(window)),
            ("duration", check_duration(window)),
            ("timeZone", check_zone(window)),
        ):
            if wrong:
                yield WINDOW.at(source, (*path, field), wrong)
        if is_always_open(window):
            message = f"the window opens each day for {window.duration}, so hardware is never synced; shorten it"
            yield ALWAYS.at(source, (*path, "duration"), message)


def is_always_open(window: Window) -> bool:
    """Whether a window opens on each day and for the whole of it."""
    days = window.schedule.split()[2:]
    return not check_duration(window) and set(days) <= {"*", "?"} and parse_duration(window.duration) >= DAY


def check_schedule(window: Window) -> str | None:
    """Return the problem with a schedule: Argo CD's parser takes no `@daily`, and the zone stands beside it."""
    text = window.schedule.strip()
    if text.startswith("@"):
        return f"schedule is {window.schedule!r}, but Argo CD accepts no names; write five fields, as 0 6 * * 1-5"
    if text.startswith(("TZ=", "CRON_TZ=")):
        return "schedule contains a time zone; move it to timeZone"
    wrong = parse_schedule(window.schedule)
    return (
        f"schedule is {window.schedule[:40]!r}, which is not a cron schedule ({wrong}); write as 0 6 * * 1-5"
        if wrong
        else None
    )


def check_duration(window: Window) -> str | None:
    """Return the problem with a duration, in Go's words, which have no days."""
    try:
        long = parse_duration(window.duration)
    except ValueError:
        return f"duration is {window.duration[:40]!r}, but must be hours and minutes, as 8h or 1h30m"
    return None if long > 0 else f"duration is {window.duration!r}, so the window never opens; use more than 0"


def check_zone(window: Window) -> str | None:
    """Return the problem with a time zone: Argo CD would take UTC in its place and say so in its log alone."""
    if window.time_zone == "Local" or not is_zone(window.time_zone):
        return f"timeZone is {window.time_zone[:40]!r}, which does not exist; write one as Europe/Berlin or UTC"
    return None
