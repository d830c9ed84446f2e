"""Everything that a synth and the judgement of its objects say of a repository, whether its tree is at hand or not."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from trainyard.base.errors import ToolError
from trainyard.base.findings import Skipped
from trainyard.base.system import git
from trainyard.base.system.node import node, point_jsii_at_node
from trainyard.base.system.repository import GENERATED
from trainyard.change.plan.read import judged_objects as objects
from trainyard.change.synth import session
from trainyard.judge.checks.left_out import EVERYTHING, JudgedSpecs, NamedJob, hindering
from trainyard.judge.checks.repository import judge_repository, validate_repository
from trainyard.judge.checks.result import Result
from trainyard.specs.sources import Printed

NO_SYNTH = "the extra 'synth' of Trainyard is not installed; the files in generated/ were checked as they are"


def everything(
    root: Path,
    version: str,
    *,
    ref: str | None = None,
    automated: bool = False,
    about: Sequence[str] | None = None,
) -> tuple[Result, tuple[Printed, ...]]:
    """Return all findings, and what programs that make jobs print; with `about`, on objects those of a few files.

    Objects are judged as a synth would write them. What is missing here, as Node, Git or kubeconform, is said to have
    been skipped. Raises SpecError where the folder is no repository, and ToolError where the base cannot be told.
    """
    result = Result()
    if git.find(root) is None:
        result.skipped.append(Skipped("base", f"{git.absent()}; nothing was compared with a base"))
    result.skipped += objects.skipped(root)
    outcome, missing = rendered(root, version, ref, automated=automated)
    if outcome is None:
        result.skipped.append(Skipped("rendering", missing))
        result.extend(validate_repository(root, base=ref, second=objects.second_engine(root)))
        return result, ()
    result.extend(of_outcome(root, outcome, ref=ref, about=about))
    return result, outcome.printed


def of_outcome(
    root: Path, outcome: session.Outcome, *, ref: str | None = None, about: Sequence[str] | None = None
) -> Result:
    """Return the findings of a synth, and those on the objects that it would write, but for what has an error.

    With `about`, only the clusters are judged on which jobs of these files and folders run, or of which these are.
    """
    result = Result(findings=list(outcome.findings))
    if outcome.judged is None:
        result.hindering = hindering(result.findings, ())
        result.skipped.append(Skipped("objects", EVERYTHING))
        return result
    specs, second = outcome.judged.specs(), objects.second_engine(root)
    clusters = None if about is None else sorted(clusters_of(specs, about))
    result.hindering = hindering(result.findings, jobs_in(specs, about or ()), outcome.judged.readable)
    result.extend(judge_repository(root, specs, clusters=clusters, base=ref, second=second))
    result.say_once()
    return result


def clusters_of(specs: JudgedSpecs, about: Sequence[str]) -> set[str]:
    """Return the clusters that files and folders below `jobs/` and `generated/` concern."""
    jobs = {job.cluster for job in jobs_in(specs, about)}
    trees = {path.split("/")[1] for path in about if path.startswith(f"{GENERATED}/")}
    return (jobs | trees) & {*specs.checked.specs.clusters}


def jobs_in(specs: JudgedSpecs, about: Sequence[str]) -> list[NamedJob]:
    """Return the jobs of these files and folders."""
    return [job for job in specs.jobs if any(f"{job.file}/".startswith(f"{path}/") for path in about)]


def rendered(root: Path, version: str, ref: str | None, *, automated: bool) -> tuple[session.Outcome | None, str]:
    """Return the outcome of a synth, or None and the missing tool."""
    if find_spec("cdk8s") is None:
        return None, NO_SYNTH
    try:
        point_jsii_at_node()
        if not node().exists():
            return None, "Node is missing; the files in generated/ were checked as they are"
    except ToolError as error:
        return None, str(error)
    outcome = session.run(root, version, ref=ref, checking=True, automated=automated, looking=True)
    outcome.save()
    return outcome, ""
