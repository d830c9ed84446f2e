"""Write another release of an operator into a cluster's file, and show what that does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trainyard.faces.cli._options import PLAIN, PYTHON, ROOT, TRUST_CHECKOUT, UNSAFE_PYTHON, clusters
from trainyard.faces.cli._out import data, page, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trainyard.base.findings import Finding, Location
    from trainyard.change.upgrade.compare import Side
    from trainyard.change.upgrade.effects import Upgrade
    from trainyard.change.upgrade.moves import Move
    from trainyard.specs.load import Loaded

EXAMPLES = ("trainyard upgrade atlas kuberay 1.7.0 --dry-run", "trainyard upgrade atlas kueue 0.19.2")


def command(
    cluster: str = typer.Argument(autocompletion=clusters, help="The cluster, as in atlas."),
    operator: str = typer.Argument(help="The operator, as in kueue; or argo-cd."),
    version: str = typer.Argument(metavar="VERSION", help="The new release; trainyard releases lists them."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Write nothing."),
    everything: bool = typer.Option(False, "--all", help="Print everything, however long."),
    format_: str = PLAIN,
    python: bool = PYTHON,  # noqa: ARG001 - its callback does it
    trust_checkout: bool = TRUST_CHECKOUT,  # noqa: ARG001
    unsafe_python: bool = UNSAFE_PYTHON,  # noqa: ARG001
    root: Path = ROOT,
) -> int:
    """Write another release of an operator, and of those that must go along, into the cluster's file.

    Say what changes for its jobs and objects, what restarts, and what cannot be undone. Where operators would not go
    together any more, nothing is written.
    """
    from trainyard.base.errors import SpecError
    from trainyard.base.system import files
    from trainyard.base.system.repository import cluster_file
    from trainyard.change.upgrade import words
    from trainyard.change.upgrade.edits import edited
    from trainyard.change.upgrade.moves import find_moves
    from trainyard.specs.editing.named import cluster_of
    from trainyard.specs.load import read_repository

    loaded = read_repository(root)
    name = cluster_of(cluster, [*loaded.specs.clusters, *names_of_broken(loaded)])
    if name not in loaded.specs.clusters:
        raise SpecError(f"{cluster_file(name)} has errors; fix them first: trainyard check {cluster_file(name)}")
    source = loaded.specs.sources[f"cluster/{name}"]
    moves, wrong = find_moves(loaded.specs.clusters[name], name, source, operator, version)
    if wrong:
        return refused(wrong, root, format_)
    if not moves:
        say(f"cluster {name} runs {operator} {version} already; nothing was written")
        return 0
    texts, places = edited(root, loaded.specs, name, moves)
    found, upgrade = planned(root, loaded, name, moves, texts, places)
    if upgrade is None or any(finding.is_error for finding in found):
        return refused(found, root, format_)
    if not dry_run:
        for path, text in texts.items():
            files.write(root / path, text, like=root / path)
    if format_ == "json":
        from trainyard.faces.report import plan_json

        notes = [as_row(finding) for finding in found]
        data(json.dumps({"dryRun": dry_run, **plan_json.plain(upgrade), "findings": notes}, indent=1))
        return 0
    from trainyard.faces.cli._findings import show

    show(found, root)
    page("\n".join(words.lines(upgrade, everything=everything)))
    tell(upgrade, dry_run=dry_run)
    return 0


def names_of_broken(loaded: Loaded) -> list[str]:
    """Return the names of clusters that have a file which cannot be read."""
    kinds = (key.partition("/") for key in loaded.broken)
    return [name for kind, _, name in kinds if kind == "cluster"]


def tell(upgrade: Upgrade, *, dry_run: bool) -> None:
    """Print the fields that were written, or would be, and what comes next."""
    for written in upgrade.written:
        place = f"{written.file}:{written.line}" if written.line else written.file
        verb = "would write" if dry_run else "wrote"
        say(f"{verb} {place}: {written.operator} {written.before} → {written.after}")
    if not dry_run:
        say("next: trainyard synth, then trainyard plan")


def refused(found: Iterable[Finding], root: Path, format_: str) -> int:
    """Show the findings that forbid an upgrade, and say that nothing was written."""
    from trainyard.faces.cli._draft_findings import nothing
    from trainyard.faces.cli._findings import show

    if format_ == "json":
        data(json.dumps({"refused": True, "findings": [as_row(finding) for finding in found]}, indent=1))
        return 1
    show(found, root)
    return nothing()


def as_row(finding: Finding) -> dict[str, object]:
    """Return a finding as JSON has it here."""
    where = {"file": finding.location.file, "line": finding.location.line}
    return {"severity": finding.severity, "rule": finding.rule, "message": finding.message, "fix": finding.fix, **where}


def planned(
    root: Path,
    loaded: Loaded,
    name: str,
    moves: Sequence[Move],
    texts: Mapping[str, str],
    places: Sequence[Location],
) -> tuple[list[Finding], Upgrade | None]:
    """Return the findings that the upgrade brings, and its effects; None where errors forbid it."""
    from trainyard.change.upgrade.compare import changed_clusters
    from trainyard.change.upgrade.report import report
    from trainyard.change.upgrade.stored import check_stored
    from trainyard.faces.cli import _draft_findings
    from trainyard.faces.drafts.overlay import overlaid
    from trainyard.specs.load import read_repository

    with overlaid(root, texts) as folder:
        after = read_repository(folder)
        new = [item for item in after.findings if item.is_error and item not in loaded.findings]
        reached = changed_clusters(loaded.specs, after.specs)
        if new or name not in after.specs.clusters:
            return new, None
        found = _draft_findings.new_ones(_draft_findings.weigh(root, after), _draft_findings.weigh(root, loaded))
        found += check_stored(root, loaded.specs.sources[f"cluster/{name}"], moves)
        if any(item.is_error for item in found):
            return found, None
        one, two = side(root, loaded, reached), side(root, after, reached, notes=True)
    return found, report(root, name, moves, places, one, two, reached)


def side(root: Path, loaded: Loaded, reached: Sequence[str], *, notes: bool = False) -> Side:
    """Return specs with the verdicts on the jobs of the clusters that are reached.

    With `notes`, it is said which runs count and get no verdict, since a program that was not run makes their jobs.
    """
    from trainyard.change.upgrade.compare import Side
    from trainyard.faces.cli._unrun_programs import verdicts_with_idle
    from trainyard.judge import preflight

    checked = preflight.check(loaded, root, only=reached)
    idle, found = verdicts_with_idle(checked, root, (), reached)
    if notes:
        idle.print_notes()
    return Side(loaded.specs, found)
