"""The pictures that the documentation shows: of a cluster of this repository, and a change that is made up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from trainyard.base.system.trust import idle
from trainyard.faces.pictures import pictures
from trainyard.faces.pictures.decided import between, declared
from trainyard.judge.admission.site import Site
from trainyard.judge.preflight import Checked, check_repository

ROOT = Path(__file__).resolve().parent.parent
CLUSTER, STARTS, ENDS = "atlas", "vision/nccl-atlas", "nlp/mlperf-llama31-8b"
"""The change of the documentation: one job starts there, another ends."""


def drawn() -> Iterator[tuple[str, str]]:
    """Yield the names and the texts of the pictures; programs that make jobs are not run."""
    with idle():
        checked = check_repository(ROOT)
    old, new = (declared(without_job(checked, job), CLUSTER) for job in (STARTS, ENDS))
    before, now = between(old, new, Site.answered)
    if now is None:
        raise SystemExit(f"cluster {CLUSTER!r} of docs/reviewing.md does not exist")
    yield from ((picture.file, picture.svg) for picture in pictures(CLUSTER, before, now, compared=True))


def without_job(checked: Checked, job: str) -> Checked:
    """Return the specs without a job."""
    jobs = tuple(one_job for one_job in checked.specs.jobs if f"{one_job.team}/{one_job.name}" != job)
    return replace(checked, specs=replace(checked.specs, jobs=jobs))
