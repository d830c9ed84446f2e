"""What `synth` says of the files on disk: frozen files that were edited, runs of no job, files of nobody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.findings import Finding, Location, Severity
from trainyard.synth.ledgers import JobKey
from trainyard.synth.runs import Decision
from trainyard.synth.snapshot import GENERATED, Snapshot
from trainyard.synth.tree import Changes, Tree


def strangers(changes: Changes, *, checking: bool) -> Iterator[Finding]:
    """Yield a finding for each file that no synth made; in a check it is an error, whatever its name.

    What is in the tree and in no spec is what nobody reviews: Argo CD applies hidden files like any others (argo-cd
    3.5.1 `reposerver/repository/repository.go`).
    """
    weight = Severity.ERROR if checking else Severity.WARNING
    for path in changes.blocking:
        message = "this is in the way of a folder or file that synth writes; remove it"
        yield _finding("run/in-the-way", path, message)
    for path in changes.foreign:
        message = "no synth made this file and no spec owns it, so it stays; move it elsewhere"
        yield _finding("run/foreign-file", path, message, weight)
    for path in changes.overwrite:
        message = "no synth made this file, but a spec owns its name, so synth replaces it"
        yield _finding("run/foreign-file", path, message, weight)
    for path in changes.leftover if checking else ():
        message = "this is what a killed synth left of a file; remove it, or run `trainyard synth`"
        yield _finding("run/leftover", path, message)


def stale(tree: Tree, changes: Changes, decision: Decision) -> Iterator[Finding]:
    """Yield one finding for each way in which the files on disk are not what they should be."""
    frozen = {f"{each.cluster}/{each.folder}" for each in decision.frozen}
    asked = frozen | {f"{each.cluster}/{each.folder}" for each in decision.fresh}
    others = 0
    unknown: dict[str, str] = {}
    for path in (*changes.write, *changes.remove, *changes.foreign):
        folder = run_folder(path)
        if folder in frozen:
            message = "this file belongs to a frozen run and is not as at the base; restore it with `trainyard synth`"
            yield _finding("run/frozen", path, message)
        elif folder and folder not in asked:
            unknown.setdefault(folder, path)
        elif path in tree.kept:
            message = "this ledger is not as at the base; its entries are never removed or rewritten"
            yield _finding("run/ledger", path, message)
        else:
            others += path not in changes.foreign
    for folder in sorted(unknown):
        name = folder.rpartition("/")[2]
        what = "remove its folder" if unknown[folder] in changes.foreign else "run `trainyard synth`"
        message = f"run {name!r} is asked for by no job; {what}, and write a job for what should run"
        yield _finding("run/unknown", folder, message)
    if others:
        message = f"{others} {'file differs' if others == 1 else 'files differ'} from the specs; run `trainyard synth`"
        yield Finding("run/stale", "run", message, Location(GENERATED))


def hardware_with_runs(base: Snapshot, files: Mapping[str, str], runs: Mapping[JobKey, str]) -> Iterator[Finding]:
    """Yield a finding where one change touches the hardware and the runs of a cluster that was there before.

    `files` has the content ids of the tree, `runs` the names of the runs that jobs have after the change.
    """
    changed = {path for path in {*base.files, *files} if base.files.get(path) != files.get(path)}
    there = {path.partition("/")[0] for path in base.files}
    for cluster in sorted({path.partition("/")[0] for path in changed if path.split("/")[1:2] == ["hardware"]} & there):
        before = {key: entry.name for key, entry in base.active.items() if key[0] == cluster}
        after = {key: name for key, name in runs.items() if key[0] == cluster}
        names = sorted(set(before.values()) ^ set(after.values()))
        if names:
            message = f"one change drains nodes of {cluster!r} and touches its runs ({names[0]}); make it two changes"
            fix = "merge the hardware first, sync it, then the runs"
            yield Finding(
                "run/hardware-with-runs", "run", message, Location(f"{GENERATED}/{cluster}/hardware"), fix=fix
            )


def run_folder(path: str) -> str | None:
    """Return `<cluster>/runs/<team>/<run>` for a file in such a folder and for its index, else None."""
    cluster, *parts = path.split("/")
    if parts[:2] == ["index", "runs"] and len(parts) == 4:
        return "/".join((cluster, *parts[1:])).removesuffix(".json")
    return "/".join((cluster, *parts[:3])) if len(parts) > 3 and parts[0] == "runs" else None


def _finding(rule: str, path: str, message: str, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(rule, "run", message, Location(f"{GENERATED}/{path}".rstrip("/")), severity)
