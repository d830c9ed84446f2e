"""The files of jobs and clusters as a person names them on the command line."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from trainyard.base.errors import SpecError
from trainyard.base.findings import choices_text, did_you_mean
from trainyard.base.system import files
from trainyard.base.system.repository import CLUSTERS, JOBS, job_file
from trainyard.specs.reading.layout import Place
from trainyard.specs.reading.python_jobs import may_make


def job_of(name: str, root: Path) -> str:
    """Return `<team>/<job>` of itself, or of the path of the job's file, from the root or from the folder at hand."""
    folder, path = (root / JOBS).resolve(), Path(name)
    if path.suffix in {".yaml", ".py"} and path.exists() and (there := path.resolve()).is_relative_to(folder):
        return there.relative_to(folder).as_posix().removesuffix(".yaml")
    return name.removeprefix("./").removeprefix(f"{JOBS}/").removesuffix(".yaml")


def cluster_of(name: str, known: Collection[str]) -> str:
    """Return a cluster by its name, or the path of its file; raises SpecError for one that does not exist."""
    found = name.removeprefix("./").removeprefix(f"{CLUSTERS}/").removesuffix(".yaml")
    if found not in known:
        raise SpecError(f"cluster {found!r} does not exist; {did_you_mean(found, known)}")
    return found


def find_job(root: Path, name: str, way: str = "set the field") -> tuple[str, str]:
    """Return team and job of `nlp/llm` or `jobs/nlp/llm.yaml`; raises SpecError where no such file can be edited.

    `way` is what a person does where a program makes the job.
    """
    short = job_of(name, root)
    team, _, job = short.partition("/")
    if not team or not job or "/" in job or team.startswith(".") or job.startswith("."):
        called = [job_name for job_name in written_jobs(root) if not job and job_name.endswith(f"/{team}")]
        raise SpecError(f"{name!r} must be <team>/<job>" + (f"; did you mean {called[0]!r}?" if called else ""))
    if (root / job_file(team, job)).is_file():
        return team, job
    if short.endswith(".py") or (root / JOBS / team / f"{job}.py").is_file():
        file = f"{JOBS}/{team}/{job.removesuffix('.py')}.py"
        raise SpecError(f"{team}/{job.removesuffix('.py')} is a program; {way} in {file}")
    for path in (one_file.path for one_file in files.walk(root / JOBS) if one_file.path.count("/") == 1):
        if path.endswith(".py") and short.startswith(path.removesuffix(".py") + "-"):
            raise SpecError(f"{short} belongs to a program; {way} in {JOBS}/{path}")
    raise SpecError(f"job {short!r} does not exist; {did_you_mean(short, written_jobs(root))}")


def written_jobs(root: Path) -> list[str]:
    """Return `<team>/<job>` of every job that has a file of its own."""
    paths = (file.path for file in files.walk(root / JOBS) if file.path.count("/") == 1)
    return [path.removesuffix(".yaml") for path in paths if path.endswith(".yaml")]


def unknown_job(job: str, known: Collection[str], idle: Iterable[Place]) -> SpecError:
    """Return the problem with a name `<team>/<job>` that no job has: a program that is not run may make it."""
    team, _, name = job.partition("/")
    if program := next((place for place in idle if may_make(place, team, name)), None):
        return SpecError(f"job {job!r} belongs to {program.path}, which was not executed; use --python to run it")
    if mine := sorted(job_name for job_name in known if not name and job_name.startswith(f"{team}/")):
        return SpecError(f"{job!r} must be <team>/<job>; {choices_text(mine, limit=len(mine))}")
    return SpecError(f"job {job!r} does not exist; {did_you_mean(job, known)}")
