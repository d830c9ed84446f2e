"""What a job's launcher and kind find themselves: they may come from packages of one's own."""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.base.findings import Finding
from trainyard.judge.preflight.subjects import RESOLVED, RUN, Planned
from trainyard.render.kinds import Resolved


@RUN.check()
def check_launcher(planned: Planned) -> Iterable[Finding]:
    """Return the launcher's findings on the job."""
    return planned.launcher.check(planned.run)


@RESOLVED.check()
def check_sized(run: Resolved) -> Iterable[Finding]:
    """Return the launcher's findings on the sizes of the job's pods."""
    return run.launcher.check_sized(run.run, run.sizing)


@RESOLVED.check()
def check_kind(run: Resolved) -> Iterable[Finding]:
    """Return the kind's findings on the run."""
    return run.kind.check(run)
