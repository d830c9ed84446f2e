"""An Application that syncs by itself tries long enough for what it needs to come up.

Why: after its last attempt Argo CD never tries a revision again, whatever selfHeal says; on a new or rebuilt cluster
 types, namespaces and webhooks come minutes later.
Fix: write retry with limit: -1 or 30, backoff from 10s by 2 up to 3m, and refresh: true.
Source: argoproj/argo-cd v3.5.1 controller/appcontroller.go autoSync, alreadyAttemptedSync
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Manifest, Place, Problem, Severity, World

SEVERITY = Severity.WARNING
ENOUGH = 900
"""Seconds, a quarter of an hour: in which the operators of a new cluster come up."""

DEFAULT = {"limit": 5}
"""What counts where an Application says nothing (controller/appcontroller.go autoSync)."""

UNITS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def check(world: World) -> Iterator[Problem]:
    """Look at the Applications that make up a cluster: several with one destination, each needs what others bring."""
    syncing = [application for application in world.of("Application", group="argoproj.io") if automated(application)]
    together = Counter(map(destination, syncing))
    for application in syncing:
        retry = application.get("spec", "syncPolicy", "retry", default=DEFAULT)
        if together[destination(application)] > 1 and isinstance(retry, Mapping):
            seconds = lasts(retry)
            if seconds is not None and seconds < ENOUGH:
                path = ("spec", "syncPolicy", "retry")
                message = (
                    f"a sync that fails is tried for {seconds:.0f} s, and never again; let it retry for {ENOUGH} s"
                )
                yield Problem(Place(application, path), message)


def automated(application: Manifest) -> bool:
    """Say whether an Application syncs by itself."""
    found = application.get("spec", "syncPolicy", "automated")
    return isinstance(found, dict) and found.get("enabled") is not False


def destination(application: Manifest) -> tuple[str, str]:
    """Return the cluster that an Application is for."""
    return application.text("spec", "destination", "server"), application.text("spec", "destination", "name")


def lasts(retry: Mapping[str, Any]) -> float | None:
    """Return for how many seconds attempts go on, None where they never end (RetryStrategy.NextRetryAt)."""
    limit = retry.get("limit", 0)
    if not isinstance(limit, int) or limit < 0:
        return None
    given = retry.get("backoff")
    backoff = given if isinstance(given, Mapping) else {}
    first, most = seconds_of(backoff.get("duration", "5s")), seconds_of(backoff.get("maxDuration", "3m"))
    factor = backoff.get("factor", 2)
    steps: list[float] = [
        first * (factor if isinstance(factor, int) else 2) ** attempt for attempt in range(min(limit, 60))
    ]
    return sum(min(step, most) for step in steps) + most * max(0, limit - 60)


def seconds_of(text: Any) -> float:
    """Return the seconds of a duration as Go writes it, or of a bare number."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|[smh]?)", str(text))
    return sum(float(number) * UNITS[unit] for number, unit in parts)
