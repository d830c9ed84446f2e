"""What would be wrong with a job if it named another kind: everything that is said of a job, of a copy that does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from trainyard.base.findings import Finding
from trainyard.base.system.data import policy_files
from trainyard.judge.policies.policy import usable
from trainyard.judge.preflight import jobs
from trainyard.judge.preflight.job import objects
from trainyard.render.kinds import Resolved
from trainyard.specs.sources import JobFile, Specs


def instead(specs: Specs, file: JobFile, kind: str, *, home: Path) -> tuple[Resolved | None, list[Finding]]:
    """Return the run of a job in another kind, None where it cannot be rendered, and what is wrong with it.

    `home` is the repository whose policies count, as far as they can be used.
    """
    other = replace(file, job=file.job.model_copy(update={"kind": kind}))
    run, findings = jobs.check(specs, other)
    if run is not None:
        policies = usable(path for path in policy_files(home) if path.suffix == ".py")
        findings += (finding for _, finding in objects.check(specs, [run], policies, home))
    return run, list(dict.fromkeys(findings))
