"""The rules of the generated tree: what is frozen, what was used up, and what nobody here made."""

from __future__ import annotations

from trainyard.base.findings import Location, Severity
from trainyard.base.rules import Rule
from trainyard.base.system.repository import GENERATED

DESIGN = "docs/architecture.md"


def rule(topic: str, title: str, why: str, fix: str, *, warns: bool = False) -> Rule:
    """Return a rule of the layer `run`; some that are errors in a check are warnings in a synth."""
    return Rule(f"run/{topic}", title, why, fix, DESIGN, layer="run", may_warn=warns)


def place(path: str = "") -> Location:
    """Return the place of a file or folder below `generated/`."""
    return Location(f"{GENERATED}/{path}".rstrip("/"))


FROZEN = rule(
    "frozen",
    "The files of a run do not change after the merge that started it.",
    "Argo CD would replace the running job and lose its progress",
    "run `trainyard synth` to restore them",
)
LEDGER = rule(
    "ledger",
    "A ledger keeps all its entries.",
    "a used name could return, and start a finished run again",
    "run `trainyard synth` to restore it, or compare with a commit before the damage",
)
LIVE = rule(
    "live",
    "A repository that clusters sync stays live.",
    "without live: true every run is rendered again, which replaces running jobs",
    "keep live: true",
)
NAME_USED = rule(
    "name-used",
    "A run's name is never used again.",
    "the job would start under the name of a finished run, and Argo CD could not distinguish them",
    "raise `run:` to run the same spec again",
)
JOB_GONE = rule(
    "job-gone",
    "The file of a running job stays until the job is retired.",
    "deleting or renaming the file by mistake would stop the run",
    "set retired: true and merge that first, then delete the file",
)
IN_USE = rule(
    "in-use",
    "Queues, volumes and other objects that a frozen run refers to stay.",
    "the run would lose its queue, volume or network when it restarts",
    "retire these runs first, or keep the object under this name",
)
NAMESPACE_CHANGED = rule(
    "namespace-changed",
    "A team keeps its namespace while it has runs there.",
    "Argo CD would no longer see the old namespace: its runs train on, unseen, and their data stay behind",
    "keep the namespace; or retire these runs, merge and sync that, and then change it",
)
RUNTIME_CHANGED = rule(
    "runtime-changed",
    "A runtime that a frozen run refers to does not change.",
    "Kueue counts a run's pods by the current runtime, and stops a run that no longer matches",
    "add the new runtime under another name, and keep this one until these runs are retired",
)
HARDWARE = rule(
    "hardware-with-runs",
    "A change that drains nodes does not also change runs of that cluster.",
    "runs would start on nodes that are about to be drained",
    "merge and sync the hardware change first, then the runs",
)
STALE = rule(
    "stale",
    "The files in generated/ are those that the specs produce.",
    "reviewers and Argo CD would see other objects than the specs describe",
    "run `trainyard synth`",
)
UNKNOWN = rule(
    "unknown",
    "Every run in generated/ belongs to a job file.",
    "a cluster would start a run that no job file describes",
    "run `trainyard synth` to remove it, or write a job file for it",
)
FOREIGN = rule(
    "foreign-file",
    "Every file in generated/ was written by synth.",
    "Argo CD applies it, even if hidden, although nobody reviewed a spec for it",
    "move the file elsewhere; your own objects belong in platform/extra/",
    warns=True,
)
UNSEEN = Rule(
    id="run/unseen",
    title="The folder generated/ and the specs are the same in Git and on disk, as plain files.",
    why="clusters get the content in Git; a submodule or a converted file differs on disk, so checks would miss it",
    fix="remove the filter or link, and the lines in .gitattributes that name it",
    source="git v2.47 Documentation/{gitattributes,gitsubmodules,git-sparse-checkout}.txt",
    layer="run",
)
LEFTOVER = rule(
    "leftover",
    "The folder generated/ contains no remains of an interrupted synth.",
    "an incomplete file could be taken for a complete one",
    "remove the file, or run `trainyard synth`",
)
IN_THE_WAY = rule(
    "in-the-way",
    "No other file or folder blocks a path that synth writes.",
    "synth could not write all files",
    "remove that file or folder",
)
UNPROVEN = Rule(
    id="run/unproven",
    title="Git's history proves which runs are frozen.",
    why="otherwise nobody would notice a rewritten ledger",
    fix="run the check in a Git repository with full history, and with everything installed",
    source=DESIGN,
    layer="run",
    severity=Severity.WARNING,
)
