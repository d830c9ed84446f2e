"""What `generated/` should be: everything rendered, frozen runs as they are at the base, and the ledgers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from trainyard.findings import Finding, Location
from trainyard.synth import in_use, index, ledger, runs
from trainyard.synth.render import Rendered
from trainyard.synth.runs import Decision, Wanted
from trainyard.synth.snapshot import GENERATED, JobKey, Snapshot
from trainyard.synth.tree import Tree


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a repository asks for, in the terms of runs and folders."""

    jobs: Sequence[Wanted]
    folders: Sequence[Rendered]
    """Every folder but those of runs."""
    live: bool
    setting: Location
    """Where `live` stands."""
    version: str
    """The release that renders."""
    locate: Callable[[index.Entry], Location]
    """Where in the specs an entry of an index came from."""


def target(
    inputs: Inputs, base: Snapshot, render: Callable[[Sequence[Wanted]], Iterable[Rendered]]
) -> tuple[Tree, Decision]:
    """Return the tree and what was decided about runs; `render` is asked for the new runs only.

    The decision's findings say what stands in the way; with an error among them nothing may be written.
    """
    decision = runs.decide(inputs.jobs, base, live=inputs.live, setting=inputs.setting)
    if not base.proven:
        verify(decision, base)
    now = {f"{each.cluster}/{each.folder}": each.index for each in inputs.folders}
    decision.findings += in_use.check(base, now, decision.frozen, inputs.locate)
    by_folder = {(each.cluster, each.folder): each for each in decision.fresh}
    texts: dict[str, str] = {}
    entries: dict[JobKey, ledger.Entry] = {}
    for rendered in (*inputs.folders, *render(decision.fresh)):
        texts.update(files_of(rendered))
        each = by_folder.get((rendered.cluster, rendered.folder))
        if each is not None:
            entries[each.key] = ledger.Entry(each.run, each.spec, ledger.digest(rendered.files), inputs.version)
    kept = runs.frozen_files(decision.frozen, base)
    if not base.proven:
        decision.findings += unlike(entries, base)
    for key, ledger_entries in runs.finish(decision, entries).items():
        path = f"{key[0]}/{ledger.place(*key[1:])}"
        if inputs.live and ledger_entries == base.ledgers.get(key):
            kept[path] = base.files[path]
        else:
            texts[path] = ledger.dump(ledger_entries)
    return Tree(texts, kept, base), decision


def files_of(rendered: Rendered) -> dict[str, str]:
    """Return a folder's files and its index, by path below `generated/`."""
    files = {f"{rendered.cluster}/{rendered.folder}/{name}": text for name, text in rendered.files.items()}
    files[f"{rendered.cluster}/{index.place(rendered.folder)}"] = index.dump(rendered.folder, rendered.index)
    return files


def verify(decision: Decision, base: Snapshot) -> None:
    """Without Git, hold the files of frozen runs against their ledger; a run whose files are gone is rendered again."""
    for each in list(decision.frozen):
        files = base.folder(f"{each.cluster}/{each.folder}")
        entry = next(entry for entry in base.ledgers[each.key] if entry.name == each.run)
        contents = zip(files, base.read(list(files.values())), strict=True)
        if not files:
            decision.frozen.remove(each)
            decision.fresh.append(each)
        elif ledger.digest_of_bytes(dict(contents)) != entry.files:
            place = Location(f"{GENERATED}/{each.cluster}/{each.folder}")
            message = f"files of the frozen run {each.run!r} are not those of its ledger; restore them"
            decision.findings.append(Finding("run/frozen", "run", message, place))


def unlike(entries: Mapping[JobKey, ledger.Entry], base: Snapshot) -> Iterable[Finding]:
    """Yield a finding for each run that was rendered again and is not what its ledger remembers."""
    for key, entry in entries.items():
        before = next((each for each in base.ledgers.get(key, ()) if each.name == entry.name), None)
        if before and before.files != entry.files:
            place = Location(f"{GENERATED}/{key[0]}/{runs.folder_of(key[1], entry.name)}")
            message = f"files of the frozen run {entry.name!r} are gone and would come out different now; restore them"
            yield Finding("run/frozen", "run", message, place)
