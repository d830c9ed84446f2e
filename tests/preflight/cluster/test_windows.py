"""Windows of Argo CD are as Argo CD reads them: argo-cd v3.2.6 SyncWindow.Validate."""

from __future__ import annotations

import pytest

from make import CLUSTER, fields, make_cluster, make_source
from trainyard.judge.preflight.cluster import windows

DAYS = "0 6 * * 1-5"

WRONG = {
    "words": ({"schedule": "every day", "duration": "8h"}, "schedule", "expected exactly 5 fields, found 2"),
    "four fields": ({"schedule": "0 6 * *", "duration": "8h"}, "schedule", "found 4"),
    "six fields": ({"schedule": "0 0 6 * * 1-5", "duration": "8h"}, "schedule", "found 6"),
    "an hour that is none": ({"schedule": "0 24 * * *", "duration": "8h"}, "schedule", "must lie within 0-23"),
    "a day that is none": ({"schedule": "0 6 * * 7", "duration": "8h"}, "schedule", "must lie within 0-6"),
    "a name, which Argo CD alone does not take": ({"schedule": "@daily", "duration": "8h"}, "schedule", "five fields"),
    "a zone before the schedule": ({"schedule": f"TZ=UTC {DAYS}", "duration": "8h"}, "schedule", "to timeZone"),
    "a duration in days": ({"schedule": DAYS, "duration": "1d"}, "duration", "must be hours and minutes"),
    "a duration in words": ({"schedule": DAYS, "duration": "8 hours"}, "duration", "must be hours and minutes"),
    "a duration without a unit": ({"schedule": DAYS, "duration": "8"}, "duration", "must be hours and minutes"),
    "no time at all": ({"schedule": DAYS, "duration": "0h"}, "duration", "never opens"),
    "a time that is less than none": ({"schedule": DAYS, "duration": "-8h"}, "duration", "never opens"),
    "a zone that is none": (
        {"schedule": DAYS, "duration": "8h", "timeZone": "Mars/Base"},
        "timeZone",
        "'Mars/Base', which does not exist",
    ),
    "the zone of whoever runs it": ({"schedule": DAYS, "duration": "8h", "timeZone": "Local"}, "timeZone", "exist"),
}

RIGHT = {
    "working days": {"schedule": DAYS, "duration": "14h"},
    "names of days and months": {"schedule": "0 6 1-7 jan-mar MON", "duration": "1h30m"},
    "steps and lists": {"schedule": "*/15 0,12 * * 1-5/2", "duration": "10m"},
    "a zone": {"schedule": DAYS, "duration": "8h", "timeZone": "Europe/Berlin"},
    "another": {"schedule": "? 6 * * ?", "duration": "7.5h", "timeZone": "Etc/GMT+5"},
}


def found(window):
    """Return field and message of what is wrong with a window."""
    argocd = {**CLUSTER["argocd"], "hardwareDeny": [{"schedule": DAYS, "duration": "8h"}, window]}
    source = make_source("platform/clusters/test.yaml", fields(CLUSTER, {"argocd": argocd}))
    return [(item.path, item.message) for item in windows.check(make_cluster(argocd=argocd), source)]


@pytest.mark.parametrize(("window", "field", "said"), WRONG.values(), ids=WRONG)
def test_a_window_that_argo_cd_does_not_take(window, field, said):
    """It is told at its own field, and nothing else is."""
    ((path, message),) = found(window)
    assert path == f"argocd.hardwareDeny[1].{field}"
    assert said in message


@pytest.mark.parametrize("window", RIGHT.values(), ids=RIGHT)
def test_a_window_that_argo_cd_takes(window):
    """Whatever its parser reads is fine."""
    assert found(window) == []


@pytest.mark.parametrize(
    ("schedule", "duration", "found"), [("0 0 * * *", "24h", 1), ("0 0 * * *", "23h", 0), ("0 0 * * 1-5", "24h", 0)]
)
def test_a_window_that_is_always_open_denies_every_sync(schedule, duration, found):
    """At its length, unless there are days or hours without it."""
    said = {**CLUSTER["argocd"], "hardwareDeny": [{"schedule": schedule, "duration": duration}]}
    changes = {"argocd": said}
    source = make_source("platform/clusters/test.yaml", fields(CLUSTER, changes))
    told = [(item.rule, item.path) for item in windows.check(make_cluster(**changes), source)]
    assert told == [("argo-window-always", "argocd.hardwareDeny[0].duration")] * found
