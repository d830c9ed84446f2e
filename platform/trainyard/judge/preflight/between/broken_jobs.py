"""What jobs with broken fields name; what they ask for is unknown until they are corrected."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.judge.preflight.declared import Look
from trainyard.judge.preflight.jobs import run_of
from trainyard.judge.preflight.subjects import BETWEEN, NAMED, OneJob
from trainyard.specs.load import Loaded
from trainyard.specs.reading import document


@BETWEEN.check()
def check(loaded: Loaded) -> Iterator[Finding]:
    """Yield names in broken jobs that do not exist or are not for them; guessed fields are left out."""
    for file in loaded.rest:
        if not file.job.retired:
            look = Look()
            look.ask(NAMED, OneJob(loaded.specs, file, run_of(loaded.specs, file), loaded.broken))
            yield from (finding for finding in look.findings if document.field(finding.path or "") not in file.guessed)
