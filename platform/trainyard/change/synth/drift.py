"""Findings of `synth` on files on disk: edited frozen files, runs without a job file, foreign files."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.change.synth.runs import Decision
from trainyard.change.synth.write import Changes, Tree
from trainyard.render.tree import layout
from trainyard.render.tree.rules import FOREIGN, FROZEN, IN_THE_WAY, LEDGER, LEFTOVER, STALE, UNKNOWN, place


def strangers(changes: Changes, *, checking: bool) -> Iterator[Finding]:
    """Yield a finding for each file that no synth made; in a check it is an error, whatever its name.

    What is in the tree and in no spec is what nobody reviews: Argo CD applies hidden files like any others (argo-cd
    3.5.1 `reposerver/repository/repository.go`).
    """
    weight = Severity.ERROR if checking else Severity.WARNING
    for path in changes.blocking:
        message = "synth must write a file or folder here; remove this one"
        yield IN_THE_WAY.of(place(path), message)
    for path in changes.foreign:
        message = "synth did not write this file, and no spec produces it; move it elsewhere"
        yield FOREIGN.of(place(path), message, severity=weight)
    for path in changes.overwrite:
        message = "synth did not write this file, but a spec has this file name, so synth replaces it"
        yield FOREIGN.of(place(path), message, severity=weight)
    for path in changes.leftover if checking else ():
        message = "an interrupted synth left this file; remove it, or run `trainyard synth`"
        yield LEFTOVER.of(place(path), message)


def stale(tree: Tree, changes: Changes, decision: Decision) -> Iterator[Finding]:
    """Yield one finding for each way in which the files on disk are not what they should be.

    A run that no job file produces any more is one of many differences that a synth mends: alone, it is named.
    """
    frozen = {f"{entry.cluster}/{entry.folder}" for entry in decision.frozen}
    asked = frozen | {f"{entry.cluster}/{entry.folder}" for entry in decision.fresh}
    gone = set(active(decision)) - asked
    others: list[str] = []
    unknown: dict[str, list[str]] = {}
    for path in (*changes.write, *changes.remove, *changes.foreign):
        folder = layout.run_of(path)
        if folder in frozen:
            message = "this file of a frozen run differs from the base; restore it with `trainyard synth`"
            yield FROZEN.of(place(path), message)
        elif folder in gone:
            continue  # another finding says that its job is gone
        elif folder and folder not in asked:
            unknown.setdefault(folder, []).append(path)
        elif path in tree.kept:
            message = "this ledger lost or changed entries of the base; restore it with `trainyard synth`"
            yield LEDGER.of(place(path), message)
        else:
            others += [path] if path not in changes.foreign else []
    for folder in sorted(unknown):
        name, kept = folder.rpartition("/")[2], any(path in changes.foreign for path in unknown[folder])
        if others and not kept:
            others += unknown[folder]
            continue
        what = "remove its folder" if kept else "run `trainyard synth` to remove it"
        message = f"no job file produces run {name!r}; {what}"
        yield UNKNOWN.of(place(folder), message)
    if len(others) == 1:
        yield STALE.of(place(others[0]), "this file differs from the specs; run `trainyard synth`")
    elif others:
        message = f"{len(others)} files differ from the specs, the first is {min(others)}; run `trainyard synth`"
        yield STALE.of(place(), message)


def active(decision: Decision) -> Iterator[str]:
    """Yield the folders of the runs that the ledgers still name as active."""
    for (cluster, team, _), entries in decision.ledgers.items():
        yield from (f"{cluster}/{layout.run_folder(team, entry.name)}" for entry in entries if entry.state == "active")
