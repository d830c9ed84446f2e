"""The file of a job as a person names it on the command line."""

from __future__ import annotations

from pathlib import Path

from trainyard.errors import SpecError
from trainyard.findings import did_you_mean
from trainyard.system import files
from trainyard.system.repository import JOBS, job_file


def job_of(name: str) -> str:
    """Return `<team>/<job>` of itself, or of the path of the job's file."""
    return name.removeprefix("./").removeprefix(f"{JOBS}/").removesuffix(".yaml")


def find_job(root: Path, name: str) -> tuple[str, str]:
    """Return team and job of `nlp/llm` or `jobs/nlp/llm.yaml`; raises SpecError where no such file can be edited."""
    short = job_of(name)
    team, _, job = short.partition("/")
    if not team or not job or "/" in job or team.startswith(".") or job.startswith("."):
        raise SpecError(f"{name!r} should be <team>/<job>")
    if (root / job_file(team, job)).is_file():
        return team, job
    if name.endswith(".py") or (root / JOBS / team / f"{job}.py").is_file():
        raise SpecError(f"{team}/{job.removesuffix('.py')} is a program; set the field where it makes the job")
    paths = [each.path for each in files.walk(root / JOBS) if each.path.count("/") == 1]
    for path in paths:
        if path.endswith(".py") and short.startswith(path.removesuffix(".py") + "-"):
            raise SpecError(f"{short} is no file; set the field where {JOBS}/{path} makes the job")
    known = [path.removesuffix(".yaml") for path in paths if path.endswith(".yaml")]
    raise SpecError(f"job {short!r} does not exist; {did_you_mean(short, known)}")
