"""An Application that syncs automatically must retry for at least 15 minutes.

Why: After its last retry Argo CD never tries that revision again, even with selfHeal. On a new cluster, CRDs,
 namespaces and webhooks may appear only minutes later.
Fix: write retry: {limit: -1, refresh: true, backoff: {duration: 10s, factor: 2, maxDuration: 3m}}.
Source: argoproj/argo-cd v3.5.1 controller/appcontroller.go autoSync, alreadyAttemptedSync
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.checks import Manifest, Place, Problem, Severity, World

SEVERITY = Severity.WARNING
ENOUGH = 900
"""Seconds (15 minutes) in which the operators of a new cluster become ready."""

DEFAULT = {"limit": 5}
"""The retry of an Application without one (controller/appcontroller.go autoSync)."""

UNITS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def check(world: World) -> Iterator[Problem]:
    """Check Applications that share a destination: each may need objects that another one creates."""
    syncing = [application for application in world.of("Application", group="argoproj.io") if is_automated(application)]
    applications = Counter(map(destination, syncing))
    for application in syncing:
        retry = application.get("spec", "syncPolicy", "retry", default=DEFAULT)
        if applications[destination(application)] > 1 and isinstance(retry, Mapping):
            seconds = retry_seconds(retry)
            if seconds is not None and seconds < ENOUGH:
                path = ("spec", "syncPolicy", "retry")
                message = (
                    f"Argo CD gives up on a failed sync after {seconds:.0f} s; let it retry for at least {ENOUGH} s"
                )
                yield Problem(Place(application, path), message)


def is_automated(application: Manifest) -> bool:
    """Say whether an Application syncs automatically."""
    found = application.get("spec", "syncPolicy", "automated")
    return isinstance(found, dict) and found.get("enabled") is not False


def destination(application: Manifest) -> tuple[str, str]:
    """Return the server and the name of an Application's cluster."""
    return application.text("spec", "destination", "server"), application.text("spec", "destination", "name")


def retry_seconds(retry: Mapping[str, Any]) -> float | None:
    """Return the seconds until the last retry, None if retries never end (RetryStrategy.NextRetryAt)."""
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
    """Return the seconds of a duration in Go's form, or of a plain number."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|[smh]?)", str(text))
    return sum(float(number) * UNITS[unit] for number, unit in parts)
