"""Everything that a synth and the judgement of its objects say of a repository, whether its tree is at hand or not."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from trainyard.checks.repository import validate_repository
from trainyard.checks.result import Result
from trainyard.errors import ToolError
from trainyard.findings import Skipped
from trainyard.plan.read import judged_objects as objects
from trainyard.specs.sources import Printed
from trainyard.synth import session
from trainyard.system import git
from trainyard.system.node import node, point_jsii_at_node
from trainyard.tree.snapshot import Snapshot

NO_SYNTH = "the extra 'synth' of Trainyard is not installed, so objects are judged as generated/ has them"
REFUSED = "objects are judged once synth refuses nothing"


def everything(
    root: Path,
    version: str,
    *,
    ref: str | None = None,
    automated: bool = False,
    watch: Callable[[float], None] = lambda _: None,
) -> tuple[Result, tuple[Printed, ...]]:
    """Return all findings, and what programs that make jobs print.

    Objects are judged as a synth would write them. What is missing here, as Node, Git or kubeconform, is said to have
    been skipped. Raises SpecError where the folder is no repository, and ToolError where the base cannot be told.
    """
    result = Result()
    printed: tuple[Printed, ...] = ()
    tree: Snapshot | None = None
    if git.find(root) is None:
        result.skipped.append(Skipped("base", f"{git.absent()}, so nothing is compared with a base"))
    result.skipped += objects.skipped(root)
    outcome, missing = rendered(root, version, ref, automated=automated, watch=watch)
    if outcome is None:
        result.skipped.append(Skipped("rendering", missing))
    else:
        result.add(outcome.findings)
        printed = outcome.printed
        if outcome.tree is None:
            result.skipped.append(Skipped("objects", REFUSED))
            return result, printed
        tree = outcome.tree.snapshot
    result.extend(validate_repository(root, base=ref, tree=tree, second=objects.second_engine(root)))
    result.say_once()
    return result, printed


def rendered(
    root: Path, version: str, ref: str | None, *, automated: bool, watch: Callable[[float], None]
) -> tuple[session.Outcome | None, str]:
    """Return what a synth comes to, or None and what it lacks."""
    if find_spec("cdk8s") is None:
        return None, NO_SYNTH
    try:
        point_jsii_at_node()
        if not node().exists():
            return None, "Node is missing, so objects are judged as generated/ has them"
    except ToolError as error:
        return None, str(error)
    outcome = session.run(root, version, ref=ref, checking=True, automated=automated, show=watch)
    outcome.save()
    return outcome, ""
