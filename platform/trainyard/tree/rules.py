"""The rules of the generated tree: what is frozen, what was used up, and what nobody here made."""

from __future__ import annotations

from trainyard.findings import Location, Severity
from trainyard.rules import Rule
from trainyard.system.repository import GENERATED

DESIGN = "docs/architecture.md"


def rule(topic: str, title: str, why: str, fix: str, *, warns: bool = False) -> Rule:
    """Return a rule of the layer `run`; some that are errors in a check are warnings in a synth."""
    return Rule(f"run/{topic}", title, why, fix, DESIGN, layer="run", may_warn=warns)


def place(path: str = "") -> Location:
    """Return the place of a file or folder below `generated/`."""
    return Location(f"{GENERATED}/{path}".rstrip("/"))


FROZEN = rule(
    "frozen",
    "The files of a run that exists at the base are as they are there.",
    "Argo CD would replace a run that has been training for days",
    "restore them with `trainyard synth`",
)
LEDGER = rule(
    "ledger",
    "A ledger keeps every entry that it had.",
    "a name that was used up would come back, and run again what had ended",
    "restore it with `trainyard synth`, or compare with a commit before the damage",
)
LIVE = rule(
    "live",
    "A repository that clusters sync stays live.",
    "without it every run is rendered anew, and so replaced",
    "keep live: true",
)
NAME_USED = rule(
    "name-used",
    "A run's name never comes back.",
    "the job would start again under the name of a run that has ended, and Argo CD could not tell the two apart",
    "raise `run:` to run the same spec again",
)
JOB_GONE = rule(
    "job-gone",
    "The file of a job that runs stays until it is retired.",
    "a file that is deleted or renamed by mistake would stop the run",
    "retire the job in a change of its own first",
)
IN_USE = rule(
    "in-use",
    "What a frozen run refers to stays.",
    "the run would lose its queue, volume or network when it restarts",
    "retire these runs first, or keep it under this name",
)
RUNTIME_CHANGED = rule(
    "runtime-changed",
    "A runtime that a frozen run refers to stays as it is.",
    "Kueue counts a run's pods by what its runtime says now, and stops a run that no longer matches",
    "add the new one under another name, and keep this one until these runs are retired",
)
HARDWARE = rule(
    "hardware-with-runs",
    "Nodes are not drained in the change that touches the runs on them.",
    "runs would start on nodes that are about to be drained",
    "merge the hardware first, sync it, then the runs",
)
STALE = rule(
    "stale",
    "The tree follows from the specs.",
    "what is reviewed and synced is not what the specs say",
    "run `trainyard synth`",
)
UNKNOWN = rule(
    "unknown",
    "Every run in the tree is asked for by a job.",
    "a cluster would start what no spec asks for",
    "remove its folder, or write a job for it",
)
FOREIGN = rule(
    "foreign-file",
    "Every file below generated/ is one that synth wrote.",
    "Argo CD applies it, hidden or not, though no spec was reviewed for it",
    "move the file elsewhere; objects of one's own belong into platform/extra/",
    warns=True,
)
UNSEEN = Rule(
    id="run/unseen",
    title="Git holds of generated/ and of the specs what is on disk, as plain files.",
    why="clusters get what Git holds: a submodule, or a file that attributes translate, is looked at by nobody",
    fix="remove it, and what .gitattributes says of it",
    source="git v2.47 Documentation/{gitattributes,gitsubmodules,git-sparse-checkout}.txt",
    layer="run",
)
LEFTOVER = rule(
    "leftover",
    "A killed synth leaves nothing behind.",
    "half a file could be taken for a whole one",
    "remove it, or run `trainyard synth`",
)
IN_THE_WAY = rule(
    "in-the-way",
    "Nothing stands where synth writes a folder or file.",
    "the tree could not be written whole",
    "remove it",
)
UNPROVEN = Rule(
    id="run/unproven",
    title="What is frozen can be proven.",
    why="a rewritten ledger would not be noticed",
    fix="run the check in a Git repository with its history, and with everything installed",
    source=DESIGN,
    layer="run",
    severity=Severity.WARNING,
)
